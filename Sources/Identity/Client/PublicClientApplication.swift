/// An application that runs on people's machines, keeps no secret and is signed in to (RFC 6749 §2.1).
public struct PublicClientApplication: ClientApplication {
  /// What stands behind it.
  public let base: ClientApplicationBase

  /// Makes an application. Nothing is requested yet.
  /// - Parameters:
  ///   - clientID: its id at the provider.
  ///   - authority: the provider: an Entra tenant's URL, or any OpenID Connect issuer's.
  ///   - clientCapabilities: what the program can handle, such as `cp1` (claims challenges).
  ///   - caFile: PEM certificates to trust the authority by, instead of the system's.
  ///   - cache: where accounts and tokens are kept: `CacheStore.file(path:)` shares them with every MSAL.
  /// - Throws: `authority` or `trust` where those cannot be used, `system` where the system gives no event loop.
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
