// OpenTelemetry's variables.

import Bytes
import HTTP
import Telemetry
import Testing
import Tokens

@testable import Configuration

@Suite struct TracingEnvironmentTests {
  private static let common = "OTEL_EXPORTER_OTLP_ENDPOINT"

  private static func read(_ more: [String: String] = [:]) -> TracingEnvironment {
    TracingEnvironment([common: "http://127.0.0.1:4318"].merging(more) { $1 })
  }

  /// Variables, and the endpoint of spans; nil if nothing is traced.
  static let endpoints: [([String: String], String?)] = [
    ([:], nil), ([common: ""], nil), (["OTEL_SERVICE_NAME": "x", "OTEL_TRACES_SAMPLER": "always_on"], nil),
    ([common: "http://c:4318"], "http://c:4318/v1/traces"), ([common: "http://c:4318/"], "http://c:4318/v1/traces"),
    ([common: "https://c/otlp?key=1"], "https://c/otlp/v1/traces?key=1"),
    ([common: " http://c "], "http://c/v1/traces"),
    (["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318"], "http://c:4318/"),
    (["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x", common: "http://c"], "http://t/x"),
    ([common: "http://c", "OTEL_SDK_DISABLED": "TRUE"], nil),
    ([common: "http://c", "OTEL_SDK_DISABLED": "false"], "http://c/v1/traces"),
    ([common: "http://c", "OTEL_TRACES_EXPORTER": "none"], nil),
    ([common: "http://c", "OTEL_TRACES_EXPORTER": "otlp"], "http://c/v1/traces"),
    ([common: "http://c", "OTEL_TRACES_EXPORTER": "console"], nil),
    ([common: "http://c", "OTEL_TRACES_EXPORTER": "console,otlp"], "http://c/v1/traces"),
    (["OTEL_TRACES_EXPORTER": "otlp"], nil), ([common: "c:4318"], nil), ([common: "http://user:pw@c"], nil),
  ]

  @Test(arguments: endpoints)
  func `traces are off without an endpoint`(variables: [String: String], url: String?) {
    let read = TracingEnvironment(variables)
    #expect(read.settings?.target.url.description == url)
    if url == nil { #expect(read.values == [ConfiguredValue("traces", "off", .standard)]) }
    // Some collectors take a key there.
    #expect(read.issues.allSatisfy { !$0.description.contains("pw") })
  }

  @Test func `without more, OpenTelemetry's defaults hold`() throws {
    let read = Self.read()
    let settings = try #require(read.settings)
    #expect(read.issues == [] && settings.rules.sampler == TraceSampler() && settings.rules.propagates)
    #expect(settings.target.timeout == .seconds(10) && settings.target.exportTimeout == .seconds(30))
    #expect(settings.target.scheduleDelay == .seconds(5) && settings.queueSize == 2048 && settings.batchSize == 512)
    #expect(settings.resource.map(\.value) == ["bearer-proxy"])
    #expect(settings.target.fields.isEmpty && settings.caFile == nil)
    #expect(read.values.first?.source == .variable(Self.common))
    #expect(read.values.dropFirst().allSatisfy { $0.source == .standard })
  }

  static let samplers: [(String?, String?, String, issues: Int)] = [
    ("always_on", nil, "always_on", 0), ("always_off", "0.5", "always_off", 0),
    ("traceidratio", "0.25", "traceidratio 0.25", 0), ("traceidratio", nil, "traceidratio 1.0", 0),
    ("parentbased_always_on", nil, "parentbased_always_on", 0),
    ("PARENTBASED_ALWAYS_OFF", nil, "parentbased_always_off", 0),
    ("parentbased_traceidratio", " 0 ", "parentbased_traceidratio 0.0", 0),
    ("traceidratio", "2", "traceidratio 1.0", 1), ("traceidratio", "-0.1", "traceidratio 1.0", 1),
    ("traceidratio", "nan", "traceidratio 1.0", 1), ("traceidratio", "half", "traceidratio 1.0", 1),
    ("jaeger_remote", nil, "parentbased_always_on", 1), ("", nil, "parentbased_always_on", 0),
    (nil, "0.1", "parentbased_always_on", 0),
  ]

  @Test(arguments: samplers)
  func `the sampler is what the variable says, or the default`(
    word: String?, argument: String?, expected: String, issues: Int
  ) {
    var variables: [String: String] = [:]
    variables["OTEL_TRACES_SAMPLER"] = word
    variables["OTEL_TRACES_SAMPLER_ARG"] = argument
    let read = Self.read(variables)
    #expect(read.settings?.rules.sampler.description == expected && read.issues.count == issues)
  }

  /// The text, the fields that are sent, and the entries that are not.
  static let headers: [(String, [String], issues: Int)] = [
    ("a=1", ["a: 1"], 0), ("A=1 , b = x%20y%2C ,", ["a: 1", "b: x y,"], 0),
    ("authorization=Basic%20a%3D%3D", ["authorization: Basic a=="], 0),
    ("a=b=c", ["a: b=c"], 0), ("a", [], 1), ("=1", [], 1), ("a b=1", [], 1), ("a=%0d%0aevil: 1", [], 1),
    ("a=%zz", [], 1),
    ("host=x,b=2", ["b: 2"], 1), ("Content-Length=0", [], 1), ("a=%C3%A9", [], 1), (" ", [], 0),
  ]

  @Test(arguments: headers)
  func `fields for the collector are read strictly and never shown`(text: String, fields: [String], issues: Int) {
    let read = Self.read(["OTEL_EXPORTER_OTLP_HEADERS": text])
    #expect(read.settings?.target.fields.map { "\($0.name): \($0.value.revealed())" } == fields)
    #expect(read.issues.count == issues)
    let shown = read.values.filter { $0.key.hasPrefix("traces.headers.") }
    #expect(shown.count == fields.count && shown.allSatisfy { $0.value == "[secret]" })
  }

  @Test func `variables for traces overrule those for all signals`() throws {
    let read = Self.read([
      "OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "100", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1500",
      "OTEL_EXPORTER_OTLP_CERTIFICATE": "/a", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": "/b",
      "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json",
    ])
    let settings = try #require(read.settings)
    #expect(settings.target.fields.map(\.name) == ["b"] && settings.target.timeout == .milliseconds(1500))
    #expect(settings.caFile?.value == "/b")
    #expect(read.issues == [])
    #expect(
      read.values.contains(ConfiguredValue("traces.timeout", "1500ms", .variable("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"))))
  }

