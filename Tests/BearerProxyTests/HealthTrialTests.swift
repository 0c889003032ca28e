import Bytes
import HTTP
import HTTPClient
import Identity
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct HealthTrialTests {
  private static func url(_ text: String) throws -> HTTPURL { try HTTPURL(text) }

  private static let token = BearerValue(
    Secret("t0ken"),
    lifetime: TokenLifetime(obtainedAt: UnixTime(0), refreshAt: UnixTime(1), expiresAt: UnixTime(2)), scopes: .none)

  @Test(
    arguments: [
      ("https://h/", true), ("https://h/grpc.health.v1.Health/", true), ("https://h/orders.Orders/", false),
      ("https://h/grpc/", false),
    ])
  func `the health is asked for at the root, with the token of a route that has it`(
    upstream: String, hasToken: Bool
  ) throws {
    let trial = HealthTrial(try Self.url(upstream), Self.token)
    #expect("\(trial.request.url)" == "https://h/grpc.health.v1.Health/Check")
    #expect(trial.request.fields.contains { $0.name == "authorization" && $0.value == "Bearer t0ken" } == hasToken)
    #expect(trial.hasToken == hasToken)
    #expect(trial.request.method == .post(contentType: "application/grpc", body: [0, 0, 0, 0, 0]))
  }

  private static let grpc = ("content-type", "application/grpc")

  @Test(
    arguments: [
      ([grpc, ("grpc-status", "0")], [0, 0, 0, 0, 2, 8, 1], "ok", "the server says SERVING"),
      ([grpc, ("grpc-status", "0")], [0, 0, 0, 0, 2, 8, 2], "failed", "the server says NOT_SERVING"),
      ([grpc, ("grpc-status", "0")], [0, 0, 0, 0, 0], "failed", "the server says UNKNOWN"),
      ([grpc, ("grpc-status", "0")], [0, 0, 0, 0, 2, 8, 9], "failed", "none of grpc.health.v1: 9"),
      ([grpc, ("grpc-status", "0")], [], "failed", "none of grpc.health.v1: no message"),
      ([grpc, ("grpc-status", "0")], [0, 0, 0, 0, 2, 10, 1], "failed", "no message"),
      ([grpc, ("grpc-status", "12")], [], "skipped", "UNIMPLEMENTED"),
      ([grpc, ("grpc-status", "5")], [], "skipped", "NOT_FOUND"),
      ([grpc, ("grpc-status", "16")], [], "skipped", "without the token here, is answered with UNAUTHENTICATED"),
      ([grpc, ("grpc-status", "14")], [], "failed", "grpc-status 14"), ([grpc], [], "failed", "grpc-status (none)"),
      ([("content-type", "text/html")], [], nil, ""), ([], [], nil, ""),
    ] as [([(String, String)], [UInt8], String?, String)])
  func `an answer is the server's health, or that it does not tell`(
    fields: [(String, String)], body: [UInt8], verdict: String?, words: String
  ) throws {
    let trial = HealthTrial(try Self.url("https://h/orders/"), Self.token)
    let step = trial.step(FetchResponse(status: 200, fields: fields, body: body))
    #expect(step?.verdict.rawValue == verdict)
    #expect(step?.detail.contains(words) ?? true, "\(step?.detail ?? "")")
    #expect((step?.advice != nil) == (verdict == "failed" && !words.contains("none of") && words != "no message"))
  }

  @Test func `a token that the health service refuses is a failure, and an answer of HTTP alone is none`() throws {
    let trial = HealthTrial(try Self.url("https://h/"), Self.token)
    let refusal = trial.step(FetchResponse(status: 200, fields: [Self.grpc, ("grpc-status", "16")]))
    #expect(refusal?.verdict == .failed && refusal?.advice != nil)
    #expect(trial.step(FetchResponse(status: 404, fields: [Self.grpc])) == nil)
  }
}
