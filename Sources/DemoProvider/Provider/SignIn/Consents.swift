// Owns what people have consented to, per tenant, application and API.

/// Consents given and remembered.
struct Consents {
  /// Who gave it, to which application, where.
  struct Party: Hashable {
    /// The user's `oid` at home.
    var person: String
    /// The application's `client_id`.
    var client: String
    /// The tenant signed in to.
    var tenant: String
  }

  private var granted: [Party: [String: Set<String>]] = [:]

  /// The scope names of an API that `party` consented to.
  func names(_ api: String, _ party: Party) -> Set<String> { granted[party]?[api] ?? [] }

  /// What of `asked` was not consented to: API client identifiers with scope names, the account's own words first.
  func missing(_ asked: RequestedScopes, _ party: Party, in tenant: Tenant) -> [(api: RegisteredAPI, names: [String])] {
    var missing: [(api: RegisteredAPI, names: [String])] = []
    let own = asked.openID.filter { !names(RequestedScopes.openID.clientIdentifier, party).contains($0) }
    if !own.isEmpty { missing.append((RequestedScopes.openID, own)) }
    for resource in asked.resources {
      guard let api = tenant.api(resource.api) else { continue }
      let held = names(resource.api, party)
      var wanted = resource.names
      if resource.isDefault, held.isEmpty { wanted = api.scopes.map(\.name) }
      let lacking = wanted.filter { !held.contains($0) }
      if !lacking.isEmpty { missing.append((api, lacking)) }
    }
    return missing
  }

  /// Everything that `asked` names, whether it was consented to before or not.
  static func all(_ asked: RequestedScopes, in tenant: Tenant) -> [(api: RegisteredAPI, names: [String])] {
    Consents().missing(asked, Party(person: "", client: "", tenant: ""), in: tenant)
  }

  /// Remembers a consent.
  mutating func grant(_ scopes: [(api: RegisteredAPI, names: [String])], _ party: Party) {
    for (api, names) in scopes { granted[party, default: [:]][api.clientIdentifier, default: []].formUnion(names) }
  }

  /// Forgets everything that a person consented to.
  mutating func withdraw(person: String) {
    granted = granted.filter { $0.key.person != person }
  }
}
