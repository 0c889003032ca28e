// Owns which scope sets a route may ask for on a person's behalf. What an application may ask for itself is
// `ScopeRule`'s.

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
  /// Refuses what the provider would refuse, or answer with a token for something else: call it when the configuration
  /// is read.
  package func checkForAccount(_ scopes: ScopeSet) throws(AccountScopeError) {
    if let reserved = scopes.firstReserved { throw .reserved(reserved) }
    guard scopeRule == .oneResourceDefault else { return }
    if scopes.isEmpty { throw .none }
    if scopes.words.count > 1, let all = scopes.words.first(where: { $0.hasSuffix("/.default") }) {
      throw .defaultNotAlone(all)
    }
    let resources = scopes.words.compactMap { resource(of: $0) }
    if let other = resources.first(where: { $0 != resources[0] }) { throw .severalResources(resources[0], other) }
  }

  /// What tells the API of a scope from others for sure; nil where nothing does. An API's own scope may contain a
  /// slash, so of a URL it is `https://host` or `api://name`.
  private func resource(of scope: String) -> String? {
    let parts = scope.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    if parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty {
      let resource = parts[0...2].joined(separator: "/")
      let name = String(parts[2])
      return Self.graphNames.contains(name) ? Self.graph : parts[0] == "api:" && name.isGUID ? name : resource
    }
    let first = String(parts[0])
    if first.isGUID { return Self.graphNames.contains(first) ? Self.graph : first }
    // Without a slash: Microsoft Graph's, where the provider has such a default. `email` describes the person, as the
    // reserved ones do.
    guard parts.count == 1, hasGraph, first != "email" else { return nil }
    return Self.graph
  }

  private var hasGraph: Bool {
    switch kind {
    case .entra, .ciam: true
    case .adfs, .b2c, .issuer: false
    }
  }

  private static let graph = "https://graph.microsoft.com"

  /// Microsoft Graph's hosts in all clouds, and its id.
  private static let graphNames: Set<String> = [
    "graph.microsoft.com", "canary.graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us",
    "microsoftgraph.chinacloudapi.cn", "00000003-0000-0000-c000-000000000000",
  ]
}
