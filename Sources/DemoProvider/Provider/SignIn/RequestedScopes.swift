// Owns what the words of a `scope` parameter mean in a tenant: OpenID Connect's own words, and delegated scopes per
// API.

internal import Tokens

/// Delegated scopes that were asked for.
struct RequestedScopes: Hashable {
  /// The scopes of one API, in the order asked for.
  struct Resource: Hashable {
    /// The API's client identifier.
    var api: String
    /// The API as it was named, for the answer's `scope`.
    var prefix: String
    /// Scope names, spelled as registered.
    var names: [String]
    /// Whether `.default` was among them: everything that was consented to, or can be.
    var isDefault = false
  }

  /// OpenID Connect's words, shown on the consent page like an API's scopes.
  static let openID = RegisteredAPI(
    clientIdentifier: "openid", identifierURI: "openid", displayName: "Your account",
    scopes: [
      RegisteredAPI.Scope("openid", "Sign you in"),
      RegisteredAPI.Scope("profile", "See your name and user name"),
      RegisteredAPI.Scope("email", "See your e-mail address"),
      RegisteredAPI.Scope("offline_access", "Keep the access you give while you are away"),
    ])

  /// OpenID Connect's words among them.
  var openID: [String] = []
  /// The APIs, in order of their first mention.
  var resources: [Resource] = []

  /// What `words` ask for in `tenant`.
  init(_ words: [String], in tenant: Tenant) throws(ProviderError) {
    for word in words {
      if let own = Self.openID.scope(word) {
        if !openID.contains(own.name) { openID.append(own.name) }
        continue
      }
      guard let slash = word.lastIndex(of: "/") else { throw .invalidScope(word) }
      let (prefix, name) = (String(word[..<slash]), String(word[word.index(after: slash)...]))
      guard let api = tenant.api(prefix) else { throw .unknownResource(prefix, tenant: tenant.displayName) }
      let index = place(of: api, prefix)
      if name == ".default" {
        resources[index].isDefault = true
      } else {
        guard let scope = api.scope(name) else { throw .invalidScope(word) }
        if !resources[index].names.contains(scope.name) { resources[index].names.append(scope.name) }
      }
    }
  }

  private mutating func place(of api: RegisteredAPI, _ prefix: String) -> Int {
    if let known = resources.firstIndex(where: { $0.api == api.clientIdentifier }) { return known }
    resources.append(Resource(api: api.clientIdentifier, prefix: prefix, names: []))
    return resources.count - 1
  }
}
