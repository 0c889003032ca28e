package import Bytes
internal import Platform
internal import Tokens

/// One sign-in by authorization code with PKCE: the address for the browser, and the use of its answer. The loopback
/// listener or the sign-in pages receive that. It lives in memory, for minutes.
package struct BrowserSignIn: Sendable {
  /// The address of the answer.
  package let redirectURI: String
  /// Returns with the answer, and identifies its sign-in.
  package var state: String { session.state }
  private let session: AuthorizationSession
  private let authorization: AuthorizationRequest
  private let metadata: ProviderMetadata
  private let exchange: SignInExchange

  /// Begins a sign-in whose answer comes to `redirectURI`, in its query. The provider's metadata are the broker's.
  package static func begin(
    _ request: SignInRequest, redirectURI: String, store: CacheStore, broker: TokenBroker,
    now: @escaping @Sendable () -> UnixTime
  ) async throws(SignInError) -> BrowserSignIn {
    let exchange = SignInExchange(request: request, store: store, directory: broker.directory, now: now)
    return try BrowserSignIn(exchange, try await exchange.metadata(), redirectURI: redirectURI, takesForms: false)
  }

  /// `takesForms`: codes in posted forms stay out of the browser's history, but no cookie comes with them.
  init(
    _ exchange: SignInExchange, _ metadata: ProviderMetadata, redirectURI: String, takesForms: Bool
  ) throws(SignInError) {
    guard let endpoint = metadata.authorizationEndpoint else { throw .unsupported(.browser) }
    let request = exchange.request
    if request.application.requiresPKCE, !metadata.supportsPKCE { throw .unsupported(.pkce) }
    let authority = request.application.authority
    var terms = request.terms
    if terms.prompt == .create, !authority.canCreateAccounts(metadata) { throw .unsupported(.registration) }
    terms.claims = request.mergedClaims
    terms.domainHint = terms.domainHint ?? request.application.domainHint
    if terms.domainHint != nil, !authority.takesDomainHints { throw .unsupported(.domainHint) }
    session = try Self.session()
    self.exchange = exchange
    self.metadata = metadata
    self.redirectURI = redirectURI
    var address = AuthorizationRequest(
      endpoint: endpoint, clientID: request.application.clientID, redirectURI: redirectURI, terms: terms,
      session: session)
    // Only a provider that lists posting is asked for it.
    if takesForms, metadata.responseModes.contains(AuthorizationRequest.ResponseMode.formPost.rawValue) {
      address.responseMode = .formPost
    }
    address.offlineAccess = metadata.offlineAccess
    authorization = address
  }

  /// The address for the browser. Pushed parameters are kept for about a minute.
  package func address() async throws(SignInError) -> String {
    guard metadata.requiresPushedAuthorization else { return authorization.url }
    let uri = try await mapping(exchange.failure, awaiting: await exchange.requests(metadata).push(authorization))
    return authorization.url(pushedAs: uri)
  }

  /// Reads the browser's answer.
  func reply(_ form: [UInt8]) throws(AuthorizationReplyError) -> AuthorizationReply {
    try AuthorizationReply(
      form: form, state: session.state,
      issuer: ReplyIssuer(metadata, authority: exchange.request.application.authority))
  }

  /// Exchanges the browser's answer (a redirect's query) for tokens, verifies the ID token, and stores everything.
  package func finish(query: [UInt8]) async throws(SignInError) -> AuthenticationResult {
    let reply = try mapping(SignInError.init, self.reply(query))
    return try await file(try await prove(reply))
  }

  /// The application's name for people.
  var application: String { exchange.request.displayName ?? exchange.request.application.name }
  /// The name, for people, of the use after the sign-in.
  var purpose: String? { exchange.request.purpose }

  /// Exchanges a code for tokens and verifies the ID token. Nothing is kept yet.
  func prove(_ answer: AuthorizationReply) async throws(SignInError) -> ProvenSignIn {
    let grant = TokenGrant.authorizationCode(answer.code, redirectURI: redirectURI, verifier: session.verifier)
    let reply = try await mapping(
      exchange.failure,
      awaiting: await exchange.redeem(grant, scopes: exchange.request.terms.scopes, about: answer.accountHint, metadata)
    )
    return try await exchange.prove(reply, grant, nonce: session.nonce, metadata)
  }

  /// Stores everything.
  func file(_ proven: ProvenSignIn) async throws(SignInError) -> AuthenticationResult {
    try await exchange.file(proven)
  }

  private static func session() throws(SignInError) -> AuthorizationSession {
    try mapping(
      SignInError.crypto,
      AuthorizationSession(
        random: { count throws(CryptoError) in try RandomBytes.make(count) },
        digest: { bytes throws(CryptoError) in try SHA256.digest(of: bytes) }))
  }
}

extension SignInError {
  /// The meaning of an answer without a code for the person who waits.
  init(_ error: AuthorizationReplyError) {
    switch error {
    case .refused(let reply):
      switch TokenErrorClass(reply, status: 400) {
      case .declined: self = .declined(reply)
      default: self = .refused(reply)
      }
    default: self = .answer(error)
    }
  }
}
