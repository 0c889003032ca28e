// Owns which scopes a refresh request names (RFC 6749 §6), and in which order refresh tokens are tried for them.

extension HeldRefreshToken {
  /// The scope sets to ask for with this token, in order; at least one. An empty set names no scope: the whole grant.
  ///
  /// Microsoft's refresh tokens serve every scope that was consented to, so the request is the one that every MSAL
  /// sends. At every other provider a scope outside the grant may be refused, the reserved ones included.
  package func scopesToRequest(_ wanted: ScopeSet, at authority: Authority) -> [ScopeSet] {
    guard authority.isStrictAboutScopes else { return [wanted.decorated] }
    if wanted.isEmpty { return [.none] }
    guard let granted else {
      // Written by a library that does not say what was granted. Each of them asks for the reserved scopes too.
      return [wanted.decorated, wanted]
    }
    return [wanted.union(granted.reserved)]
  }

  /// The tokens in the order in which to try them for a scope set: those whose grant covers it, those whose grant is
  /// not known, the rest. Within each kind the order stays.
  package static func ordered(_ tokens: [HeldRefreshToken], for wanted: ScopeSet) -> [HeldRefreshToken] {
    let covering = tokens.filter { $0.covers(wanted) == true }
    let unknown = tokens.filter { $0.covers(wanted) == nil }
    return covering + unknown + tokens.filter { $0.covers(wanted) == false }
  }

  private func covers(_ wanted: ScopeSet) -> Bool? { granted.map { wanted.isCovered(by: $0) } }
}

extension Authority {
  /// Whether a refresh token may be refused for a scope that its sign-in was not for (RFC 6749 §6).
  package var isStrictAboutScopes: Bool { kind == .issuer }
}
