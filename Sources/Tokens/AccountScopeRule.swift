// Owns which scope sets a route may ask for on a person's behalf. What an application may ask for itself is `ScopeRule`'s.

/// Why a scope set cannot be asked for in a person's name.
public enum AccountScopeError: Error, Sendable, Hashable {
  /// One of `ScopeSet.reserved`: it describes the sign-in, is asked for with every one, and is no API's.
  case reserved(String)
  /// `<resource>/.default` beside others: Entra takes it alone (AADSTS70011).
  case defaultNotAlone(String)
  /// Scopes of several APIs: one access token is for one.
  case severalResources(String, String)
  /// None at all, where the provider then gives a token for nothing in particular.
  case none
}

extension Authority {
  /// Refuses what the provider would refuse, or answer with a token for something else: call it when the configuration is
  /// read.
  public func checkForAccount(_ scopes: ScopeSet) throws(AccountScopeError) {
    if let reserved = scopes.firstReserved { throw .reserved(reserved) }
    guard scopeRule == .oneResourceDefault else { return }
    if scopes.isEmpty { throw .none }
    if scopes.words.count > 1, let all = scopes.words.first(where: { $0.hasSuffix("/.default") }) {
      throw .defaultNotAlone(all)
    }
    // A bare word is the default resource's, and an API's own scope may contain a slash: only hosts tell APIs apart for sure.
    let hosts = scopes.words.compactMap { Self.host(of: $0) }
    if let other = hosts.first(where: { $0 != hosts[0] }) { throw .severalResources(hosts[0], other) }
  }

  /// `https://host` or `api://name` of a scope that begins with one.
  private static func host(of scope: String) -> String? {
    let parts = scope.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty else { return nil }
    return parts[0...2].joined(separator: "/").lowercased()
  }
}
