// Owns the kind of application that runs on people's machines and can keep no secret.

/// An application that people sign in to, without a secret of its own (RFC 6749 §2.1).
public struct PublicClientApplication: ClientApplication {
  /// What stands behind it.
  public let base: ClientApplicationBase

  /// An application.
  /// - Parameters:
  ///   - authority: the provider: an Entra tenant's URL, or any OpenID Connect issuer's.
  ///   - clientCapabilities: what the program can handle, such as `cp1` (claims challenges).
  ///   - caFile: PEM certificates to trust the authority by, instead of the system's.
  ///   - cache: where accounts and tokens are kept: `CacheStore.file(path:)` shares them with every MSAL.
  public init(
    clientID: String, authority: String, clientCapabilities: [String] = [], caFile: String? = nil,
    cache: CacheStore = CacheStore.memory()
  ) throws(ClientApplicationError) {
    base = try ClientApplicationBase(
      clientID: clientID, credential: nil, authority: authority, capabilities: clientCapabilities, caFile: caFile,
      cache: cache)
  }

  init(_ base: ClientApplicationBase) {
    self.base = base
  }
}
