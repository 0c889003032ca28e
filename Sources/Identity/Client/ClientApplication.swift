// The library's interface. Programs name types of Bytes and Tokens (`Secret`, `ScopeSet`, `Claims`), so both are
// exported: `import Identity` alone is enough.

@_exported public import Bytes
@_exported public import Tokens

/// The common part of public and confidential applications (MSAL's `ClientApplicationBase`).
///
/// An application may be used from any thread and by many tasks at once: tasks that want the same token share one
/// request. Copies are one application. Make one for each client id and keep it: it holds the warm tokens, the request
/// in flight, and the memory of failures, and has an event loop of its own.
///
/// Every function throws a `ClientApplicationError`. If its `isInteractionRequired` is true, a person can help by
/// signing in. Otherwise a program, a machine or time is at fault, and asking again at once does not help: the
/// application itself pauses before it asks a provider again that has failed.
public protocol ClientApplication: Sendable {
  var base: ClientApplicationBase { get }
}

extension ClientApplication {
  /// A person's token without asking them: from the cache, or with their refresh token (MSAL's `acquire_token_silent`).
  ///
  /// A token that ends soon is returned, and renewed in the background.
  /// - Parameters:
  ///   - scopes: one API's, without the reserved ones (`openid` and the like).
  ///   - account: one of `accounts()`; nil is the only one that is signed in. If several are, the program has to
  ///     choose.
  ///   - forceRefresh: asks the provider even if a token is cached.
  ///   - claims: those of an API's challenge; asks the provider too.
  /// - Throws: `acquisition` with `interactionRequired` if one of the interactive functions would help, and
  ///   `accountScopes` or `scope` if the scopes cannot be requested.
  public func acquireTokenSilent(
    scopes: [String], account: CachedAccount?, forceRefresh: Bool = false, claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let name = account?.homeAccountID
    return try await base.acquire(
      .account(name), base.accountScopes(scopes), isForced: forceRefresh, claims: claims)
  }

  /// A token by a sign-in in a browser on this machine, whose answer is received on loopback (MSAL's
  /// `acquire_token_interactive`). The provider must know the redirect URI `http://localhost` or `http://127.0.0.1`.
  ///
  /// Cancelling the task ends the wait with `signIn(.cancelled)`.
  /// - Parameters:
  ///   - scopes: one API's.
  ///   - extraScopes: other APIs' scopes to consent to at once, so that their tokens need no further sign-in.
  ///   - prompt: the pages to show the person; nil leaves that to the provider.
  ///   - loginHint: the user name that the provider's page begins with.
  ///   - domainHint: the sign-in page at which the person begins; Microsoft's providers alone have it.
  ///   - claims: those of an API's challenge.
  ///   - timeout: seconds that the person may take.
  ///   - present: brings the person to an address, such as by opening a browser.
  /// - Throws: `signIn`, with the reason; also if the account is signed in but the cache cannot be written.
  public func acquireTokenInteractive(
    scopes: [String], extraScopes: [String] = [], prompt: Prompt? = nil, loginHint: String? = nil,
    domainHint: DomainHint? = nil, claims: Claims? = nil, timeout: UInt64 = 300,
    present: @escaping @Sendable (String) async -> Void
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    var request = try base.signIn(scopes, extraScopes, claims)
    request.terms.prompt = prompt
    request.terms.loginHint = loginHint
    request.terms.domainHint = domainHint
    return try await mapping(
      ClientApplicationError.signIn,
      awaiting: await InteractiveSignIn(
        request, store: base.cache, loop: base.loop, timeout: .seconds(timeout), now: base.surroundings.now
      ).acquireToken(present: present))
  }

  /// A token by a code that the person types in elsewhere (MSAL's `acquire_token_by_device_flow`).
  ///
  /// Cancelling the task ends the wait with `signIn(.cancelled)`; otherwise it lasts as long as the code is valid. The
  /// other parameters are those of `acquireTokenInteractive`.
  /// - Parameter present: shows the person the address and the code to type in there.
  /// - Throws: `signIn`, with the reason.
  public func acquireTokenByDeviceCode(
    scopes: [String], extraScopes: [String] = [], claims: Claims? = nil,
    present: (DeviceAuthorizationReply) async -> Void
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let request = try base.signIn(scopes, extraScopes, claims)
    return try await mapping(
      ClientApplicationError.signIn,
      awaiting: await DeviceCodeSignIn(
        request, store: base.cache, now: base.surroundings.now, sleep: base.surroundings.sleep
      ).acquireToken(present: present))
  }

  /// The accounts that are signed in (MSAL's `get_accounts`).
  public func accounts() async -> [CachedAccount] { await base.people.accounts().map(\.account) }

  /// Signs a person out: their tokens leave the cache, and silent acquisition no longer finds any (MSAL's
  /// `remove_account`).
  /// - Parameter account: one of `accounts()`.
  /// - Throws: `cache` if the cache cannot be written; the account is signed out of this process all the same.
  public func remove(account: CachedAccount) async throws(ClientApplicationError) {
    try await mapping(ClientApplicationError.cache, awaiting: await base.people.remove(account: account))
  }
}

