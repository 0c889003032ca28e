// Owns the settings of an application: whom it belongs to and how it proves that it is itself.

public import Bytes
public import Tokens

/// An application as registered with its identity provider.
public struct ApplicationSettings: Sendable, Hashable {
  /// The name by which routes refer to it.
  public let name: String
  /// What people read instead of the name.
  package let displayName: String?
  /// The identity provider.
  public let authority: Located<Authority>
  /// The `client_id`.
  public let clientID: String
  /// The client secret; `nil` is a public client.
  public let clientSecret: Secret?
  /// A file with a JWT in the place of a secret (RFC 7523), read for each request.
  public let clientAssertionFile: Located<String>?
  /// Where the client secret is written in requests; `nil` is what the provider's metadata say.
  package let clientAuthentication: ClientSecretPlacement?
  /// A PEM file of certification authorities for the identity provider, instead of the system's.
  public let caFile: Located<String>?
  /// Client capabilities announced in token requests (`xms_cc`), such as `cp1`.
  public let clientCapabilities: [String]
  /// Whether refresh tokens of other applications of Azure CLI's family count too.
  public let usesFamilyTokens: Bool
  /// The way to the identity provider.
  package let proxy: ProxyChoice
  /// Which redirect URI its sign-ins use, where the file says it.
  public let redirectURI: RedirectURIChoice?
  /// Where its sign-ins come back to.
  package internal(set) var callback = CallbackPath.shared

  /// Whether it can prove that it is itself.
  public var isConfidential: Bool { clientSecret != nil || clientAssertionFile != nil }

  /// Hashes what identifies an application; secrets are compared, never hashed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(authority)
    hasher.combine(clientID)
  }
}
