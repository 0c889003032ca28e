// Owns the sample API: from a parsed request to its answer. Who gets in is `AccessDecision`'s.

internal import FoundationEssentials
public import Network
public import Tokens

/// An orders API that believes only tokens of one issuer, for one audience, signed by keys it was given.
public struct SampleAPI: Sendable {
  private let rule: JWTValidation
  private let keys: [(key: JWK, verifier: RSAPublicKey)]
  private let challengeParameters: String

  /// An API that trusts `issuer` and the keys it publishes, and is meant by `audiences`. `leeway` is how many seconds
  /// clocks may differ.
  public init(
    issuer: String, keySet: JWKSet, audiences: Set<String>, authorizationURI: String, leeway: Int64 = 60
  ) throws(CryptoError) {
    rule = JWTValidation(issuer: issuer, audiences: audiences, leeway: leeway)
    var keys: [(JWK, RSAPublicKey)] = []
    for key in keySet.keys {
      keys.append((key, try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)))
    }
    self.keys = keys
    challengeParameters = "realm=\"orders\", authorization_uri=\"\(authorizationURI)\""
  }

  /// Whether a request's body is to be digested as it arrives instead of kept.
  func digestsBody(method: String, path: String) -> Bool {
    APIEndpoint(method: method, path: path) == .upload
  }

  /// The answer to a request at `now`.
  public func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    guard let endpoint = APIEndpoint(method: request.method, path: request.path) else {
      return unknown(request)
    }
    let decision = AccessDecision(
      authorization: request["authorization"], permission: endpoint.permission, rule: rule, now: now,
      signature: verdict)
    if let refusal = decision.refusal(challengeParameters: challengeParameters) {
      var answer = DemoAnswer(status: refusal.status, json: ["error": refusal.error])
      answer.fields.append(("www-authenticate", refusal.challenge))
      answer.note = refusal.error
      return answer
    }
    guard case .allowed(let claims) = decision else { preconditionFailure("what is not refused is allowed") }
    var answer = answer(endpoint, request, CallerReport(claims, request, now: now))
    answer.note = "caller \(claims.application ?? "?")"
    return answer
  }

  private func answer(_ endpoint: APIEndpoint, _ request: DemoRequest, _ report: CallerReport) -> DemoAnswer {
    switch endpoint {
    case .me, .approval:
      return DemoAnswer(status: 200, json: report)
    case .list:
      return DemoAnswer(status: 200, json: OrderList(orders: OrderList.sample, token: report.token))
    case .ticks:
      let count = min(max(request.queryNumber("count") ?? 5, 0), 1000)
      let pause = min(max(request.queryNumber("pause_ms") ?? 300, 0), 10_000)
      return DemoAnswer(ticks: count, pause: .milliseconds(pause))
    case .upload:
      guard case .digest(let byteCount, let sha256) = request.body else {
        preconditionFailure("the server digests what digestsBody names")
      }
      return DemoAnswer(status: 200, json: UploadReceipt(byteCount: byteCount, sha256: sha256))
    }
  }

  private func unknown(_ request: DemoRequest) -> DemoAnswer {
    let methods = APIEndpoint.methods(at: request.path)
    if methods.isEmpty { return DemoAnswer(status: 404, json: ["error": "there is nothing here"]) }
    var answer = DemoAnswer(status: 405, json: ["error": "the method is not one of this resource's"])
    answer.fields.append(("allow", methods.joined(separator: ", ")))
    return answer
  }

  private func verdict(_ token: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    let candidates = keys.filter { $0.key.fits(token.header) }
    if candidates.isEmpty { return .unknownKey }
    let scheme: RSASignatureAlgorithm =
      switch algorithm {
      case .rs256: .rs256
      case .ps256: .ps256
      }
    let isValid = candidates.contains { candidate in
      do throws(CryptoError) {
        return try candidate.verifier.verifies(token.signature.span, of: token.signingInput.span, scheme)
      } catch {
        return false
      }
    }
    return isValid ? .valid : .invalid
  }
}

/// What `list` answers.
private struct OrderList: Encodable {
  struct Order: Encodable {
    var id: Int
    var item: String
  }

  var orders: [Order]
  var token: CallerReport.Token

  static let sample = [Order(id: 41, item: "a towel"), Order(id: 42, item: "an answer")]
}

/// What `upload` answers.
private struct UploadReceipt: Encodable {
  var bytes: UInt64
  var sha256: String

  init(byteCount: UInt64, sha256: [UInt8]) {
    bytes = byteCount
    self.sha256 = sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
