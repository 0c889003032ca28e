// Everything that can go wrong on the way to a token, row by row: what callers get, what is repeated, how long the
// pause is.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite struct AcquisitionErrorTests {
  private static let notFound = ScriptedProvider.Answer.json(404, "")
  private static let stranger = ScriptedProvider.Answer.json(200, #"{"issuer": "https://evil.example"}"#)

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var metadata: [ScriptedProvider.Answer] = []
    var tokens: [ScriptedProvider.Answer] = []
    /// nil if the repetition succeeds.
    var expected: AcquisitionError?
    var naps: [Int64] = []
    var tokenRequests: Int { tokens.count + (expected == nil ? 1 : 0) }
    var testDescription: String { name }
  }

  private static func oauth(_ error: String, _ status: Int = 400) -> ScriptedProvider.Answer {
    .json(status, #"{"error": "\#(error)"}"#)
  }

  private static func plain(_ status: Int, _ words: String) -> TokenErrorReply {
    var reply = TokenErrorReply(error: "status \(status)", description: words)
    reply.isWithoutCode = true
    return reply
  }

  private static let refused = FetchError.unreachable(host: "id.example", port: 443, errno: 111)
  private static let closed = FetchError.closed(host: "id.example")
  private static let late = FetchError.timedOut(host: "id.example")
  private static let tls = FetchError.tls(host: "id.example", reason: "certificate has expired")

  private static let unknownTenant = TokenErrorReply(
    error: "invalid_tenant", codes: [90002], description: "AADSTS90002: Tenant 'x' not found.")

  @Test(
    arguments: [
      // Its prose begins with the code: it is said once.
      (unknownTenant, "invalid_tenant; AADSTS90002: Tenant 'x' not found."),
      (
        TokenErrorReply(error: "invalid_client", codes: [7_000_215, 7_000_222], description: "AADSTS7000215: Wrong."),
        "invalid_client; AADSTS7000222; AADSTS7000215: Wrong."
      ),
      (
        TokenErrorReply(error: "invalid_grant", suberror: "bad_token", codes: [50173], correlationID: "c-1"),
        "invalid_grant; bad_token; AADSTS50173; correlation id c-1"
      ),
    ] as [(TokenErrorReply, String)])
  func `a provider's codes and words are told, each once`(reply: TokenErrorReply, detail: String) {
    #expect(reply.detail == detail)
    let metadata = AcquisitionError(.metadata(status: 400, reply))
    #expect(metadata.detail == "metadata answered with status 400: \(detail)")
    #expect(AcquisitionError(.metadata(status: 404)).detail == "metadata answered with status 404")
  }

  static let rows: [Row] = [
    Row(name: "metadata unreachable", metadata: [.failure(refused)], expected: .unreached(refused)),
    Row(name: "metadata not trusted", metadata: [.failure(tls)], expected: .unreached(tls)),
    Row(name: "metadata late", metadata: [.failure(late)], expected: .unreached(late)),
    Row(name: "metadata connection died once", metadata: [.failure(closed)]),
    Row(
      name: "metadata connection died twice", metadata: [.failure(closed), .failure(closed)],
      expected: .unreached(closed)),
    Row(name: "metadata 503 once", metadata: [.json(503, "")], naps: [1]),
    Row(
      name: "metadata 503 with Retry-After", metadata: [.json(503, "", retryAfter: "9")],
      expected: .down(503, retryAfter: 9)),
    Row(name: "metadata 429", metadata: [.json(429, "")], expected: .down(429)),
    Row(
      name: "metadata 404", metadata: [notFound, notFound],
      expected: AcquisitionError(.metadata(status: 404), retryAfter: 60)),
    Row(
      name: "metadata of a tenant that is not there",
      metadata: [
        .json(
          400,
          #"{"error": "invalid_tenant", "error_description": "AADSTS90002: Tenant 'x' not found.", "error_codes": "#
            + #"[90002]}"#)
      ], expected: AcquisitionError(.metadata(status: 400, unknownTenant), retryAfter: 60)),
    Row(
      name: "metadata moved", metadata: [.json(302, "")],
      expected: AcquisitionError(.metadata(status: 302), retryAfter: 60)),
    Row(
      name: "metadata of a stranger", metadata: [stranger],
      expected: AcquisitionError(.document(.issuer(found: "https://evil.example")), retryAfter: 60)),
    Row(
      name: "metadata is a page", metadata: [.json(200, "<html>")],
      expected: AcquisitionError(.document(.notJSON), retryAfter: 60)),
    Row(name: "token unreachable", tokens: [.failure(refused)], expected: .unreached(refused)),
    Row(name: "token late", tokens: [.failure(late)], expected: .unreached(late)),
    Row(name: "token connection died once", tokens: [.failure(closed)]),
    Row(
      name: "token connection died twice", tokens: [.failure(closed), .failure(closed)], expected: .unreached(closed)),
    Row(name: "token 503 once", tokens: [.json(503, "busy")], naps: [1]),
    Row(name: "token 500 twice", tokens: [.json(500, ""), .json(502, "")], expected: .down(502), naps: [1]),
    Row(
      name: "token 503 with Retry-After", tokens: [.json(503, "", retryAfter: "120")],
      expected: .down(503, retryAfter: 120)),
    Row(
      name: "token 429 with a day", tokens: [.json(429, "", retryAfter: "86400")],
      expected: .down(429, retryAfter: 3600)),
    Row(
      name: "token 403 page", tokens: [.json(403, "<html>Stop</html>")],
      expected: .rejected(plain(403, "an answer without a content type without an OAuth error: 'Stop'"), retryAfter: 60)
    ),
    Row(
      name: "token 404 page with Retry-After", tokens: [.json(404, "", retryAfter: "5")],
      expected: .rejected(plain(404, "an empty answer without an OAuth error"), retryAfter: 5)),
    Row(name: "token 429 page", tokens: [.json(429, "<html>")], expected: .down(429)),
    Row(name: "token 200 without token", tokens: [.json(200, "{}")], expected: .down(200)),
    Row(name: "invalid_client", tokens: [oauth("invalid_client", 401)], expected: .rejected("invalid_client")),
    Row(
      name: "invalid_client with Retry-After", tokens: [.json(400, #"{"error": "invalid_client"}"#, retryAfter: "5")],
      expected: .rejected("invalid_client", retryAfter: 5)),
    Row(
      name: "unauthorized_client", tokens: [oauth("unauthorized_client")],
      expected: .rejected("unauthorized_client")),
    Row(name: "invalid_scope", tokens: [oauth("invalid_scope")], expected: .rejected("invalid_scope")),
    Row(name: "invalid_grant", tokens: [oauth("invalid_grant")], expected: .rejected("invalid_grant", retryAfter: 120)),
    Row(
      name: "an error with status 200", tokens: [oauth("invalid_resource", 200)],
      expected: .rejected("invalid_resource")),
    Row(name: "temporarily_unavailable", tokens: [oauth("temporarily_unavailable")], expected: .down(400)),
  ]

  @Test(arguments: rows)
  func `a failure has its answer, its pause and its repetition`(row: Row) async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.script(metadata: row.metadata, tokens: row.tokens)
    let result = await bench.result(subscription)
    #expect(result == (row.expected.map(Result.failure) ?? .success("token-1")))
    #expect(await bench.provider.forms.count == row.tokenRequests)
    #expect(await bench.naps.lengths == row.naps)
    guard let expected = row.expected else { return }

    // Until the pause is over nothing is sent; then the provider, well again, is asked.
    bench.clock.advance((expected.retryAfter ?? 1) - 1)
    #expect(await bench.result(subscription) == .failure(expected.retrying(after: 1)))
    #expect(await bench.provider.forms.count == row.tokenRequests)
    // The clock counts whole seconds: the pause of metadata, which has no jitter, may end a second later.
    bench.clock.advance(row.metadata.isEmpty ? 1 : 2)
    #expect(await bench.result(subscription) == .success("token-1"))
  }

  @Test(arguments: rows.filter { !$0.tokens.isEmpty })
  func `a held token outlives every failure`(row: Row) async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    let value = try await bench.broker.bearer(for: subscription)
    _ = try await bench.nextEvent()
    bench.clock.advance(3300)
    await bench.provider.script(metadata: row.metadata, tokens: row.tokens)
    #expect(try await bench.broker.bearer(for: subscription) === value)
    let event = try await bench.nextEvent()
    bench.clock.advance(299)
    #expect(value.isUsable(at: bench.clock.now))
    guard row.expected != nil else { return }
    let failure = try #require(event.failure)
    #expect(failure.servedUntil == value.lifetime.expiresAt)
    #expect(try await bench.broker.bearer(for: subscription) === value)
  }
}