  /// A variable and its value, and how the complaint about it begins.
  static let complaints: [(String, String, String)] = [
    (
      "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf",
      "is 'http/protobuf', but traces are sent as http/json all the same"
    ),
    ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "is 'grpc', but"),
    ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", "is 'gzip', but what is sent is not compressed"),
    ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "is '0', which is no whole number from 1 to 1000000; 2048 is used"),
    ("OTEL_BSP_SCHEDULE_DELAY", "5s", "is '5s', which is no whole number"),
    ("OTEL_EXPORTER_OTLP_TIMEOUT", "-1", "is '-1', which is no whole number from 1 to 600000; 10000 is used"),
    ("OTEL_PROPAGATORS", "b3,tracecontext", "names b3; only tracecontext"),
    ("OTEL_RESOURCE_ATTRIBUTES", "a", "has an entry that is not KEY=VALUE"),
    ("OTEL_TRACES_EXPORTER", "zipkin,otlp", "is 'zipkin,otlp'; only otlp"),
  ]

  @Test(arguments: complaints)
  func `an unsupported variable is reported once`(variable: String, value: String, reason: String) {
    let issues = Self.read([variable: value]).issues
    #expect(issues.count == 1 && issues.first?.variable == variable)
    #expect(issues.first?.reason.hasPrefix(reason) == true, "\(issues)")
  }

  @Test func `a secret is not sent in clear text without a word`() {
    func issues(_ endpoint: String, _ headers: String = "a=1") -> Int {
      Self.read([Self.common: endpoint, "OTEL_EXPORTER_OTLP_HEADERS": headers]).issues.count
    }
    #expect(issues("http://collector:4318") == 1 && issues("http://collector:4318", "") == 0)
    #expect(issues("https://collector") == 0 && issues("http://localhost:4318") == 0)
  }

  @Test func `the process has its name, and whatever else is said of it`() {
    func resource(_ variables: [String: String]) -> [String] {
      Self.read(variables).settings?.resource.map { "\($0.key)=\($0.value)" } ?? []
    }
    let attributes = "service.name=a,deployment.environment.name = t%20x"
    #expect(
      resource(["OTEL_RESOURCE_ATTRIBUTES": attributes]) == ["service.name=a", "deployment.environment.name=t x"])
    #expect(resource(["OTEL_RESOURCE_ATTRIBUTES": attributes, "OTEL_SERVICE_NAME": "b"]).first == "service.name=b")
  }

  @Test(arguments: [("none", false), ("tracecontext,baggage", true), ("baggage", false), ("b3", false), ("", true)])
  func `traces go on from callers if tracecontext is among the propagators`(propagators: String, expected: Bool) {
    #expect(Self.read(["OTEL_PROPAGATORS": propagators]).settings?.rules.propagates == expected)
  }

  @Test func `the collector is reached through the proxy that everything else is reached through`() {
    let proxies = ["HTTPS_PROXY": "http://out.example:3128", "NO_PROXY": "inside.example"]
    func proxy(_ endpoint: String) -> String? {
      Self.read(proxies.merging([Self.common: endpoint]) { $1 }).settings?.proxy?.description
    }
    #expect(proxy("https://collector.example") == "http://out.example:3128")
    #expect(proxy("https://inside.example") == nil && proxy("http://127.0.0.1:4318") == nil)
  }

  @Test func `a batch is no larger than the queue`() {
    let read = Self.read(["OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "200"])
    #expect(read.settings?.batchSize == 100)
  }
}
