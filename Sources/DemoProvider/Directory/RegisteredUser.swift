// Owns one person of the directory, in the tenant that keeps the password.

public import Tokens

/// A user at home in one tenant.
public struct RegisteredUser: Sendable {
  /// `oid` in the home tenant: a GUID in lower case.
  public var object: String
  /// `preferred_username`: what is typed to sign in.
  public var userName: String
  /// `name`.
  public var displayName: String
  /// What proves it.
  public var password: Secret

  /// A user.
  public init(object: String, userName: String, displayName: String, password: Secret) {
    self.object = object
    self.userName = userName
    self.displayName = displayName
    self.password = password
  }
}
