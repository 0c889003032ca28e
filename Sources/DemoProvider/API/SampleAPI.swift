// The sample APIs: from a request to its answer. `AccessDecision` decides who gets in.

internal import Bytes
internal import HTTPServer
internal import Platform
internal import Tokens

/// An API that trusts only tokens of its issuers, for itself, signed by keys it was given.
struct SampleAPI: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case orders, ledger
  }

  /// The beginning of its endpoints' paths.
  let root: String
  private let kind: Kind
  private let rules: [JWTValidation]
  private let keys: JWKSet
  private let challengeParameters: String
  private let uri: String
  private let countFrom: @Sendable (_ object: String) -> UnixTime?

  /// An API that trusts `issuers` and the keys they publish. `countFrom` returns since when tokens about a person
  /// count; nil: all do.
  init(
    _ kind: Kind, issuers: [String], keySet: JWKSet, authorizationURI: String,
    countFrom: @escaping @Sendable (_ object: String) -> UnixTime? = { _ in nil }
  ) {
    self.kind = kind
    self.countFrom = countFrom
    let sample = DemoDirectory.Sample.self
    let audiences: Set<String>
    switch kind {
    case .orders: (root, uri, audiences) = ("/api", sample.ordersURI, [sample.ordersAPI, sample.ordersURI])
    case .ledger: (root, uri, audiences) = ("/ledger", sample.ledgerURI, [sample.ledgerAPI, sample.ledgerURI])
    }
    rules = issuers.map { JWTValidation(issuer: $0, audiences: audiences, leeway: 60) }
    keys = keySet
    challengeParameters = "realm=\"\(kind.rawValue)\", authorization_uri=\"\(authorizationURI)\""
  }

  /// True if a request's body is digested as it arrives instead of kept.
  func digestsBody(method: String, path: String) -> Bool {
    APIEndpoint(method: method, path: local(path)) == .upload
  }

  func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    guard let endpoint = APIEndpoint(method: request.method, path: local(request.path)) else {
      let methods = APIEndpoint.allCases.filter { $0.path == local(request.path) }.flatMap(\.methods)
      if methods.isEmpty { return DemoAnswer(status: 404, json: ["error": "there is nothing here"]) }
      var answer = DemoAnswer(status: 405, json: ["error": "the method is not one of this resource's"])
      answer.fields.append(("allow", methods.joined(separator: ", ")))
      return answer
    }
    let decision = AccessDecision(
      authorization: request["authorization"],
      permission: endpoint.permission(kind).map { ($0, "\(uri)/\($0)") },
      assurance: endpoint.assurance(maximumAge: request.queryNumber("max_age")), rules: rules, now: now,
      countFrom: countFrom, signature: { keys.verdict($0, $1 == .ps256 ? .ps256 : .rs256) })
    if let refusal = decision.refusal(challengeParameters: challengeParameters) {
      // Some APIs answer 401 although RFC 6750 demands 403: on request.
      let status = request.queryNumber("status") == 401 ? 401 : refusal.status
      var answer = DemoAnswer(status: status, json: ["error": refusal.error])
      answer.fields.append(("www-authenticate", refusal.challenge))
      answer.note = refusal.error
      return answer
    }
    guard case .allowed(let token) = decision else { preconditionFailure("every other decision is a refusal") }
    let report = CallerReport(token, request, now: now)
    var answer = answer(endpoint, request, report)
    answer.note = "caller \(report.caller.user ?? report.caller.application ?? "?")"
    return answer
  }

  private func answer(_ endpoint: APIEndpoint, _ request: DemoRequest, _ report: CallerReport) -> DemoAnswer {
    switch endpoint {
    case .me, .drafts, .approval, .payout, .statement:
      return DemoAnswer(status: 200, json: report)
    case .list:
      let list = CallerReport.List(
        orders: kind == .orders ? [["id": "41", "item": "a towel"], ["id": "42", "item": "an answer"]] : nil,
        entries: kind == .ledger
          ? [["order": "41", "amount": "12.50 EUR"], ["order": "42", "amount": "42.00 EUR"]] : nil,
        caller: report.caller, token: report.token)
      return DemoAnswer(status: 200, json: list)
    case .ticks:
      let count = min(max(request.queryNumber("count") ?? 5, 0), 1000)
      let pause = min(max(request.queryNumber("pause_ms") ?? 300, 0), 10_000)
      return DemoAnswer(ticks: count, pause: .milliseconds(pause))
    case .upload:
      guard case .digest(let byteCount, let sha256) = request.body else {
        preconditionFailure("the server digests the content of uploads")
      }
      let digest = sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return DemoAnswer(status: 200, json: CallerReport.Upload(bytes: byteCount, sha256: digest))
    }
  }

  /// The path below the root; empty if it is not below it.
  private func local(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count)) : ""
  }
}

