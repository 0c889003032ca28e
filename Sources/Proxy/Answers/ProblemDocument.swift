// The proxy's own answers (RFC 9457): one per failure, the same for every caller. They name the route and the reason;
// they never name an upstream's address, and no token is available here.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Routing
internal import Telemetry
internal import Tokens

struct ProblemDocument {
  var status: Int
  /// The type, stable for programs.
  var type: ProblemType
  var title: String
  /// The event and the next step, for the person who reads it.
  var detail: String
  /// Seconds after which trying again may help.
  var retryAfter: Int64?
  /// The requirement of a person, if that is missing.
  var interaction: InteractionRequired?
  /// The provider's refusal of the caller's own token.
  var assertion: AssertionRefused?

  /// The title is the type's, unless another one says more.
  init(
    _ status: Int, _ type: ProblemType, _ detail: String, _ cure: Cure? = nil, title: String? = nil,
    retryAfter: Int64? = nil
  ) {
    self.status = status
    self.type = type
    self.title = title ?? type.title
    self.detail = cure.map { "\(detail) \($0.words())" } ?? detail
    self.retryAfter = retryAfter
  }

  init(_ failure: ExchangeFailure) {
    switch failure {
    case .head(let error): self = Self.document(error)
    case .framing(let error):
      self.init(error.status, .badRequest, "The length of the content cannot be told: \(error.rawValue).")
    case .path(let error): self.init(400, .badPath, "The path is ambiguous: \(error.rawValue).")
    case .methodRefused: self.init(501, .methodNotSupported, "CONNECT and TRACE are not forwarded.")
    case .tunnelRefused: self.init(501, .methodNotSupported, "No WebSocket can be opened at this address.")
    case .targetRefused: self.init(400, .badRequest, "The target * names no route.")
    case .schemeRefused:
      self.init(421, .misdirectedRequest, "The request target is an https address, and this listener has no TLS.")
    case .expectation: self.init(417, .expectationFailed, "Only 'Expect: 100-continue' is supported.")
    case .caller(.unknownHost):
      self.init(
        421, .unknownHost, "The Host field names no host of this listener.", .answerHost)
    case .caller(.crossSite):
      self.init(403, .crossSiteRequest, "A browser says that another site is behind this request.")
    case .caller(.unknownPage):
      self.init(
        403, .crossSiteRequest,
        "A browser does not say that a person opened this address, or which page is behind the request. It does if "
          + "the listener is called as localhost or over TLS.")
    case .caller(.speculative):
      self.init(
        403, .speculativeRequest, "A browser fetches this ahead of time, and not for a page of this listener's own.")
    case .caller(.serviceWorker):
      self.init(
        403, .serviceWorkerRefused,
        "A service worker would answer for every route of this listener, so the script of one is not served.")
    case .caller(.unknownPeer):
      self.init(
        403, .callerRefused,
        "The calling process runs as none of the users and groups in callers.unix of this listener.")
    case .caller(.unknownCertificate):
      self.init(
        403, .callerRefused,
        "The caller's certificate has none of the subjects in callers.certificate of this listener.")
    case .caller(.missingSecret):
      self.init(
        403, .callerRefused,
        "The field that callers.header of this listener demands is missing, repeated, or has another value.")
    case .caller(.untrustedToken):
      self.init(
        401, .callerNotAuthenticated,
        "This listener demands a bearer token of the caller's own; callers.bearer says whose and for which audience.")
    case .caller(.missingScope):
      self.init(
        403, .callerScopeMissing,
        "The caller's token lacks scopes that callers.bearer of this listener demands; WWW-Authenticate names all.")
    case .callerIssuerUnavailable:
      self.init(
        503, .callerIssuerUnavailable,
        "The keys of the authority in callers.bearer of this listener are not available, so no token can be checked.",
        retryAfter: 5)
    case .maxForwards: self.init(400, .badRequest, "Max-Forwards is not one decimal number.")
    case .callTimeout: self.init(400, .badRequest, "grpc-timeout is not a number of at most 8 digits and a unit.")
    case .loop:
      self.init(
        508, .loopDetected,
        "The request has passed this proxy before: Via or CDN-Loop names it. An upstream leads back here.")
    case .suspectedLoop:
      self.init(
        508, .loopDetected,
        "The request has no field but its Host, and too many like it are in progress, as if an upstream led back here.")
    case .authorizationRefused:
      self.init(
        400, .authorizationRefused,
        "This route adds a token of its own and takes no Authorization field from callers (existing: reject).")
    case .choiceRefused:
      self.init(
        400, .choiceRefused,
        "The request repeats the field by which this route lets callers pick a token, or it has a value that the route "
          + "does not list.")
    case .noRoute:
      self.init(404, .noRoute, "No route has this host and path. The proxy's configuration lists the routes.")
    case .methodNotAllowed:
      self.init(
        405, .methodNotAllowed,
        "The route does not take this method, or the one that a field such as X-HTTP-Method-Override asks for; see "
          + "Allow.")
    case .headStalled: self.init(408, .requestTimeout, "The request head did not arrive in time.")
    case .delivery(.contentStalled): self.init(408, .requestTimeout, "The request's content stopped arriving.")
    case .delivery(.contentTooSlow): self.init(408, .requestTimeout, "The request's content arrived too slowly.")
    case .delivery(.tooLarge): self.init(413, .contentTooLarge, "The request's content is longer than the limit.")
    case .delivery(.contentCut): self.init(400, .badRequest, "The request ended before its content was complete.")
    case .delivery(.content): self.init(400, .badRequest, "The chunked coding of the request's content is broken.")
    case .token(let error): self = Self.document(error)
    case .handOut(let refusal): self = Self.document(refusal)
    case .program(let refusal): self.init(refusal)
    case .refusedToken(let status):
      self.init(
        status, .tokenRefused,
        "The API refused the token, and only a person can bring another one. WWW-Authenticate is the API's.")
    case .unreachable(.timedOut): self.init(504, .upstreamTimeout, "The upstream did not accept a connection in time.")
    case .unreachable(let error):
      self.init(502, .upstreamUnreachable, "No connection to the upstream: \(error.reason).")
    case .delivery(.upstreamClosed):
      self.init(502, .upstreamClosed, "The upstream closed the connection before it had answered.")
    case .delivery(.upstreamMalformed):
      self.init(502, .upstreamMalformed, "The upstream's answer is not acceptable HTTP.")
    case .delivery(.upstreamStalled): self.init(504, .upstreamTimeout, "The upstream did not answer in time.")
    case .delivery(.exchangeTimedOut):
      self.init(504, .exchangeTimeout, "The exchange took longer than the route, or the call's deadline, allows.")
    }
  }

