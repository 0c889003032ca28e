// The proxy's own answers: status and kind of every failure, and what they must not say.

import FoundationEssentials
import HTTP
import HTTPClient
@testable import Identity
@testable import Network
import Testing
import Tokens

@testable import Proxy

@Suite struct ProblemDocumentTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var failure: ExchangeFailure
    var status: Int
    var kind: String
    var retryAfter: Int64?
    var testDescription: String { "\(failure)" }
  }

  /// Stands where addresses and the provider's prose could be.
  private static let private_ = "10.1.2.3-private.example"
  private static let unresolved = ResolveError(host: private_, reason: "Name or service not known")
  private static let reply = TokenErrorReply(
    error: "invalid_client", codes: [7_000_215], description: private_, correlationID: private_)

  private static let rows = [
    Row(failure: .head(.requestLine), status: 400, kind: "bad-request"),
    Row(failure: .head(.hostMissing), status: 400, kind: "bad-request"),
    Row(failure: .head(.targetTooLong), status: 414, kind: "target-too-long"),
    Row(failure: .head(.headTooLarge), status: 431, kind: "head-too-large"),
    Row(failure: .head(.field(.tooMany)), status: 431, kind: "head-too-large"),
    Row(failure: .head(.versionUnsupported), status: 505, kind: "version-not-supported"),
    Row(failure: .headStalled, status: 408, kind: "request-timeout"),
    Row(failure: .framing(.bothLengths), status: 400, kind: "bad-request"),
    Row(failure: .framing(.transferCodingUnknown), status: 501, kind: "bad-request"),
    Row(failure: .path(.climbsAboveRoot), status: 400, kind: "bad-path"),
    Row(failure: .methodRefused, status: 501, kind: "method-not-supported"),
    Row(failure: .targetRefused, status: 400, kind: "bad-request"),
    Row(failure: .expectation, status: 417, kind: "expectation-failed"),
    Row(failure: .caller(.unknownHost), status: 421, kind: "unknown-host"),
    Row(failure: .caller(.crossSite), status: 403, kind: "cross-site-request"),
    Row(failure: .noRoute, status: 404, kind: "no-route"),
    Row(failure: .methodNotAllowed, status: 405, kind: "method-not-allowed"),
    Row(failure: .tooLarge, status: 413, kind: "content-too-large"),
    Row(failure: .content, status: 400, kind: "bad-request"),
    Row(failure: .contentCut, status: 400, kind: "bad-request"),
    Row(failure: .contentStalled, status: 408, kind: "request-timeout"),
    Row(failure: .contentTooSlow, status: 408, kind: "request-timeout"),
    Row(
      failure: .token(.providerUnavailable(.unreached(.closed(host: private_)), retryAfter: 7)), status: 503,
      kind: "identity-provider-unavailable", retryAfter: 7),
    Row(
      failure: .token(.cacheUnavailable(retryAfter: 2)), status: 503, kind: "token-cache-unavailable", retryAfter: 2),
    Row(failure: .token(.rejected(reply, retryAfter: 60)), status: 502, kind: "token-request-rejected"),
    Row(
      failure: .token(.unusableMetadata(.document(.issuer(found: private_)), retryAfter: 60)), status: 502,
      kind: "authority-unusable"),
    Row(failure: .unreachable(.timedOut), status: 504, kind: "upstream-timeout"),
    Row(failure: .unreachable(.connect(.unresolved(unresolved))), status: 502, kind: "upstream-unreachable"),
    Row(
      failure: .unreachable(.connect(.refused(SystemError("connect", 111)))), status: 502, kind: "upstream-unreachable"),
    Row(failure: .unreachable(.connect(.forbiddenAddress)), status: 502, kind: "upstream-unreachable"),
    Row(failure: .unreachable(.tls(.truncated)), status: 502, kind: "upstream-unreachable"),
    Row(failure: .upstreamClosed, status: 502, kind: "upstream-closed"),
    Row(failure: .upstreamMalformed, status: 502, kind: "upstream-malformed"),
    Row(failure: .upstreamStalled, status: 504, kind: "upstream-timeout"),
    Row(failure: .exchangeTimedOut, status: 504, kind: "exchange-timeout"),
  ]

  private struct Document: Decodable {
    var type: String
    var title: String
    var status: Int
    var detail: String
    var route: String?
    var requestID: String?

    enum CodingKeys: String, CodingKey {
      case type, title, status, detail, route
      case requestID = "request_id"
    }
  }

  @Test(arguments: rows) func `each failure has one answer, which names no address and no host`(row: Row) throws {
    let problem = ProblemDocument(row.failure)
    #expect(problem.status == row.status)
    #expect(problem.retryAfter == row.retryAfter)
    let json = problem.json(route: "orders", requestID: "abc")
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.type == "urn:bearer-proxy:problem:\(row.kind)")
    #expect(document.status == row.status)
    #expect(document.route == "orders")
    #expect(document.requestID == "abc")
    #expect(!document.title.isEmpty)
    #expect(document.detail.hasSuffix("."))
    #expect(!String(decoding: json, as: UTF8.self).contains(Self.private_))
  }

  @Test func `texts from configuration and callers cannot break out of the JSON`() throws {
    let hostile = "a\"b\\c\u{0}\n\u{1F}\u{2028}é"
    let json = ProblemDocument(.noRoute).json(route: hostile, requestID: hostile)
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.route == hostile)
    #expect(document.requestID == hostile)
    #expect(json.last == UInt8(ascii: "\n"))
    #expect(json.dropLast().allSatisfy { $0 >= 0x20 })
  }

  @Test func `what is not known is left out`() throws {
    let json = ProblemDocument(.headStalled).json(route: "", requestID: "")
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.route == nil)
    #expect(document.requestID == nil)
  }
}
