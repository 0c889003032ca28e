// What an application proves itself with. Where a secret is written is `ClientSecretPlacement`'s.

public import Bytes

/// What a confidential application proves itself with.
public enum ClientCredential: Sendable, Equatable {
  /// A shared secret (RFC 6749 §2.3.1).
  case secret(Secret)
  /// A JWT by an issuer that the provider trusts to identify the application (RFC 7523 §2.2): a federated credential.
  case assertion(Secret)
}

/// Tells one credential of an application from the next one without showing either: part of every key, so that a token
/// obtained with a withdrawn secret is not served under the new one. The loader of credentials counts them.
package struct CredentialVersion: Sendable, Hashable {
  /// The count.
  package var number: UInt64
  /// The authority of the application, where the tokens are of another tenant's: an application of that tenant with the
  /// same id has credentials of its own.
  package var home: Authority?

  /// The version with this number.
  package init(_ number: UInt64, home: Authority? = nil) {
    self.number = number
    self.home = home
  }
}
