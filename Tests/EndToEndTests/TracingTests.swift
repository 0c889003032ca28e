// Traces from a caller through the proxy to an upstream, as a collector reads them, and a collector that is slow, away
// or out of sorts.

import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct TracingTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let caller = "00f067aa0ba902b7"
  private let upstream: PythonPeer

  init() async throws {
    upstream = try await PythonPeer("scripted_upstream.py")
  }

  private func proxy(_ environment: [String: String], _ body: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      environment: environment,
      body.isEmpty
        ? "routes: [{name: all, path: /, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}]" : body)
  }

  private static func traceparent(_ flags: String) -> [String] {
    ["-H", "traceparent: 00-\(trace)-\(caller)-\(flags)"]
  }

  /// The field that the upstream of `/seen` got.
  private func sent(_ answer: Answer, _ name: String) -> String? {
    answer.body.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.utf8.count + 2)) }
  }

  @Test func `a trace goes from the caller to the upstream, with the wait for a token and its repetition in it`()
    async throws
  {
    let authority = try await CertificateAuthority()
    let collector = try await TraceCollector(https: authority.issue("collector"))
    let provider = try await OpenIDProvider()
    var environment = collector.environment
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "https://127.0.0.1:\(collector.port)/"
    environment["OTEL_EXPORTER_OTLP_CERTIFICATE"] = authority.file
    environment["OTEL_SERVICE_NAME"] = "sidecar"
    environment["OTEL_RESOURCE_ATTRIBUTES"] = "deployment.environment.name=test,team=a%2Cb"
    environment["OTEL_EXPORTER_OTLP_HEADERS"] = "x-api-key=k%20ey-77"
    let proxy = try await proxy(
      environment, application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port))
    _ = try await eventually { try await proxy.admin("/readyz").status == 200 }
    let answer = try await proxy.get(
      "/orders/refuse-once?code=hidden-1",
      Self.traceparent("01") + ["-H", "tracestate: a=1,b@c=2", "-H", "X-Request-ID: traced-1"])
    #expect(answer.status == 200)
    #expect(try await eventually { collector.spans.contains { $0.kind == 2 } })
    let request = try #require(collector.requests.first)
    #expect(request.path == "/v1/traces" && request.headers["x-api-key"] == "k ey-77")
    #expect(request.resource["service.name"] == "sidecar" && request.resource["team"] == "a,b")
    #expect(request.resource["deployment.environment.name"] == "test" && request.resource["service.instance.id"] != nil)
    let spans = collector.spans
    #expect(spans.allSatisfy { $0.trace == Self.trace && $0.flags & 1 == 1 })

    let server = try #require(spans.first { $0.kind == 2 })
    #expect(server.parent == Self.caller && server.flags & 0x300 == 0x300 && server.state == "a=1,b@c=2")
    #expect(server.name == "GET /orders/" && !server.failed)
    let told = [
      "http.request.method": "GET", "url.path": "/orders/refuse-once", "http.route": "/orders/",
      "bearer_proxy.route": "orders", "url.scheme": "http",
      "http.response.status_code": "200", "server.address": "127.0.0.1", "server.port": "\(proxy.port)",
      "client.address": "127.0.0.1", "bearer_proxy.request_id": "traced-1",
    ]
    for (key, value) in told { #expect(server.attributes[key] == value, "\(key)") }

    let attempts = spans.filter { $0.kind == 3 && $0.parent == server.id }.sorted { $0.start < $1.start }
    #expect(attempts.map { $0.attributes["http.response.status_code"] } == ["401", "200"])
    #expect(attempts.map { $0.attributes["http.request.resend_count"] } == [nil, "1"])
    #expect(attempts.map(\.failed) == [true, false])
    #expect(attempts.first?.attributes["url.full"] == "http://127.0.0.1:\(upstream.port)/refuse-once")
    // The upstream was told of the attempt's span.
    #expect(sent(answer, "traceparent") == attempts.last.map { "00-\(Self.trace)-\($0.id)-01" })
    #expect(sent(answer, "tracestate") == "a=1,b@c=2")

    let token = try #require(spans.first { $0.kind == 1 })
    #expect(token.parent == server.id && token.attributes["bearer_proxy.application"] == "contoso")
    #expect(token.attributes["bearer_proxy.token.source"] == "identity_provider")
    #expect(token.attributes["bearer_proxy.token.rejection"] == "invalid_token")
    let asked = try #require(spans.first { $0.parent == token.id })
    #expect(asked.kind == 3 && asked.name == "POST" && asked.attributes["http.response.status_code"] == "200")
    #expect(asked.attributes["url.full"]?.hasSuffix("/token") == true)
    for span in spans where span.id != server.id {
      #expect(server.start <= span.start && span.end <= server.end + 1_000_000)
    }

    // A token that is held already makes no span.
    let warm = try await proxy.get("/orders/seen")
    let id = sent(warm, "traceparent").map { String($0.dropFirst(3).prefix(32)) }
    #expect(try await eventually { collector.spans.contains { $0.trace == id && $0.kind == 2 } })
    #expect(collector.spans.filter { $0.trace == id }.map(\.kind).sorted() == [2, 3])
    #expect(collector.requests.allSatisfy { $0.problem == nil }, "\(collector.requests.compactMap(\.problem))")
    let everything = collector.process.output
    for hidden in ["hidden-1", OpenIDProvider.secret, "Bearer "] { #expect(!everything.contains(hidden)) }
    // The key of the collector is shown nowhere.
    let configuration = try await proxy.admin("/config").body
    #expect(configuration.contains("traces.headers.x-api-key: [secret]") && !configuration.contains("ey-77"))
    #expect(!proxy.everythingWritten.contains("ey-77"))
    #expect(configuration.contains("# environment OTEL_EXPORTER_OTLP_HEADERS"))
    #expect(configuration.contains("traces.endpoint: https://127.0.0.1:\(collector.port)/v1/traces"))
    let exported = "bearer_proxy_trace_spans_total"
    #expect(try await eventually { try await metricSum(proxy, exported, "exported") == collector.spans.count })
  }

  @Test func `the proxy's own answers have a reason, and a caller's mistake is no error of the span`()
    async throws
  {
    let collector = try await TraceCollector()
    let proxy = try await proxy(
      collector.environment,
      application("http://127.0.0.1:\(try freePort())") + "routes:\n" + route("orders", to: upstream.port)
        + "  - {name: dead, path: /dead/, upstream: \"http://127.0.0.1:\(try freePort())/\", token: none}\n")
    // Spans are sent in order: one of this request, which its caller does not sample, would be the first.
    #expect(try await proxy.get("/nowhere", Self.traceparent("00")).status == 404)
    for (path, status) in [("/nowhere", 404), ("/dead/x", 502), ("/orders/x", 503)] {
      #expect(try await proxy.get(path).status == status)
    }
    #expect(try await eventually { collector.spans.count { $0.kind == 2 } == 3 })
    #expect(collector.spans.allSatisfy { $0.trace != Self.trace })
    func server(_ path: String) -> TraceCollector.Span? {
      collector.spans.first { $0.kind == 2 && $0.attributes["url.path"] == path }
    }
    let unrouted = server("/nowhere")
    #expect(unrouted?.name == "GET" && unrouted?.failed == false && unrouted?.attributes["http.route"] == nil)
    #expect(unrouted?.attributes["error.type"] == "no-route")
    let dead = server("/dead/x")
    #expect(dead?.failed == true && dead?.attributes["http.response.status_code"] == "502")
    let attempt = collector.spans.first { $0.parent == dead?.id }
    #expect(attempt?.kind == 3 && attempt?.failed == true)
    #expect(attempt?.attributes["error.type"] == "connection_refused")
    #expect(attempt?.attributes["http.response.status_code"] == nil)
    let waiting = collector.spans.first { $0.parent == server("/orders/x")?.id }
    #expect(server("/orders/x")?.failed == true && waiting?.kind == 1 && waiting?.failed == true)
    #expect(waiting?.attributes["error.type"] == "identity-provider-unavailable")
    #expect(waiting?.attributes["bearer_proxy.token.source"] == nil)
  }

  @Test func `a trace that is not propagated begins and ends here, and a setting that is not followed is reported`()
    async throws
  {
    let collector = try await TraceCollector()
    var environment = collector.environment
    environment["OTEL_PROPAGATORS"] = "none"
    environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc"
    let proxy = try await proxy(environment)
    let words = "is 'grpc', but traces are sent as http/json"
    #expect(try await eventually { proxy.process.errors.contains(words) })
    let check = try await proxy.command(["check"])
    let told = check.output + check.errors
    #expect(check.status == 0 && told.contains("warning: OTEL_EXPORTER_OTLP_PROTOCOL \(words)"), "\(told)")
    let answer = try await proxy.get("/seen", Self.traceparent("01") + ["-H", "tracestate: a=1"])
    #expect(sent(answer, "traceparent") == nil && sent(answer, "tracestate") == nil)
    #expect(try await eventually { collector.spans.count == 2 })
    #expect(collector.spans.allSatisfy { $0.trace != Self.trace })
  }

  @Test
  func `a collector that does not answer holds up neither requests nor the end, and no more than the queue waits`()
    async throws
  {
    let collector = try await TraceCollector(answers: #"[{"delay": 600, "times": 9}]"#)
    var environment = collector.environment
    environment["OTEL_BSP_MAX_QUEUE_SIZE"] = "8"
    // A wait for the collector would last longer than this test.
    for name in ["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_BSP_EXPORT_TIMEOUT"] { environment[name] = "600000" }
    let proxy = try await proxy(
      environment,
      """
      shutdown: {limit: 2s}
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
      """)
    let connection = try RawConnection(port: proxy.port, patience: 120)
    for number in 1...50 {
      try await connection.send("GET /seen HTTP/1.1\r\nHost: 127.0.0.1:\(proxy.port)\r\nX-N: \(number)\r\n\r\n")
      let answer = try await connection.receive { $0.contains("X-N: \(number)\r\n") && $0.hasSuffix("\r\n\r\n") }
      #expect(answer.contains("X-N: \(number)\r\n"))
    }
    #expect(try await eventually { try await metricSum(proxy, "bearer_proxy_trace_spans_total", "dropped") > 0 })
    #expect(proxy.process.errors.contains("more spans than OTEL_BSP_MAX_QUEUE_SIZE wait"))
    #expect(try await proxy.process.end(within: .seconds(120)) == 0)
  }
}