  private static func document(_ error: RequestHeadError) -> ProblemDocument {
    switch error.status {
    case 414: .init(414, .targetTooLong, "The request target is longer than the limit.")
    case 431: .init(431, .headTooLarge, "The request head is longer, or has more fields, than the limits.")
    case 505: .init(505, .versionNotSupported, "Only HTTP/2, HTTP/1.1 and HTTP/1.0 are supported.")
    default: .init(400, .badRequest, "The request head is not acceptable HTTP/1.1: \(error.words).")
    }
  }

  private static func document(_ error: AcquisitionError) -> ProblemDocument {
    switch error.kind {
    case .providerUnavailable:
      .init(
        503, .identityProviderUnavailable,
        "The identity provider did not give a token for this route.", .answerProvider, retryAfter: error.retryAfter)
    case .rejected(let reply):
      .init(
        502, .tokenRequestRejected,
        "The identity provider refuses the application of this route (\(reply.error)).", .answerApplication)
    case .unusableMetadata:
      .init(
        502, .authorityUnusable,
        "The document at the authority of this route's application is not the metadata of that authority.")
    case .cacheUnavailable:
      .init(
        503, .tokenCacheUnavailable,
        "The proxy cannot read its token cache, so it does not know who is signed in.", .answerLater,
        retryAfter: error.retryAfter)
    case .interactionRequired(let required): Self.document(required)
    case .assertionRefused(let refused): Self.document(refused)
    }
  }

  private static func document(_ refused: AssertionRefused) -> ProblemDocument {
    var document =
      switch refused.refusal {
      case .claims:
        ProblemDocument(
          401, .callerClaimsRequired,
          "The identity provider wants the person behind the caller's token to prove more.", .answerClaims)
      case .consent:
        ProblemDocument(
          403, .callerConsentRequired,
          "The application of this route may not ask for these scopes in the caller's name: the person, or an "
            + "administrator, has to consent first.")
      case .invalidToken:
        ProblemDocument(
          401, .callerTokenRefused,
          "The identity provider does not take the caller's token in exchange, or the token has ended.", .answerToken)
      case .denied:
        ProblemDocument(
          403, .callerDenied, "The rules of the identity provider do not allow this caller a token for this route.")
      }
    document.assertion = refused
    return document
  }

