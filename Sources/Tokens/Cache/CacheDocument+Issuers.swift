// The entries of an issuer that may share its host with others: those marked with its name (`ext_cache_key`), those of
// msal that are provably its own, and the copies by which its entries outlive msal's.

internal import Bytes
internal import HTTP

extension CacheDocument {
  /// The refresh tokens of a person that may be redeemed at the issuer of a query, in no order.
  func issuedRefreshTokens(_ query: CacheQuery, issuer: String) -> [HeldRefreshToken] {
    let held = refreshTokenEntries(query)
    let plain = plainTokens(held, query).tokens(of: issuer)
    let marked = held.filter { token in
      guard token.isolation == issuer, let source = token.copiedFrom else { return token.isolation == issuer }
      // If the original is gone, its library signed the person out. If it is there, it is newer than the copy, or the
      // same.
      guard let original = entry(.refreshToken, source) else { return false }
      return original.fields[.isolation] != issuer && !plain.contains { $0.key == source }
    }
    return marked + plain
  }

  /// True if a person is signed in to an application at the issuer of a query.
  func isSignedIn(_ query: CacheQuery, issuer: String) -> Bool {
    let sections = [CacheSection.refreshToken, .idToken, .accessToken]
    let marked = sections.flatMap { section in
      keys(section, clientID: query.clientID, homeAccountID: query.homeAccountID)
        .compactMap { entry(section, $0)?.fields }.filter { $0[.isolation] == issuer }
    }
    let own = issuer.lowercased()
    // Earlier versions stored the account, and their marked entries, under the host.
    if marked.contains(where: { $0.lowercased(.environment) != own }) { return true }
    if !marked.isEmpty, !ownAccounts(query.homeAccountID, issuer: issuer).isEmpty { return true }
    return plainProofs(query).contains { $0.issuer == issuer }
  }

  /// The accounts from an issuer's sign-ins, without copies whose originals are gone.
  func ownAccounts(_ home: String?, issuer: String) -> [CacheFields] {
    keys(.account, clientID: "", homeAccountID: home).sorted().compactMap { entry(.account, $0)?.fields }
      .filter { $0[.isolation] == issuer && isStanding($0) }
  }

  private func isStanding(_ fields: CacheFields) -> Bool {
    fields[.copiedFrom].map { entry(.refreshToken, $0) != nil } ?? true
  }

  /// The identity in the newest ID token of an issuer: one of its own, or an unmarked one that names it.
  func identity(_ query: CacheQuery, issuer: String) -> AccountIdentity? {
    identities(query).filter { $0.isolation == issuer || ($0.isolation == nil && $0.issuer == issuer) }
      .max { $0.issuedAt < $1.issuedAt }?.identity
  }

  /// Marks a refresh token that another library, or an earlier version, stored under the host, and stores a copy under
  /// the issuer: the next sign-in at another issuer replaces the first. Call it once the issuer has accepted the token,
  /// and `rotate`.
  package mutating func adopt(_ redeemed: HeldRefreshToken, of issued: IssuedTokens) {
    guard let issuer = issued.isolation, let home = issued.home,
      redeemed.environment != issued.environment.lowercased(), var source = entry(.refreshToken, redeemed.key)
    else { return }
    // A person who signed in meanwhile may have done so at another issuer.
    let token = issued.reply.refreshToken ?? redeemed.secret
    if source.holds(token) {
      source.members["ext_cache_key"] = .string(issuer)
      set(.refreshToken, redeemed.key, source)
    }
    let marks: [String: JSONValue] = [
      "environment": .string(issued.environment), "ext_cache_key": .string(issuer),
      "copied_from": .string(redeemed.key),
    ]
    copy(
      CacheEntry(secret: token, members: source.members.merging(marks) { $1 }), to: .refreshToken,
      issued.key(of: .refreshToken, target: source["target"] ?? ""))
    let identity = identity(
      CacheQuery(
        environments: [issued.environment, redeemed.environment], realm: nil, clientID: issued.clientID,
        homeAccountID: home, isolation: issuer), issuer: issuer)
    let known = keys(.account, clientID: "", homeAccountID: home).sorted().compactMap { entry(.account, $0) }
      .first { $0["environment"]?.lowercased() == redeemed.environment }
    var members = Self.account(issued, home: home, identity: identity)
    if identity?.username == nil, let name = known?["username"] { members["username"] = .string(name) }
    copy(CacheEntry(members: members.merging(marks) { $1 }), to: .account, issued.key(of: .account))
  }

  /// Stores a copy unless the issuer has an entry of its own there.
  private mutating func copy(_ copy: CacheEntry, to section: CacheSection, _ key: String) {
    if let old = entry(section, key), old["copied_from"] == nil { return }
    set(section, key, copy)
  }

  // MARK: Unmarked entries

  /// The issuers of unmarked refresh tokens.
  private func plainTokens(_ held: [HeldRefreshToken], _ query: CacheQuery) -> PlainTokenRule {
    PlainTokenRule(proofs: plainProofs(query), tokens: held.filter { $0.isolation == nil })
  }

  private func plainProofs(_ query: CacheQuery) -> [PlainTokenRule.Proof] {
    identities(query).compactMap { held in
      guard held.isolation == nil, let issuer = held.issuer else { return nil }
      return PlainTokenRule.Proof(issuer: issuer, issuedAt: held.issuedAt)
    }
  }

  private struct HeldIdentity {
    var identity: AccountIdentity
    var isolation: String?
    /// In the spelling of `Authority.isolation`.
    var issuer: String?
    var issuedAt: UnixTime { identity.issuedAt ?? UnixTime(0) }
  }

  /// The identities in the ID tokens of a person and an application.
  private func identities(_ query: CacheQuery) -> [HeldIdentity] {
    keys(.idToken, clientID: query.clientID, homeAccountID: query.homeAccountID).sorted().compactMap { key in
      guard let held = entry(.idToken, key) else { return nil }
      let fields = held.fields
      guard query.environments.contains(fields.lowercased(.environment) ?? "") else { return nil }
      let identity = AccountIdentity(clientInfo: nil, idToken: held.secret?.revealed())
      return HeldIdentity(
        identity: identity, isolation: fields[.isolation], issuer: identity.issuer.flatMap(Self.issuerName))
    }
  }

  /// An issuer in the spelling of `Authority.isolation`; nil if the text is no URL.
  static func issuerName(_ text: String) -> String? { HTTPURL(ifValid: text)?.normal }
}
