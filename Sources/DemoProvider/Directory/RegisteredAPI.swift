// Owns one API registration: the names by which scopes and audiences mean it.

/// An API that tokens can be for.
public struct RegisteredAPI: Sendable {
  /// The API's own client identifier, a GUID: the audience of its tokens.
  public var clientIdentifier: String
  /// The name that scopes begin with, such as `api://orders`, without a slash at the end.
  public var identifierURI: String

  /// An API.
  public init(clientIdentifier: String, identifierURI: String) {
    self.clientIdentifier = clientIdentifier
    self.identifierURI = identifierURI
  }
}
