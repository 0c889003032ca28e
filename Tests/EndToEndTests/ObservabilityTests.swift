// Dashboard and alerts use metrics that a proxy has: Prometheus' own tool checks the metrics, the rules and the
// dashboard's expressions.

import FoundationEssentials
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ObservabilityTests {
  private static let folder = testsDirectory + "/../deploy/observability/"

  private func promtool(_ words: [String], input: String = "/dev/null") async throws -> CommandResult {
    try await run(["/usr/bin/promtool"] + words, input: input)
  }

  /// A proxy with everything that has metrics, after some traffic.
  private func metrics() async throws -> String {
    let provider = try await OpenIDProvider()
    let upstream = try await PythonPeer("scripted_upstream.py")
    let proxy = try await ProxyUnderTest(
      environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(upstream.port)"],
      "cache: {file: cache.json}\n" + application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port))
    _ = try await eventually { try await proxy.get("/orders/seen").status == 200 }
    return try await proxy.admin("/metrics").body
  }

  @Test func `the alert rules are right, and fire when they should`() async throws {
    let checked = try await promtool(["check", "rules", "--lint-fatal", Self.folder + "rules.yaml"])
    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    let tested = try await promtool(["test", "rules", Self.folder + "rules_test.yaml"])
    #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
    // Each alert has a test in which it fires.
    let tests = try text("rules_test.yaml")
    let alerts = words(after: "- alert: ", in: try text("rules.yaml"))
    #expect(alerts.count > 5)
    for alert in alerts { #expect(tests.contains("alertname: \(alert)\n"), "\(alert)") }
  }

  @Test func `every expression of the dashboard is one`() async throws {
    let rules = try expressions().enumerated().map { index, expression in
      "      - record: expression:\(index)\n        expr: '\(Self.withoutVariables(expression))'\n"
    }
    let directory = try TemporaryDirectory()
    let file = try directory.write("groups:\n  - name: dashboard\n    rules:\n" + rules.joined(), to: "dashboard.yaml")
    let result = try await promtool(["check", "rules", file])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(rules.count > 20)
  }

  @Test
  func `promtool accepts the metrics, all that pages, rules and dashboard name are there, and ours are on it`()
    async throws
  {
    let metrics = try await metrics()
    let directory = try TemporaryDirectory()
    let lint = try await promtool(["check", "metrics"], input: try directory.write(metrics, to: "metrics.txt"))
    #expect(lint.status == 0 && lint.output + lint.errors == "", "\(lint.output)\(lint.errors)")
    let families = Set(words(after: "# TYPE ", in: metrics))
    let ours = families.filter { $0.hasPrefix("bearer_proxy_") }
    func family(_ name: String) -> String {
      for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) && !families.contains(name) {
        return String(name.dropLast(suffix.count))
      }
      return name
    }
    let shown = Set(try expressions().flatMap(Self.metricNames).map(family))
    #expect(shown.subtracting(families) == [])
    let pages = try await succeed(["git", "-C", testsDirectory + "/..", "ls-files", "*.md"]).split(separator: "\n")
    for page in pages.map({ testsDirectory + "/../\($0)" }) + [Self.folder + "rules.yaml"] {
      #expect(Set(Self.metricNames(textOfFile(page)).map(family)).subtracting(families) == [], "\(page)")
    }
    #expect(ours.subtracting(shown) == [])
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: Self.folder + name)), as: UTF8.self)
  }

  /// The word behind each occurrence of a prefix.
  private func words(after prefix: String, in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line -> String? in
      guard let found = line.firstRange(of: prefix) else { return nil }
      return line.suffix(from: found.upperBound).split(separator: " ").first.map(String.init)
    }
  }

  private struct Dashboard: Decodable {
    struct Panel: Decodable {
      struct Target: Decodable { var expr: String }
      var targets: [Target]?
    }
    var panels: [Panel]
  }

  private func expressions() throws -> [String] {
    try JSONDecoder().decode(Dashboard.self, from: Data(text("dashboard.json").utf8)).panels
      .flatMap { $0.targets ?? [] }.map(\.expr)
  }

  /// Grafana's variables as Prometheus would get them.
  private static func withoutVariables(_ expression: String) -> String {
    expression.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*").replacing(
      "$route", with: ".*")
  }

  private static func metricNames(_ text: String) -> [String] {
    text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init).filter { name in
      (name.hasPrefix("bearer_proxy_") || name.hasPrefix("process_")) && name != "bearer_proxy_"
    }
  }
}
