// Owns one person of the directory, in the tenant that keeps the password.

package import Bytes
internal import Tokens

/// A user at home in one tenant.
package struct RegisteredUser: Sendable {
  /// `oid` in the home tenant: a GUID in lower case.
  package var object: String
  /// `preferred_username`: what is typed to sign in.
  package var userName: String
  /// `name`.
  package var displayName: String
  /// What proves it.
  package var password: Secret

  /// A user.
  package init(object: String, userName: String, displayName: String, password: Secret) {
    self.object = object
    self.userName = userName
    self.displayName = displayName
    self.password = password
  }
}
