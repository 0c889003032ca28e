// Owns what one tenant of the demonstration's directory knows: its people, its applications, the APIs they may call.

/// A tenant, and everything registered in it.
package struct Tenant: Sendable {
  /// The tenant's GUID: `tid`, and the path of its issuer.
  package var identifier: String
  /// The name shown on pages and in error messages.
  package var displayName: String
  /// Verified domains, which stand for the GUID in a request's path.
  package var domains: [String]
  /// Applications that may ask for tokens.
  package var applications: [RegisteredApplication]
  /// APIs that tokens can be for.
  package var apis: [RegisteredAPI]
  /// People at home here.
  package var users: [RegisteredUser]
  /// People from elsewhere: their `oid` here by their `oid` at home.
  package var guests: [String: String]

  /// A tenant.
  package init(
    identifier: String, displayName: String, domains: [String], applications: [RegisteredApplication],
    apis: [RegisteredAPI], users: [RegisteredUser] = [], guests: [String: String] = [:]
  ) {
    self.identifier = identifier
    self.displayName = displayName
    self.domains = domains
    self.applications = applications
    self.apis = apis
    self.users = users
    self.guests = guests
  }

  /// The application with this client identifier, letter case aside.
  func application(_ clientIdentifier: String) -> RegisteredApplication? {
    applications.first { $0.clientIdentifier == clientIdentifier.lowercased() }
  }

  /// The API that `resource` means: its identifier URI, with or without a slash at the end, or its client identifier.
  func api(_ resource: String) -> RegisteredAPI? {
    let name = resource.hasSuffix("/") ? String(resource.dropLast()) : resource
    return apis.first { $0.identifierURI == name || $0.clientIdentifier == name.lowercased() }
  }
}
