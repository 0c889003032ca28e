package import Bytes

extension CacheDocument {
  /// Stores a reply. New members replace those of an entry with the same key; its other members stay.
  ///
  /// A change that a store repeats may come late. Tokens that others have stored since the reply's arrival stay.
  /// - Parameters:
  ///   - now: the time of the reply.
  ///   - current: the time of this call; nil: the same. What is dated later is from a clock that is ahead.
  /// - Returns: false if nothing is stored: if a person's reply does not name the person, other libraries would serve
  ///   its tokens to the application itself; and tokens renewed for a person who signed out meanwhile are not stored.
  @discardableResult
  package mutating func add(_ issued: IssuedTokens, now: UnixTime, at current: UnixTime? = nil) -> Bool {
    let later = now.seconds + 1..<max(now, current ?? now).seconds + 1
    if !issued.isApplicationOnly {
      guard let home = issued.home, issued.isSignIn || isSignedIn(home, issued) else { return false }
    }
    if issued.isPlain { addAccessToken(issued, now: now, unless: later) }
    addIDToken(issued)
    if issued.isSignIn { addAccount(issued) }
    addRefreshToken(issued, now: now, unless: later)
    addAppMetadata(issued)
    return true
  }

  private func isSignedIn(_ home: String, _ issued: IssuedTokens) -> Bool {
    if let issuer = issued.isolation {
      return isSignedIn(
        CacheQuery(
          environments: issued.environments, realm: nil, clientID: issued.clientID, homeAccountID: home,
          isolation: issuer), issuer: issuer)
    }
    return keys(.account, clientID: "", homeAccountID: home).contains { key in
      EntraCloud.areAliases(entry(.account, key)?["environment"]?.lowercased() ?? "", issued.environment)
    }
  }

  private mutating func addAccessToken(_ issued: IssuedTokens, now: UnixTime, unless later: Range<Int64>) {
    let reply = issued.reply
    // It has ended before it could be stored.
    if !later.isEmpty, now.seconds + reply.expiresIn < later.upperBound { return }
    let extended = max(reply.extendedExpiresIn ?? reply.expiresIn, reply.expiresIn)
    var members = Self.common(issued, .accessToken)
    members["target"] = .string(issued.target)
    members["realm"] = .string(issued.realm)
    members["token_type"] = .string(reply.tokenType)
    members["cached_at"] = .time(now)
    members["expires_on"] = .time(now + reply.expiresIn)
    members["extended_expires_on"] = .time(now + extended)
    members["refresh_on"] = reply.refreshIn.map { .time(now + $0) }
    let key = issued.key(of: .accessToken, target: issued.target)
    let replaced = intersecting(issued, except: key)
    if (replaced + [key]).contains(where: { isHeld($0, dated: later) }) { return }
    for other in replaced { remove(.accessToken, other) }
    // A hint from an older token does not apply to this one.
    if var old = entry(.accessToken, key) {
      old.members["refresh_on"] = nil
      set(.accessToken, key, old)
    }
    put(.accessToken, key, CacheEntry(secret: reply.accessToken, members: members))
  }

  /// True if an access token is dated within these seconds, and has not ended by the last of them.
  private func isHeld(_ key: String, dated later: Range<Int64>) -> Bool {
    guard let entry = entry(.accessToken, key), entry.isDated(later),
      let token = HeldAccessToken(key: key, entry: entry)
    else { return false }
    return token.lifetime(jitter: 0).freshness(at: UnixTime(later.upperBound - 1)) != .expired
  }

  /// The access tokens that a new one replaces: MSAL for .NET fails on two of one owner that both have the requested
  /// scopes. Scopes that only describe the person do not count: every resource's token may carry them.
  private func intersecting(_ issued: IssuedTokens, except key: String) -> [String] {
    let described: Set<String> = ["openid", "profile", "offline_access", "email"]
    let new = Set(issued.target.lowercased().split(separator: " ").map(String.init)).subtracting(described)
    return keys(.accessToken, clientID: issued.clientID, homeAccountID: issued.home).filter { other in
      guard other != key, let held = HeldAccessToken(key: other, entry: entry(.accessToken, other)) else {
        return false
      }
      return held.realm == issued.realm && held.isolation == issued.isolation && held.isPlainBearer
        && (issued.isolation != nil || EntraCloud.areAliases(held.environment, issued.environment))
        && !new.isDisjoint(with: held.scopes.map { $0.lowercased() })
    }
  }

  private mutating func addIDToken(_ issued: IssuedTokens) {
    guard let token = issued.reply.idToken else { return }
    var members = Self.common(issued, .idToken)
    members["realm"] = .string(issued.realm)
    put(.idToken, issued.key(of: .idToken), CacheEntry(secret: token, members: members))
  }

