// Owns how an application proves who it is to the token endpoint, and where that proof is written.

/// What a confidential application proves itself with.
public enum ClientCredential: Sendable, Equatable {
  /// A shared secret (RFC 6749 §2.3.1).
  case secret(Secret)
  /// A JWT that somebody signed whom the provider trusts to speak for the application (RFC 7523 §2.2): a federated credential.
  case assertion(Secret)
}

/// Tells one credential of an application from the next one without showing either: part of every key, so that a token
/// obtained with a withdrawn secret is not served under the new one. Whoever loads credentials counts.
public struct CredentialVersion: Sendable, Hashable {
  /// The count.
  public var number: UInt64

  /// The version with this number.
  public init(_ number: UInt64) {
    self.number = number
  }
}

/// Where a client secret is written in a token request.
public enum ClientSecretPlacement: Sendable, Hashable {
  /// A form member, `client_secret_post`: what every MSAL does.
  case body
  /// The `Authorization` field, `client_secret_basic`.
  case basic

  /// By `token_endpoint_auth_methods_supported`: the body, unless a provider that is not Microsoft's offers Basic and not the
  /// body. A provider that says nothing gets the body too: those that do not list it hardly ever mean Basic only.
  init(supported: JSONValue?, authority: Authority) {
    self = .body
    guard authority.kind == .issuer, case .array(let methods) = supported else { return }
    if methods.contains(.string("client_secret_basic")), !methods.contains(.string("client_secret_post")) {
      self = .basic
    }
  }
}