/// An application that runs on people's machines, keeps no secret and is signed in to (RFC 6749 §2.1).
public struct PublicClientApplication: ClientApplication {
  /// The implementation.
  public let base: ClientApplicationBase

  /// Makes an application. Nothing is requested yet.
  /// - Parameters:
  ///   - clientID: its id at the provider.
  ///   - authority: the provider: an Entra tenant's URL, or any OpenID Connect issuer's.
  ///   - clientCapabilities: the program's capabilities, such as `cp1` (claims challenges).
  ///   - caFile: PEM certificates to trust the authority by, instead of the system's.
  ///   - cache: the store of accounts and tokens: `CacheStore.file(path:)` shares them with every MSAL.
  /// - Throws: `authority` or `trust` if those cannot be used, `system` if the system gives no event loop.
  public init(
    clientID: String, authority: String, clientCapabilities: [String] = [], caFile: String? = nil,
    cache: CacheStore = CacheStore.memory()
  ) throws(ClientApplicationError) {
    base = try ClientApplicationBase(
      clientID: clientID, credential: nil, authority: authority, capabilities: clientCapabilities, caFile: caFile,
      cache: cache)
  }

  init(_ base: ClientApplicationBase) { self.base = base }
}

/// An application in a place that keeps secrets. It proves itself with a credential, and may request tokens for itself
/// (RFC 6749 §2.1).
public struct ConfidentialClientApplication: ClientApplication {
  /// The implementation.
  public let base: ClientApplicationBase

  /// Makes an application. The other parameters and the errors are those of `PublicClientApplication`.
  /// - Parameter credential: its proof.
  public init(
    clientID: String, credential: ApplicationCredential, authority: String, clientCapabilities: [String] = [],
    caFile: String? = nil, cache: CacheStore = CacheStore.memory()
  ) throws(ClientApplicationError) {
    base = try ClientApplicationBase(
      clientID: clientID, credential: credential, authority: authority, capabilities: clientCapabilities,
      caFile: caFile, cache: cache)
  }

  init(_ base: ClientApplicationBase) { self.base = base }

  /// The application's own token, by client credentials (MSAL's `acquire_token_for_client`): the cached one, or a new
  /// one. The other parameters are those of `acquireTokenSilent`.
  /// - Parameter scopes: for Entra `<resource>/.default`.
  /// - Throws: `acquisition` if there is no token, `applicationScopes` or `scope` if the scopes cannot be requested.
  public func acquireTokenForClient(
    scopes: [String], forceRefresh: Bool = false, claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    try await base.acquire(
      .application, base.applicationScopes(scopes), isForced: forceRefresh, claims: claims)
  }

  /// A token on behalf of the caller who brought this program `assertion` (MSAL's `acquire_token_on_behalf_of`).
  ///
  /// It is kept in memory until it, or the assertion, ends: the same assertion and scopes return it without a request.
  /// No refresh token is requested, and nothing is stored in the cache.
  /// - Parameters:
  ///   - assertion: the access token that this program was called with, which it has validated. An application of many
  ///     tenants asks in the token's tenant.
  ///   - scopes: one API's.
  ///   - claims: those of an API's challenge.
  /// - Throws: `acquisition` with `assertionRefused` if the caller can do something about it: the program passes the
  ///   claims on to its caller, or that its token is not accepted; `accountScopes` or `scope` if the scopes cannot be
  ///   requested.
  public func acquireTokenOnBehalfOf(
    assertion: Secret, scopes: [String], claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    try await base.acquire(.onBehalfOf, assertion, base.accountScopes(scopes), .none, claims)
  }

  /// A token in exchange for another one (RFC 8693), kept as those of `acquireTokenOnBehalfOf` are.
  /// - Parameters:
  ///   - subjectToken: the token to exchange.
  ///   - subjectTokenType: its type, by the URIs of RFC 8693, section 3.
  ///   - requestedTokenType: the type to request; nil leaves that to the provider. Only bearer tokens are accepted.
  ///   - audiences: the logical names of the token's audiences.
  ///   - resources: their addresses.
  ///   - scopes: the token's scopes.
  ///   - claims: those of an API's challenge.
  /// - Throws: as `acquireTokenOnBehalfOf`; `parameter` if an audience or a resource cannot be requested.
  public func acquireTokenByTokenExchange(
    subjectToken: Secret, subjectTokenType: String = "urn:ietf:params:oauth:token-type:access_token",
    requestedTokenType: String? = nil, audiences: [String] = [], resources: [String] = [], scopes: [String] = [],
    claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let parameters = try mapping(
      ClientApplicationError.parameter,
      TokenParameters(audiences: audiences, resources: resources))
    let terms = ExchangeTerms(subjectType: subjectTokenType, requestedType: requestedTokenType)
    return try await base.acquire(.tokenExchange(terms), subjectToken, base.accountScopes(scopes), parameters, claims)
  }
}
