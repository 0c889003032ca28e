// The answers to programs that ask for tokens of their own. The statuses are chosen by what Azure's SDKs and OAuth
// clients repeat: a mistake is 400, which none repeats, and an outage is 503, which each does. None is 404 or 410 at a
// path that is served: Azure's SDKs repeat these for up to a minute.

internal import Bytes
internal import Identity
internal import Routing
internal import Telemetry
internal import Tokens

/// A token in the form of a shape.
struct ProgramAnswer {
  let shape: ProgramShape
  let wish: ProgramWish
  /// The client id of the application whose token it is.
  let clientID: String
  let expiresIn: Int64
  let lifetime: TokenLifetime

  func json(_ token: Secret) -> [UInt8] {
    var writer = JSONWriter(.compact)
    writer.reserve(token.count + 512)
    writer.openObject()
    writer.member("access_token")
    writer.append(token)
    for (name, value) in members {
      writer.member(name)
      writer.append(value)
    }
    writer.closeObject()
    return writer.bytes
  }

  private var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [("token_type", .string("Bearer"))]
    switch shape {
    case .tokenEndpoint:
      members.append(("expires_in", .integer(expiresIn)))
      if let scope = wish.scope { members.append(("scope", .string(scope))) }
      if wish.isExchange {
        members.append(("issued_token_type", .string("urn:ietf:params:oauth:token-type:access_token")))
      }
    case .appService, .imds:
      // Numbers are texts there.
      members += [
        ("client_id", .string(clientID)), ("expires_in", .string("\(expiresIn)")),
        ("expires_on", .string("\(lifetime.expiresAt.seconds)")),
        ("not_before", .string("\(lifetime.obtainedAt.seconds)")), ("resource", .string(wish.resource ?? "")),
      ]
    }
    return members
  }

  /// The metadata of the token endpoint (RFC 8414). They name no program and no scope: the caller shows no secret.
  static func metadata(origin: String, _ programs: ProgramTable) -> [UInt8] {
    let exchanges = programs.programs.contains { $0.tokens.contains(where: \.isForCallers) }
    let grants = ["client_credentials"] + (exchanges ? ["urn:ietf:params:oauth:grant-type:token-exchange"] : [])
    let document = JSONValue([
      "issuer": origin, "token_endpoint": "\(origin)\(ProgramEndpoint.tokenPath)", "grant_types_supported": grants,
      "response_types_supported": ["none"],
      "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    ])
    return Array(document.canonicalText().utf8)
  }
}

extension ProxyResponse {
  /// An error in the form of every shape: OAuth's members (RFC 6749 §5.2) beside those of Azure App Service.
  /// - Parameters:
  ///   - words: the sentences about a sign-in that is missing; nil for every other failure.
  init(program failure: ExchangeFailure, _ problem: ProblemDocument, words: String?) {
    let code: String
    fields = Self.tokenFields
    switch failure {
    case .token(let error):
      switch error.kind {
      case .interactionRequired, .assertionRefused: (status, code) = (400, "invalid_grant")
      case .rejected: (status, code) = (400, "unauthorized_client")
      // The answer at the provider's address may be a page about its outage.
      case .providerUnavailable, .unusableMetadata, .cacheUnavailable: (status, code) = (503, "temporarily_unavailable")
      }
    case .callerIssuerUnavailable: (status, code) = (503, "temporarily_unavailable")
    case .caller(.untrustedToken): (status, code) = (400, "invalid_request")
    case .caller: (status, code) = (problem.status, "access_denied")
    case .program(let refusal):
      (status, code) = (problem.status, refusal.code)
      if refusal == .client { fields.append(("WWW-Authenticate", #"Basic realm="bearer-proxy""#)) }
    default: (status, code) = (problem.status, "invalid_request")
    }
    // RFC 6749 allows neither quotation marks nor backslashes.
    let description = String((words ?? problem.detail).map { $0 == "\"" || $0 == "\\" ? "'" : $0 })
    let document = JSONValue([
      "error": code, "error_description": description, "message": description, "statusCode": Int64(status),
    ])
    body = Array(document.canonicalText().utf8)
  }
}

extension ProgramRefusal {
  /// The error's code (RFC 6749 §5.2, RFC 8707 §2).
  fileprivate var code: String {
    switch self {
    case .browser, .forwarded: "access_denied"
    case .secret, .client: "invalid_client"
    case .unknownScope: "invalid_scope"
    case .unknownResource: "invalid_target"
    case .grant: "unsupported_grant_type"
    case .nothingHere, .shape, .method, .form, .metadata, .version, .twoSecrets, .resourceMissing, .unknownIdentity,
      .subjectToken:
      "invalid_request"
    }
  }
}

extension ProblemDocument {
  init(_ refusal: ProgramRefusal) {
    func mistake(_ detail: String, _ status: Int = 400, _ type: ProblemType = .badRequest) -> ProblemDocument {
      ProblemDocument(status, type, detail, title: "Request for a token refused")
    }
    self =
      switch refusal {
      case .browser:
        mistake(
          "Programs get tokens here, and this request has a browser's field (Origin or Sec-Fetch-...).", 403,
          .crossSiteRequest)
      case .forwarded:
        mistake(
          "The request has passed a proxy: it has X-Forwarded-For or Forwarded. A managed identity's tokens are for "
            + "programs that ask directly.", 400, .callerRefused)
      case .nothingHere:
        mistake(
          "Nothing is here. This listener serves programs: /oauth2/token, /msi/token (App Service) and "
            + "/metadata/identity/oauth2/token (IMDS).", 404, .noRoute)
      case .shape(let shape):
        mistake("No program of this listener has shape: \(shape.rawValue).")
      case .method:
        mistake("The token endpoint takes POST, everything else here takes GET.", 405, .methodNotAllowed)
      case .form:
        mistake(
          "The parameters are not a form of type application/x-www-form-urlencoded with a Content-Length, one of them "
            + "occurs twice, or grant_type is missing.")
      case .metadata: mistake("Required metadata header not specified: send 'Metadata: true', once.")
      case .version:
        mistake("api-version is missing or too old: 2019-08-01 for App Service, 2018-02-01 for IMDS.")
      case .secret:
        mistake(
          "X-IDENTITY-HEADER is missing, repeated or wrong. It is the secret of one of this listener's programs.", 401,
          .callerNotAuthenticated)
      case .client:
        mistake(
          "The client id is no program of this listener with shape: token_endpoint, or the secret is not its own.", 401,
          .callerNotAuthenticated)
      case .twoSecrets: mistake("The client shows its secret twice: send Basic, or client_secret in the form.")
      case .resourceMissing: mistake("The parameter resource is missing.")
      case .unknownResource:
        mistake(
          "The resource is none of this program's: it must be listed under its tokens, as the program spells it.", 400,
          .choiceRefused)
      case .unknownIdentity:
        mistake(
          "Identity not found: no token of this program is for that identity, or for programs that name none.", 400,
          .choiceRefused)
      case .unknownScope:
        mistake(
          "The scope is none of this program's: it must be a token's scopes, or be listed among its resources.", 400,
          .choiceRefused)
      case .grant:
        mistake(
          "This token is not given by that grant: client_credentials, or token exchange (RFC 8693) for a route with "
            + "as: caller.")
      case .subjectToken:
        mistake(
          "A token exchange needs subject_token and subject_token_type (an access token or JWT), and no actor_token.")
      }
  }
}
