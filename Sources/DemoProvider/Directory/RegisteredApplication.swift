// Owns one application registration: how it proves itself, where sign-ins may return to, and what it was granted.

package import Bytes
internal import Tokens

/// An application.
package struct RegisteredApplication: Sendable {
  /// `client_id`, a GUID in lower case.
  package var clientIdentifier: String
  /// `oid`: the service principal's object in the tenant.
  package var object: String
  /// The name shown in logs and on the consent page.
  package var displayName: String
  /// Secrets that prove it, more than one while one is being replaced; a public application has none.
  package var secrets: [Secret]
  /// Those whose tokens prove it in the place of a secret.
  package var federatedCredentials: [FederatedCredential]
  /// App roles granted with an administrator's consent, per API's client identifier.
  package var grantedRoles: [String: [String]]
  /// Where sign-ins may return to. `http://localhost` and `http://127.0.0.1` stand for every port.
  package var redirectURIs: [String]

  /// An application.
  package init(
    clientIdentifier: String, object: String, displayName: String, secrets: [Secret] = [],
    federatedCredentials: [FederatedCredential] = [], grantedRoles: [String: [String]] = [:],
    redirectURIs: [String] = []
  ) {
    self.clientIdentifier = clientIdentifier
    self.object = object
    self.displayName = displayName
    self.secrets = secrets
    self.federatedCredentials = federatedCredentials
    self.grantedRoles = grantedRoles
    self.redirectURIs = redirectURIs
  }

  /// Whether it cannot keep a secret: it proves nothing, and must use PKCE.
  var isPublic: Bool { secrets.isEmpty && federatedCredentials.isEmpty }
}
