// What an application proves itself with. Where a secret is written is `ClientSecretPlacement`'s.

package import Bytes

/// What a confidential application proves itself with.
package enum ClientCredential: Sendable, Equatable {
  /// A shared secret (RFC 6749 §2.3.1).
  case secret(Secret)
  /// A JWT by an issuer that the provider trusts to identify the application (RFC 7523 §2.2): a federated credential.
  case assertion(Secret, type: ClientAssertionType = .jwtBearer)
}

/// What a client assertion is said to be (`client_assertion_type`).
public enum ClientAssertionType: String, Sendable, Hashable, CaseIterable {
  /// A JWT (RFC 7523 §2.2).
  case jwtBearer = "jwt-bearer"
  /// A SPIFFE JWT-SVID (draft-ietf-oauth-spiffe-client-auth), which Keycloak tells from other JWTs by this.
  case jwtSPIFFE = "jwt-spiffe"

  /// The parameter's value.
  package var parameter: String { "urn:ietf:params:oauth:client-assertion-type:\(rawValue)" }
}

/// Tells one credential of an application from the next one without showing either: part of every key, so that a token
/// obtained with a withdrawn secret is not served under the new one. The loader of credentials counts them.
package struct CredentialVersion: Sendable, Hashable {
  /// The count.
  package var number: UInt64
  /// The authority of the application, where the tokens are of another tenant's: an application of that tenant with the
  /// same id has credentials of its own.
  package var home: Authority?
  /// The client id of the blueprint, where the application is an agent identity: what is registered under the same id
  /// with a credential of its own is another application.
  package var blueprint: String?

  /// The version with this number.
  package init(_ number: UInt64, home: Authority? = nil) {
    self.number = number
    self.home = home
  }
}
