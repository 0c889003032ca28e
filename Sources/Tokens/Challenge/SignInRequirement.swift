package import Bytes

/// The result that an API or the provider requires of a sign-in before it accepts its tokens: remembered from its
/// refusals until a person signs in. It holds no token.
package struct SignInRequirement: Sendable, Hashable {
  package var claims: Claims?
  /// Scopes beside the route's.
  package var scopes: ScopeSet
  /// Authentication contexts, most wanted first (RFC 9470).
  package var authenticationContexts: [String]
  /// Seconds for which an earlier sign-in still counts (RFC 9470).
  package var maxAge: Int64?
  /// The time of the last request for it.
  package var since: UnixTime
  /// The mark of the token that was refused then; nil if no token was.
  package var refused: UInt64?

  /// Seconds after which it is forgotten: an API that still requires it asks again.
  package static let lifetime: Int64 = 24 * 3600
  private static let scopeLimit = 64

  package init(
    claims: Claims? = nil, scopes: ScopeSet = .none, authenticationContexts: [String] = [], maxAge: Int64? = nil,
    since: UnixTime
  ) {
    self.claims = claims
    self.scopes = scopes
    self.authenticationContexts = authenticationContexts
    self.maxAge = maxAge
    self.since = since
  }

  /// True if nothing is required.
  package var isEmpty: Bool {
    claims == nil && scopes.isEmpty && authenticationContexts.isEmpty && maxAge == nil
  }

  /// True if it has ended at an instant.
  package func isOver(at now: UnixTime) -> Bool { !(-60..<Self.lifetime).contains(now - since) }

  /// This requirement and a later one: both sets of scopes, claims merged, otherwise the later values.
  package func merged(with later: SignInRequirement) -> SignInRequirement {
    var merged = later
    if let claims { merged.claims = later.claims.map { claims.merged(with: $0) } ?? claims }
    let union = scopes.union(later.scopes)
    merged.scopes = union.words.count <= Self.scopeLimit ? union : later.scopes
    if later.authenticationContexts.isEmpty { merged.authenticationContexts = authenticationContexts }
    merged.maxAge = later.maxAge ?? maxAge
    merged.refused = later.refused ?? refused
    return merged
  }

  /// True if two ask for the same, at whatever time.
  package func asksTheSame(as other: SignInRequirement) -> Bool {
    var copy = other
    (copy.since, copy.refused) = (since, refused)
    return self == copy
  }

  /// True if nothing of this requirement is left once `other` is met.
  package func isCovered(by other: SignInRequirement) -> Bool {
    (since <= other.since ? merged(with: other) : other.merged(with: self)).asksTheSame(as: other)
  }

  /// True if a sign-in with these parameters meets the requirement.
  package func isMet(by sign: SignInRequirement) -> Bool {
    (claims == nil || claims == sign.claims) && scopes.isCovered(by: sign.scopes)
      && authenticationContexts == sign.authenticationContexts && maxAge == sign.maxAge
  }
}

extension SignInRequirement {
  /// The requirement in words for operators: the end of a sentence.
  package var words: String {
    var wishes: [String] = []
    if claims != nil { wishes.append("more proof (claims)") }
    if !scopes.isEmpty { wishes.append("the scopes \(scopes)") }
    if !authenticationContexts.isEmpty {
      wishes.append("another way to authenticate (\(authenticationContexts.joined(separator: " ")))")
    }
    if let maxAge { wishes.append("a sign-in not older than \(maxAge) s") }
    return wishes.joined(separator: ", ")
  }

  /// Reads a JSON object; nil if it is not a requirement.
  package init?(_ value: JSONValue) {
    guard let members = value.members, let since = members["since"]?.seconds,
      let scopes = ScopeSet(ifValid: members["scopes"]?.texts ?? [])
    else { return nil }
    self.init(
      scopes: scopes, authenticationContexts: members["acr_values"]?.texts ?? [], maxAge: members["max_age"]?.seconds,
      since: UnixTime(since))
    refused = members["refused"]?.text.flatMap { UInt64($0, radix: 16) }
    guard let text = members["claims"]?.text else { return }
    claims = Claims(ifValid: text)
    if claims == nil { return nil }
  }

  package var json: JSONValue {
    JSONValue([
      "since": since, "claims": claims?.text, "scopes": scopes.words.nonEmpty,
      "acr_values": authenticationContexts.nonEmpty, "max_age": maxAge,
      "refused": refused.map { String($0, radix: 16) },
    ])
  }
}

extension SignInRequirement {
  /// True if a token shows that a sign-in has met the requirement: a sign-in by any program leaves one in the cache.
  ///
  /// It does if it is not older than the requirement and not the refused one, covers the scopes, and its claims (`acr`,
  /// `auth_time`, `acrs`, `nbf`) meet the rest. If only the API can read its claims, a token that another program left
  /// in the cache counts as a sign-in's; if that is wrong, the API refuses again.
  /// - Parameter isAnothers: true if another program obtained it.
  package func isBrought(by token: Secret, scopes: ScopeSet, obtainedAt: UnixTime, isAnothers: Bool) -> Bool {
    guard obtainedAt >= since, refused.map({ $0 != Self.mark(of: token) }) ?? true, self.scopes.isCovered(by: scopes)
    else { return false }
    // They are not verified: they only decide whether a requirement is forgotten.
    let said = [String: JSONValue](claimsOf: token.revealed())
    var verdicts: [Bool?] = []
    if !authenticationContexts.isEmpty {
      verdicts.append(said["acr"]?.text.map { context in authenticationContexts.contains(context) })
    }
    if let maxAge {
      verdicts.append(said["auth_time"]?.seconds.map { obtainedAt - UnixTime($0) <= maxAge + Self.leeway })
    }
    if let claims { verdicts.append(Self.meets(claims, said)) }
    return verdicts.allSatisfy { $0 ?? isAnothers }
  }

  /// A mark that differs between tokens and reveals nothing else.
  package static func mark(of token: Secret) -> UInt64 { token.revealed().fnv1a }

  /// Seconds that two clocks may differ.
  private static let leeway: Int64 = 120

  /// True if a token has the claims that are asked for; nil if it does not tell.
  private static func meets(_ claims: Claims, _ said: [String: JSONValue]) -> Bool? {
    let wanted = JSONValue(json: Array(claims.text.utf8))?.members?["access_token"]?.members ?? [:]
    var verdict: Bool?
    if let contexts = wanted["acrs"]?.members, let held = said["acrs"] {
      let names = (contexts["values"] ?? contexts["value"]).map { words($0) } ?? []
      verdict = !names.isEmpty && !Set(names).isDisjoint(with: words(held))
    }
    if let start = wanted["nbf"]?.members?["value"]?.seconds, let issued = (said["iat"] ?? said["nbf"])?.seconds {
      verdict = (verdict ?? true) && issued >= start
    }
    return verdict
  }

  private static func words(_ value: JSONValue) -> [String] {
    value.text.map { [$0] } ?? value.texts
  }
}