  private static func document(_ refusal: HandOutRefusal) -> ProblemDocument {
    switch refusal {
    case .browser:
      ProblemDocument(
        403, .crossSiteRequest,
        "Tokens are handed out to engines, and this request has a browser's field (Origin or Sec-Fetch-…). An engine "
          + "that vouches for the browser removes them.")
    case .content: ProblemDocument(400, .badRequest, "A request for a token has no content.")
    case .message:
      ProblemDocument(400, .badRequest, "The call has a message that is not its method's, or is compressed.")
    case .description:
      ProblemDocument(
        400, .badRequest,
        "Without a route in its path, a request for a token has the fields X-Forwarded-Method, -Uri and -Host, or "
          + "X-Original-Method and -URI, each once, and not both kinds.")
    case .fields:
      ProblemDocument(
        400, .badRequest,
        "X-Bearer-Refused is one Authorization field with a Bearer token, X-Bearer-Status is 401 or 403, "
          + "X-Bearer-Unavailable is a status from 400 up, and X-Bearer-Answer is 'refusal'; each occurs once.")
    case .route:
      ProblemDocument(
        403, .callerRefused,
        "The tokens of this route are not handed out: it lacks 'hand_out: proxies', or adds no token.")
    case .otherRoute:
      ProblemDocument(
        403, .badPath,
        "The request that the engine describes is not one for this route: its path is ambiguous, or leads to "
          + "another route, or the method is not the route's.")
    case .overtaken:
      ProblemDocument(
        503, .identityProviderUnavailable,
        "There was no token when the request came, and there is one now.", .answerRepeat, title: "Token arrived",
        retryAfter: 1)
    }
  }

  private static func document(_ required: InteractionRequired) -> ProblemDocument {
    // The sentence depends on the route and on the ways to sign in: `json` and `InteractionPage` write it.
    var document = ProblemDocument(401, .interactionRequired, "")
    document.interaction = required
    return document
  }

  /// The document as JSON. `route` and `requestID` are left out if empty, `sign_in` if there is no page to sign in.
  func json(route: String, requestID: String, signIn: String?, commands: OperatorCommands) -> [UInt8] {
    var text = #"{"type":"urn:bearer-proxy:problem:\#(type.rawValue)","title":\#(Self.quoted(title))"#
    text += #","status":\#(status)"#
    let detail = interaction?.words(route: route, link: signIn, commands) ?? detail
    text += #","detail":\#(Self.quoted(detail))"#
    if !route.isEmpty { text += #","route":\#(Self.quoted(route))"# }
    if let interaction { text += Self.members(interaction) }
    if let assertion { text += Self.members(assertion) }
    if let signIn { text += #","sign_in":\#(Self.quoted(signIn))"# }
    if !requestID.isEmpty { text += #","request_id":\#(Self.quoted(requestID))"# }
    return Array((text + "}\n").utf8)
  }

  private static func members(_ required: InteractionRequired) -> String {
    let scopes = required.scopes.words.map(quoted).joined(separator: ",")
    var text = #","reason":"\#(required.reason.rawValue)","scopes":[\#(scopes)]"#
    if let claims = required.claims { text += #","claims":\#(quoted(claims.text))"# }
    return text
  }

  private static func members(_ refused: AssertionRefused) -> String {
    switch refused.refusal {
    case .claims(let claims): return #","claims":\#(quoted(claims.text))"#
    case .consent:
      var text = #","scopes":[\#(refused.scopes.words.map(quoted).joined(separator: ","))]"#
      if let address = refused.consentAddress { text += #","admin_consent":\#(quoted(address))"# }
      return text
    case .invalidToken, .denied: return ""
    }
  }

  private static func quoted(_ text: String) -> String { JSONValue.string(text).canonicalText() }
}

extension ProblemType {
  /// The type in words: `no-route` is "No route".
  fileprivate var title: String {
    switch self {
    case .crossSiteRequest: "Cross-site request refused"
    case .speculativeRequest: "Speculative request refused"
    case .callerScopeMissing: "Scope missing"
    case .callerIssuerUnavailable: "Issuer of callers' tokens unavailable"
    case .interactionRequired: "Sign-in needed"
    case .callerClaimsRequired: "More proof needed"
    case .callerConsentRequired: "Consent needed"
    case .callerTokenRefused: "Caller's token refused"
    default: rawValue.prefix(1).uppercased() + rawValue.dropFirst().map { $0 == "-" ? " " : $0 }
    }
  }
}

extension RequestHeadError {
  /// Completes "not acceptable HTTP/1.1:".
  var words: String {
    switch self {
    case .requestLine: "the request line is not 'METHOD target HTTP/1.1'"
    case .method: "the method is not a token"
    case .target: "the request target has a form or a byte that is not allowed"
    case .targetTooLong: "the request target is too long"
    case .userInformation: "the request target carries user information"
    case .version: "the HTTP version is not spelt as one"
    case .versionUnsupported: "the HTTP version is not supported"
    case .lineEnd: "a line does not end with CR LF"
    case .emptyLines: "too many empty lines before the request"
    case .field(let error): error.rawValue
    case .headTooLarge: "the head is too large"
    case .hostMissing: "there is no Host field"
    case .hostRepeated: "there is more than one Host field"
    case .hostInvalid: "the Host field is not a host and port"
    case .hostDisagrees: "the Host field and the request target name different hosts"
    case .connectionOptions: "the Connection field is not a list of options"
    }
  }
}