  private mutating func addAccount(_ issued: IssuedTokens) {
    guard let home = issued.home else { return }
    var members = Self.account(issued, home: home, identity: issued.reply.identity)
    if Self.accountSources.contains(issued.grantType) { members["account_source"] = .string(issued.grantType) }
    put(.account, issued.key(of: .account), CacheEntry(members: members))
  }

  /// The members of a person's account.
  static func account(_ issued: IssuedTokens, home: String, identity: AccountIdentity?) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "home_account_id": .string(home), "environment": .string(issued.environment), "realm": .string(issued.realm),
      "local_account_id": identity?.localAccountID.map(JSONValue.string) ?? .null,
      "username": .string(identity?.username ?? issued.usernameHint ?? ""),
      "authority_type": .string(issued.authority.rawValue),
    ]
    guard let issuer = issued.isolation else { return members }
    members["ext_cache_key"] = .string(issuer)
    members["name"] = identity?.displayName.map(JSONValue.string)
    return members
  }

  /// Grants by which a person signs in here. Assertions are about a person who signed in elsewhere.
  private static let accountSources: Set<String> = [
    "authorization_code", "password", "urn:ietf:params:oauth:grant-type:device_code",
  ]

  private mutating func addRefreshToken(_ issued: IssuedTokens, now: UnixTime, unless later: Range<Int64>) {
    guard let token = issued.reply.refreshToken, issued.isSignIn, !issued.isApplicationOnly else { return }
    var members = Self.common(issued, .refreshToken)
    members["target"] = .string(issued.refreshTarget)
    members["last_modification_time"] = .time(now)
    members["family_id"] = issued.reply.familyID.map(JSONValue.string)
    let key = issued.key(of: .refreshToken, target: issued.refreshTarget)
    // It may be the successor of this one, which was redeemed then.
    if entry(.refreshToken, key)?.isDated(later) == true { return }
    put(.refreshToken, key, CacheEntry(secret: token, members: members))
  }

  private mutating func addAppMetadata(_ issued: IssuedTokens) {
    var members: [String: JSONValue] = [
      "client_id": .string(issued.clientID), "environment": .string(issued.environment),
    ]
    members["family_id"] = issued.reply.familyID.map(JSONValue.string)
    put(.appMetadata, issued.key(of: .appMetadata), CacheEntry(members: members))
  }

  private mutating func put(_ section: CacheSection, _ key: String, _ new: CacheEntry) {
    var merged = entry(section, key) ?? new
    merged.merge(new)
    // The tokens of a sign-in are no longer a copy.
    if merged["copied_from"] != nil { merged.members["copied_from"] = new.members["copied_from"] }
    set(section, key, merged)
  }

  private static func common(_ issued: IssuedTokens, _ section: CacheSection) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "credential_type": .string(section.rawValue), "home_account_id": issued.home.map(JSONValue.string) ?? .null,
      "environment": .string(issued.environment), "client_id": .string(issued.clientID),
    ]
    members["ext_cache_key"] = issued.isolation.map(JSONValue.string)
    return members
  }
}

extension JSONValue {
  /// An instant in the cache's form: seconds in a string. MSAL for Go refuses numbers and null.
  static func time(_ time: UnixTime) -> JSONValue { .string("\(time.seconds)") }
}

extension CacheDocument {
  /// Replaces a redeemed refresh token under the key at which it was found, and under every other key that has the same
  /// one.
  ///
  /// An entry that now has another token was rotated by another process. It stays as it is unless its date is before
  /// this token's arrival. An entry that is gone was signed out, and stays gone.
  /// - Parameters:
  ///   - obtainedAt: the arrival of the reply, which may be long before it is stored.
  ///   - issuer: its issuer, if several may share a host. An entry that names no issuer, or another one, may be from a
  ///     sign-in elsewhere.
  package mutating func rotate(
    _ redeemed: HeldRefreshToken, to token: Secret, obtainedAt: UnixTime, of issuer: String? = nil
  ) {
    for (key, entry) in self[.refreshToken] where key == redeemed.key || entry.holds(redeemed.secret) {
      guard let held = HeldRefreshToken(key: key, entry: entry) else { continue }
      let isOlder =
        held.modifiedAt > UnixTime(0) && held.modifiedAt < obtainedAt
        && (issuer == nil || held.isolation == issuer)
      guard held.secret == redeemed.secret || (key == redeemed.key && isOlder) else { continue }
      var rotated = entry
      rotated.secret = token
      rotated.members["last_modification_time"] = .time(max(held.modifiedAt, obtainedAt))
      set(.refreshToken, key, rotated)
    }
  }

  /// Drops every copy of a refresh token that the provider condemned (`bad_token`), but no successor.
  package mutating func drop(_ condemned: HeldRefreshToken) {
    for (key, entry) in self[.refreshToken] where entry.holds(condemned.secret) { remove(.refreshToken, key) }
  }
}
