// Owns one application registration: how it proves itself, and what it was granted.

public import Tokens

/// A confidential application.
public struct RegisteredApplication: Sendable {
  /// `client_id`, a GUID in lower case.
  public var clientIdentifier: String
  /// `oid`: the service principal's object in the tenant.
  public var object: String
  /// The name shown in logs.
  public var displayName: String
  /// Secrets that prove it; more than one while one is being replaced.
  public var secrets: [Secret]
  /// App roles granted with an administrator's consent, per API's client identifier.
  public var grantedRoles: [String: [String]]

  /// An application.
  public init(
    clientIdentifier: String, object: String, displayName: String, secrets: [Secret], grantedRoles: [String: [String]]
  ) {
    self.clientIdentifier = clientIdentifier
    self.object = object
    self.displayName = displayName
    self.secrets = secrets
    self.grantedRoles = grantedRoles
  }
}
