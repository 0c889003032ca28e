// The sample APIs: from a parsed request to its answer. Who gets in is `AccessDecision`'s.

package import Bytes
internal import HTTPServer
internal import FoundationEssentials
package import Platform
package import Tokens

/// An API that believes only tokens of its issuers, for itself, signed by keys it was given.
package struct SampleAPI: Sendable {
  /// Which API it is.
  package enum Kind: String, Sendable, CaseIterable {
    case orders, ledger
  }

  /// The path that its endpoints' paths begin with.
  let root: String
  private let kind: Kind
  private let rules: [JWTValidation]
  private let keys: [(key: JWK, verifier: RSAPublicKey)]
  private let challengeParameters: String
  private let uri: String
  private let countFrom: @Sendable (_ object: String) -> UnixTime?

  /// An API that trusts `issuers` and the keys they publish. `leeway` is how many seconds clocks may differ;
  /// `countFrom` tells since when tokens about a person count, where they do not all.
  package init(
    _ kind: Kind, issuers: [String], keySet: JWKSet, authorizationURI: String, leeway: Int64 = 60,
    countFrom: @escaping @Sendable (_ object: String) -> UnixTime? = { _ in nil }
  ) throws(CryptoError) {
    self.kind = kind
    self.countFrom = countFrom
    let sample = DemoDirectory.Sample.self
    let audiences: Set<String>
    switch kind {
    case .orders: (root, uri, audiences) = ("/api", sample.ordersURI, [sample.ordersAPI, sample.ordersURI])
    case .ledger: (root, uri, audiences) = ("/ledger", sample.ledgerURI, [sample.ledgerAPI, sample.ledgerURI])
    }
    rules = issuers.map { JWTValidation(issuer: $0, audiences: audiences, leeway: leeway) }
    var keys: [(JWK, RSAPublicKey)] = []
    for key in keySet.keys {
      keys.append((key, try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)))
    }
    self.keys = keys
    challengeParameters = "realm=\"\(kind.rawValue)\", authorization_uri=\"\(authorizationURI)\""
  }

  /// Whether a request's body is to be digested as it arrives instead of kept.
  func digestsBody(method: String, path: String) -> Bool {
    APIEndpoint(method: method, path: local(path)) == .upload
  }

  package func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    guard let endpoint = APIEndpoint(method: request.method, path: local(request.path)) else {
      return unknown(request)
    }
    let decision = AccessDecision(
      authorization: request["authorization"],
      permission: endpoint.permission(kind).map { ($0, "\(uri)/\($0)") },
      assurance: endpoint.assurance(maximumAge: request.queryNumber("max_age")), rules: rules, now: now,
      countFrom: countFrom, signature: verdict)
    if let refusal = decision.refusal(challengeParameters: challengeParameters) {
      // Some APIs say 401 where RFC 6750 says 403: to order.
      let status = request.queryNumber("status") == 401 ? 401 : refusal.status
      var answer = DemoAnswer(status: status, json: ["error": refusal.error])
      answer.fields.append(("www-authenticate", refusal.challenge))
      answer.note = refusal.error
      return answer
    }
    guard case .allowed(let token) = decision else { preconditionFailure("what is not refused is allowed") }
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
      return switch kind {
      case .orders: DemoAnswer(status: 200, json: OrderList(caller: report.caller, token: report.token))
      case .ledger: DemoAnswer(status: 200, json: EntryList(caller: report.caller, token: report.token))
      }
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
    let methods = APIEndpoint.methods(at: local(request.path))
    if methods.isEmpty { return DemoAnswer(status: 404, json: ["error": "there is nothing here"]) }
    var answer = DemoAnswer(status: 405, json: ["error": "the method is not one of this resource's"])
    answer.fields.append(("allow", methods.joined(separator: ", ")))
    return answer
  }

  /// The path below the root; empty where it is not below it.
  private func local(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count)) : ""
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

/// What the orders API's `list` answers.
private struct OrderList: Encodable {
  struct Order: Encodable {
    var id: Int
    var item: String
  }

  var orders = [Order(id: 41, item: "a towel"), Order(id: 42, item: "an answer")]
  var caller: CallerReport.Caller
  var token: CallerReport.Token
}

/// What the ledger API's `list` answers.
private struct EntryList: Encodable {
  struct Entry: Encodable {
    var order: Int
    var amount: String
  }

  var entries = [Entry(order: 41, amount: "12.50 EUR"), Entry(order: 42, amount: "42.00 EUR")]
  var caller: CallerReport.Caller
  var token: CallerReport.Token
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
