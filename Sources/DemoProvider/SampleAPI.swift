// The sample APIs: who gets in, what the others are told (RFC 6750 §3.1, RFC 9470 §3, Entra's claims challenges), and
// the answers.

internal import Bytes
internal import HTTPServer
internal import Platform
internal import Tokens

/// An API that trusts only tokens of its issuers, for itself, signed by keys it was given.
struct SampleAPI: Sendable {
  enum Kind: String, CaseIterable {
    case orders = "/api"
    case ledger = "/ledger"
  }

  /// An operation: its path below the API's own, and what a token must show.
  private struct Operation {
    var path: String
    var methods = ["GET", "HEAD"]
    /// An app role or a delegated scope.
    var permission: [Kind: String] = [:]
    /// An authentication context: Entra's way to demand more.
    var context: String?
    /// Seconds since a sign-in with a second factor, at most: RFC 9470's way.
    var maximumAge: Int64?
  }

  private static let reading: [Kind: String] = [.orders: "Orders.Read", .ledger: "Ledger.Read"]
  private static let writing: [Kind: String] = [.orders: "Orders.Write", .ledger: "Ledger.Post"]
  private static let operations = [
    Operation(path: "/me"),
    Operation(path: "/list", permission: reading),
    Operation(path: "/ticks", permission: reading),
    Operation(path: "/drafts", permission: writing),
    Operation(path: "/uploads", methods: ["POST", "PUT"], permission: writing),
    Operation(path: "/approvals", methods: ["POST"], permission: [.orders: "Orders.Approve", .ledger: "Ledger.Post"]),
    Operation(path: "/payouts", methods: ["GET", "HEAD", "POST"], context: "c1"),
    Operation(path: "/statements", maximumAge: 600),
  ]

  let kind: Kind
  /// The API trusts its tenants.
  let provider: IdentityProvider

  /// True if a request's body is digested as it arrives instead of kept.
  func digests(_ request: DemoRequest) -> Bool { operation(request)?.path == "/uploads" }

