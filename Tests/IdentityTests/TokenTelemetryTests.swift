// Log records and metrics of acquisitions.

import Bytes
import Platform
import Telemetry
import Testing
import Tokens

@testable import Identity

@Suite struct TokenTelemetryTests {
  private final class Lines: Sendable {
    let bytes = Locked<[UInt8]>([])
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
  }

  /// The records of a first acquisition that fails so, of one that succeeds, and of a renewal that fails so.
  private func records(of answer: ScriptedProvider.Answer) async throws -> [Substring] {
    let lines = Lines()
    let log = Log(level: .info, format: .text, now: { WallTime(seconds: 0) }) { line in
      lines.bytes.withLock { $0 += line }
    }
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: [answer])
    _ = await bench.result(subscription)
    try await bench.nextEvent().write(to: log)
    bench.clock.advance(60)
    _ = await bench.result(subscription)
    try await bench.nextEvent().write(to: log)
    bench.clock.advance(3300)
    await bench.provider.script(tokens: [answer])
    _ = await bench.result(subscription)
    try await bench.nextEvent().write(to: log)
    return lines.text.split(separator: "\n")
  }

  @Test func `a refusal is an error with the provider's codes, a warning while a token serves`() async throws {
    let refusal = #"{"error": "invalid_client", "error_description": "AADSTS7000215: Bad", "correlation_id": "c-7"}"#
    let lines = try await records(of: .json(401, refusal))
    try #require(lines.count == 3)
    let detail = #"detail="invalid_client; AADSTS7000215: Bad; correlation id c-7" retry_after_s=60"#
    #expect(lines[0].contains(" error token not obtained application=demo authority=https://id.example/realms/demo"))
    #expect(lines[0].contains("reason=token-request-rejected \(detail)"))
    #expect(lines[1].contains(" info token obtained application=demo"))
    #expect(lines[1].contains("scopes=orders.read granted=orders.read expires_in_s=3600"))
    #expect(lines[2].contains(" warning token not renewed, the held one still serves application=demo"))
    #expect(lines[2].contains("\(detail) served_until=1700003660"))
    #expect(!lines.contains { $0.contains("token-1") || $0.contains("s3cret") })
  }

  @Test func `a provider that repeats the secret is not quoted`() async throws {
    let lines = try await records(
      of: .json(400, #"{"error": "invalid_client", "error_description": "secret s3cret is wrong"}"#))
    #expect(lines.filter { $0.contains("detail=\"invalid_client; the provider's words repeat a secret") }.count == 2)
    #expect(!lines.contains { $0.contains("s3cret") })
  }

  @Test func `acquisitions are counted by application, grant and result`() async throws {
    var catalog = MetricsCatalog()
    let metrics = TokenMetrics(&catalog, applications: ["demo", "other"])
    let registry = MetricsRegistry(catalog, writers: 1)
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: [.json(429, "", retryAfter: "5"), .json(400, #"{"error": "invalid_scope"}"#)])
    for _ in 0..<2 {
      _ = await bench.result(subscription)
      metrics.count(try await bench.nextEvent(), in: registry.shared)
      bench.clock.advance(5)
    }
    let text = String(decoding: registry.prometheusText(), as: UTF8.self)
    let name = "bearer_proxy_token_requests_total"
    #expect(text.contains(#"\#(name){application="demo",grant="client_credentials",result="transient"} 1"#))
    #expect(text.contains(#"\#(name){application="demo",grant="client_credentials",result="configuration"} 1"#))
    #expect(text.contains(#"\#(name){application="demo",grant="client_credentials",result="obtained"} 0"#))
    #expect(text.contains(#"\#(name){application="other",grant="client_credentials",result="transient"} 0"#))
    #expect(text.contains("bearer_proxy_token_request_duration_seconds_count 2"))
  }
}
