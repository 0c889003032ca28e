public import Tokens

/// An application that runs where secrets can be kept, proves itself with a credential, and may request tokens for
/// itself (RFC 6749 §2.1).
public struct ConfidentialClientApplication: ClientApplication {
  /// What stands behind it.
  public let base: ClientApplicationBase

  /// Makes an application. Nothing is requested yet.
  /// - Parameters:
  ///   - clientID: its id at the provider.
  ///   - credential: its proof.
  ///   - authority: the provider: an Entra tenant's URL, or any OpenID Connect issuer's.
  ///   - clientCapabilities: what the program can handle, such as `cp1` (claims challenges).
  ///   - caFile: PEM certificates to trust the authority by, instead of the system's.
  ///   - cache: where accounts and tokens are kept: `CacheStore.file(path:)` shares them with every MSAL.
  /// - Throws: `authority` or `trust` where those cannot be used, `system` where the system gives no event loop.
  public init(
    clientID: String, credential: ClientCredential, authority: String, clientCapabilities: [String] = [],
    caFile: String? = nil, cache: CacheStore = CacheStore.memory()
  ) throws(ClientApplicationError) {
    base = try ClientApplicationBase(
      clientID: clientID, credential: credential, authority: authority, capabilities: clientCapabilities,
      caFile: caFile, cache: cache)
  }

  init(_ base: ClientApplicationBase) {
    self.base = base
  }

  /// The application's own token, by client credentials (MSAL's `acquire_token_for_client`): the cached one, or a new
  /// one.
  /// - Parameters:
  ///   - scopes: for Entra `<resource>/.default`.
  ///   - forceRefresh: asks the provider whatever is cached.
  ///   - claims: what an API's challenge wants proved; asks the provider too.
  /// - Throws: `acquisition` where there is no token, `applicationScopes` or `scope` where the scopes cannot be
  ///   requested.
  public func acquireTokenForClient(
    scopes: [String], forceRefresh: Bool = false, claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    try await base.acquire(
      .application, base.applicationScopes(scopes), renewal: forceRefresh ? .forced : .whenDue, claims: claims)
  }
}