  func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    guard let operation = operation(request) else {
      return DemoAnswer(["error": "there is nothing here"], status: 404)
    }
    do throws(DemoAnswer) {
      return answer(operation, request, try judge(request, operation, now: now), now: now)
    } catch {
      return error
    }
  }

  /// A refusal with a challenge. Nothing about an error if no credentials were sent (RFC 6750 §3.1).
  private func denial(
    _ error: String?, _ reason: String, _ parameters: String = "", status: Int = 401
  ) -> DemoAnswer {
    let words = (error.map { "\($0): " } ?? "") + reason
    let page = provider.origin + Endpoint.authorize.path(DemoDirectory.Sample.tenant)
    let challenge = "Bearer realm=\"\(kind)\", authorization_uri=\"\(page)\""
    return DemoAnswer(["error": words], status: status, note: words)
      .adding("www-authenticate", challenge + (error.map { ", error=\"\($0)\"" } ?? "") + parameters)
  }

  private func invalid(_ reason: String) -> DemoAnswer {
    denial("invalid_token", reason, ", error_description=\"\(reason)\"")
  }

  /// The token must be replaced by one with this claim.
  private func insufficient(_ name: String, _ value: String) -> DemoAnswer {
    let claims = ClaimsAsked.demand(name, value)
    return denial("insufficient_claims", claims, ", claims=\"\(Base64.encode(Array(claims.utf8)))\"")
  }

  private func operation(_ request: DemoRequest) -> Operation? {
    Self.operations.first { request.path == kind.rawValue + $0.path && $0.methods.contains(request.method) }
  }

  /// The token of a request that is allowed.
  private func judge(_ request: DemoRequest, _ operation: Operation, now: UnixTime) throws(DemoAnswer) -> SignedJWT {
    let field = request[field: "authorization"] ?? ""
    guard field.lowercased().hasPrefix("bearer ") else { throw denial(nil, "a bearer token is needed") }
    let api = provider.directory.apis.first { $0.uri == "api://\(kind)" } ?? API.openID
    let token: SignedJWT
    do throws(JWTRefusal) {
      token = try provider.accept(
        field.dropFirst("bearer ".count), of: provider.directory.tenants, for: [api.client, api.uri], now: now)
    } catch {
      switch error {
      case .audience: throw invalid("the token is for another audience")
      case .expired(let time): throw invalid("the token expired \(now - time) seconds ago")
      default: throw invalid("the token is no valid JWT of the issuer")
      }
    }
    let (claims, members) = (token.claims, token.members(1))
    // Only an application that can answer a demand for claims is told which; another one is not asked to try.
    let isCapable = (members["xms_cc"]?.texts ?? []).contains { $0.lowercased() == "cp1" }
    if let since = claims.object.flatMap(provider.tokensCountFrom), claims.notBefore ?? since - 1 < since {
      throw isCapable ? insufficient("nbf", "\(since.seconds)") : invalid("the token was revoked")
    }
    if let permission = operation.permission[kind], !(claims.roles + claims.scopes).contains(permission) {
      throw denial(
        "insufficient_scope", "\(permission) is needed", ", scope=\"\(api.uri)/\(permission)\"", status: 403)
    }
    if let context = operation.context, members["acrs"]?.texts.contains(context) != true {
      throw isCapable
        ? insufficient("acrs", context)
        : denial("insufficient_claims", "the application has no capability cp1", status: 403)
    }
    if let limit = operation.maximumAge {
      let (level, age) = (Authentication.twofold, claims.authenticatedAt.map { now - $0 } ?? .max)
      guard members["acr"]?.text == level, age <= limit else {
        let description = "error_description=\"a more recent or stronger sign-in is needed\""
        throw denial(
          "insufficient_user_authentication", "\(level), at most \(limit) seconds old",
          ", \(description), acr_values=\"\(level)\", max_age=\"\(limit)\"")
      }
    }
    return token
  }

  private func answer(
    _ operation: Operation, _ request: DemoRequest, _ token: SignedJWT, now: UnixTime
  ) -> DemoAnswer {
    let claims = token.claims
    let user = token.members(1)["preferred_username"]?.text
    // Facts of the token and the request, never the token.
    var document: Members = [
      "caller": JSONValue([
        "kind": claims.scopes.isEmpty ? "application" : "user", "user": user, "application": claims.application,
        "object": claims.object, "tenant": claims.tenant, "roles": claims.roles.nonEmpty,
        "scopes": claims.scopes.nonEmpty,
      ]),
      "token": JSONValue([
        "issuer": claims.issuer, "audience": claims.audiences, "identifier": claims.tokenIdentifier,
        "expires_in": claims.expiresAt.map { $0 - now },
      ]),
    ]
    let note = "caller \(user ?? claims.application ?? "?")"
    switch operation.path {
    case "/list" where kind == .orders:
      document["orders"] = [["id": "41", "item": "a towel"], ["id": "42", "item": "an answer"]].map(JSONValue.init)
    case "/list":
      document["entries"] = [["order": "41", "amount": "12.50 EUR"], ["order": "42", "amount": "42.00 EUR"]]
        .map(JSONValue.init)
    case "/ticks":
      let count = min(max(request.number("count") ?? 5, 0), 1000)
      let pause = min(max(request.number("pause_ms") ?? 300, 0), 10_000)
      let fields = [(name: "content-type", value: "text/event-stream"), ("cache-control", "no-store")]
      let ticks = ServerResponse.Content.paced(count: count, pause: .milliseconds(pause)) {
        Array("id: \($0 + 1)\ndata: {\"tick\": \($0 + 1)}\n\n".utf8)
      }
      return DemoAnswer(response: ServerResponse(status: 200, fields: fields, content: ticks), note: note)
    case "/uploads":
      guard case .digest(let byteCount, let sha256) = request.body else {
        preconditionFailure("the server digests the content of uploads")
      }
      let digits = sha256.flatMap { [$0 >> 4, $0 & 15].map(ASCII.hexadecimalDigit) }
      document = ["bytes": Int64(byteCount), "sha256": String(decoding: digits, as: UTF8.self)]
    default:
      let shown = request.fields.filter { $0.name != "authorization" && $0.name != "cookie" }
      let fields = Dictionary(shown.map { ($0.name, $0.value) }) { "\($0), \($1)" }
      document["request"] = JSONValue([
        "method": request.method, "path": request.path, "fields": JSONValue(fields),
        "query": request.query.isEmpty ? nil : request.query,
      ])
    }
    return DemoAnswer(document, note: note)
  }
}
