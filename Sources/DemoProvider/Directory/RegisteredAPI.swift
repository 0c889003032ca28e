// Owns one API registration: the names by which scopes and audiences mean it, and the delegated scopes it offers.

/// An API that tokens can be for.
package struct RegisteredAPI: Sendable {
  /// A permission that a user can give to an application.
  package struct Scope: Sendable, Hashable {
    /// The word in `scp`, such as `Orders.Read`.
    package var name: String
    /// What the consent page says about it.
    package var description: String

    /// A scope.
    package init(_ name: String, _ description: String) {
      self.name = name
      self.description = description
    }
  }

  /// The API's own client identifier, a GUID: the audience of its tokens.
  package var clientIdentifier: String
  /// The name that scopes begin with, such as `api://orders`, without a slash at the end.
  package var identifierURI: String
  /// The name that the consent page shows.
  package var displayName: String
  /// The scopes that users can consent to.
  package var scopes: [Scope]

  /// An API.
  package init(clientIdentifier: String, identifierURI: String, displayName: String, scopes: [Scope]) {
    self.clientIdentifier = clientIdentifier
    self.identifierURI = identifierURI
    self.displayName = displayName
    self.scopes = scopes
  }

  /// The scope of this name, letter case aside.
  func scope(_ name: String) -> Scope? { scopes.first { $0.name.lowercased() == name.lowercased() } }
}