enum APIEndpoint: CaseIterable {
  /// The caller, as the API sees it.
  case me
  /// Orders, or entries of the ledger.
  case list
  /// Server-sent events: `count` of them, `pause_ms` apart.
  case ticks
  /// Orders that are not sent yet: for callers with the right to write them.
  case drafts
  /// The size and digest of the content that was sent.
  case upload
  /// A permission that neither the sample application nor a user's consent to the others includes.
  case approval
  /// Requires a sign-in with a second factor, as an authentication context of Entra's.
  case payout
  /// Requires a recent sign-in with a second factor, as RFC 9470 has it.
  case statement

  /// The endpoint of a method and a path below the API's root; nil: none.
  init?(method: String, path: String) {
    guard let found = Self.allCases.first(where: { $0.path == path && $0.methods.contains(method) }) else { return nil }
    self = found
  }

  var path: String {
    switch self {
    case .me: "/me"
    case .list: "/list"
    case .ticks: "/ticks"
    case .drafts: "/drafts"
    case .upload: "/uploads"
    case .approval: "/approvals"
    case .payout: "/payouts"
    case .statement: "/statements"
    }
  }

  var methods: [String] {
    switch self {
    case .me, .list, .ticks, .drafts, .statement: ["GET", "HEAD"]
    case .payout: ["GET", "HEAD", "POST"]
    case .upload: ["POST", "PUT"]
    case .approval: ["POST"]
    }
  }

  /// The app role, or delegated scope, that the caller's token must have; nil: any valid token is accepted.
  func permission(_ kind: SampleAPI.Kind) -> String? {
    switch (self, kind) {
    case (.me, _), (.payout, _), (.statement, _): nil
    case (.list, _), (.ticks, _): kind == .orders ? "Orders.Read" : "Ledger.Read"
    case (_, .ledger): "Ledger.Post"
    case (.approval, .orders): "Orders.Approve"
    case (.upload, .orders), (.drafts, .orders): "Orders.Write"
    }
  }

  /// The sign-in that a token must come from.
  func assurance(maximumAge: Int?) -> RequiredAssurance {
    switch self {
    case .me, .list, .ticks, .drafts, .upload, .approval: .any
    case .payout: .context("c1")
    case .statement: .recent(level: Authentication.twofold, seconds: Int64(max(maximumAge ?? 600, 0)))
    }
  }
}

/// The API's account of one request: facts of the token and the request, never the token.
struct CallerReport: Encodable {
  struct Caller: Encodable {
    /// `application`, or `user` if the token is delegated.
    var kind: String
    var user: String?
    var application: String?
    var object: String?
    var tenant: String?
    var roles: [String]?
    var scopes: [String]?
  }

  struct Token: Encodable {
    var issuer: String?
    var audience: [String]
    /// Equal for equal tokens.
    var identifier: String?
    var expires_in: Int64?
  }

  struct Request: Encodable {
    var method: String
    var path: String
    var query: String?
    var fields: [String: String]
  }

  struct List: Encodable {
    var orders: [[String: String]]?
    var entries: [[String: String]]?
    var caller: Caller
    var token: Token
  }

  struct Upload: Encodable {
    var bytes: UInt64
    var sha256: String
  }

  var caller: Caller
  var token: Token
  var request: Request

  /// The report of an accepted token and its request.
  init(_ jwt: SignedJWT, _ request: DemoRequest, now: UnixTime) {
    let claims = jwt.claims
    caller = Caller(
      kind: claims.scopes.isEmpty ? "application" : "user", user: AssuranceClaims(jwt).userName,
      application: claims.application, object: claims.object, tenant: claims.tenant,
      roles: claims.roles.isEmpty ? nil : claims.roles, scopes: claims.scopes.isEmpty ? nil : claims.scopes)
    token = Token(
      issuer: claims.issuer, audience: claims.audiences, identifier: claims.tokenIdentifier,
      expires_in: claims.expiresAt.map { $0 - now })
    let shown = request.fields.filter { $0.name != "authorization" && $0.name != "cookie" }
    self.request = Request(
      method: request.method, path: request.path, query: request.query.isEmpty ? nil : request.query,
      fields: Dictionary(shown.map { ($0.name, $0.value) }) { "\($0), \($1)" })
  }
}
