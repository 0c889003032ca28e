package import Bytes

/// The proof of a confidential application. `ClientSecretPlacement` decides the place of a secret.
package enum ClientCredential: Sendable, Equatable {
  /// A shared secret (RFC 6749 §2.3.1).
  case secret(Secret)
  /// A JWT by an issuer that the provider trusts to identify the application (RFC 7523 §2.2): a federated credential.
  case assertion(Secret, type: ClientAssertionType = .jwtBearer)
}

/// The type of a client assertion (`client_assertion_type`).
public enum ClientAssertionType: String, Sendable, Hashable, CaseIterable {
  /// A JWT (RFC 7523 §2.2).
  case jwtBearer = "jwt-bearer"
  /// A SPIFFE JWT-SVID (draft-ietf-oauth-spiffe-client-auth), which Keycloak separates from other JWTs by this.
  case jwtSPIFFE = "jwt-spiffe"

  package var parameter: String { "urn:ietf:params:oauth:client-assertion-type:\(rawValue)" }
}

/// Separates successive credentials of an application without showing them: part of every key, so that a token of a
/// withdrawn secret is not served under the new one. The loader of credentials counts them.
package struct CredentialVersion: Sendable, Hashable {
  package var number: UInt64
  /// The authority of the application, if the tokens are of another tenant, which has its own credentials.
  package var home: Authority?
  /// The client id of an agent identity's blueprint; nil for an application with a credential of its own.
  package var blueprint: String?

  package init(_ number: UInt64, home: Authority? = nil) {
    self.number = number
    self.home = home
  }
}
