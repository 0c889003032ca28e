// Owns which scope sets an application may ask for on its own behalf, per kind of provider.

/// Why a scope set cannot be asked for with client credentials.
public enum ScopeRuleError: Error, Sendable, Hashable {
  /// Entra wants exactly one scope and got none, or several: one access token serves one resource.
  case notOneScope(count: Int)
  /// Entra wants `<resource>/.default` (AADSTS1002012).
  case notDefault(String)
  /// The authority is `common`, `organizations` or `consumers`: no tenant there knows the application.
  case tenantNotSpecific
}

/// What a provider lets an application ask for on its own behalf.
package enum ScopeRule: Sendable, Hashable {
  /// One scope, `<resource>/.default`. The resource may itself end in a slash.
  case oneResourceDefault
  /// Whatever RFC 6749 lets be asked, nothing included.
  case any
}

extension Authority {
  /// Refuses what the provider would refuse: call it when the configuration is read.
  package func checkForApplication(_ scopes: ScopeSet) throws(ScopeRuleError) {
    if case .entra(let tenant, _) = kind, !tenant.servesApplications { throw .tenantNotSpecific }
    guard scopeRule == .oneResourceDefault else { return }
    guard scopes.words.count == 1 else { throw .notOneScope(count: scopes.words.count) }
    let scope = scopes.words[0]
    guard scope.hasSuffix("/.default"), scope.utf8.count > "/.default".utf8.count else { throw .notDefault(scope) }
  }
}
