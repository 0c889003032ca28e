// Owns when a token shows that somebody has brought what was needed: a sign-in by any program leaves one in the cache.

public import Bytes

extension SignInNeed {
  /// Whether a token brings what is needed.
  ///
  /// It arrived after the need was heard of and is for the scopes. What it says of the rest decides (`acr`,
  /// `auth_time`, `acrs`, `nbf`); where it says nothing, because nobody but the API can read it, one that another
  /// program left in the cache is taken for a sign-in's. If it is none, the next refusal says so.
  /// - Parameter isAnothers: whether another program obtained it.
  public func isBrought(by token: Secret, scopes: ScopeSet, obtainedAt: UnixTime, isAnothers: Bool) -> Bool {
    guard obtainedAt > since, self.scopes.isCovered(by: scopes) else { return false }
    let said = Self.claims(of: token)
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

  /// Seconds that two clocks may differ.
  private static let leeway: Int64 = 120

  /// Whether a token has what claims ask of it; nil where it does not say.
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
    if case .array(let values) = value { return values.compactMap(\.text) }
    return value.text.map { [$0] } ?? []
  }

  /// The claims of a token that is a JWT; none of another. Nothing is believed that they say, but that a need may be
  /// forgotten.
  private static func claims(of token: Secret) -> [String: JSONValue] {
    let parts = token.revealed().split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [:] }
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(parts[1].prefix { $0 != "=" }))?.members ?? [:]
    } catch {
      return [:]
    }
  }
}
