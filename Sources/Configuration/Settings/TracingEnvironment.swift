// OpenTelemetry's environment variables ("Environment Variable Specification" and "OTLP Exporter Configuration" of its
// specification): supported ones, refused ones. A mistake in them never stops the proxy.

internal import Bytes
internal import HTTP
internal import Telemetry
internal import Tokens

/// The variables of OpenTelemetry, read.
package struct TracingEnvironment: Sendable {
  package private(set) var settings: TracingSettings?
  /// Variables without effect.
  package private(set) var issues: [TracingIssue] = []
  /// The values in force and their sources, for `/config`.
  package private(set) var values: [ConfiguredValue] = []

  private let environment: [String: String]

  /// Reads an environment. Traces are off unless an endpoint is named.
  package init(_ environment: [String: String]) {
    self.environment = environment
    if let settings = endpoint() {
      self.settings = settings
      readTransport()
      readBatches()
      readSampler()
      readPropagators()
      readResource()
    } else {
      values = [ConfiguredValue("traces", "off", .standard)]
    }
  }

  // MARK: Exporter and endpoint

  private mutating func endpoint() -> TracingSettings? {
    if text("OTEL_SDK_DISABLED")?.lowercased() == "true" { return nil }
    let exporters = words("OTEL_TRACES_EXPORTER")
    if exporters == ["none"] { return nil }
    if !exporters.isEmpty, exporters != ["otlp"] {
      issue("OTEL_TRACES_EXPORTER", "is '\(exporters.joined(separator: ","))'; only otlp is supported")
      if !exporters.contains("otlp") { return nil }
    }
    let own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    let common = "OTEL_EXPORTER_OTLP_ENDPOINT"
    guard let variable = [own, common].first(where: { text($0) != nil }), let text = text(variable) else {
      if exporters.contains("otlp") {
        issue(
          "OTEL_TRACES_EXPORTER", "asks for traces, but OTEL_EXPORTER_OTLP_ENDPOINT does not say where to send them")
      }
      return nil
    }
    do throws(HTTPURLError) {
      var url = try HTTPURL(text)
      let query = url.target.firstIndex(of: "?") ?? url.target.endIndex
      var path = String(url.target[..<query])
      if variable == common { path += path.hasSuffix("/") ? "v1/traces" : "/v1/traces" }
      url.target = path + url.target[query...]
      // A query may hold a key.
      show("endpoint", url.origin + path, variable)
      return TracingSettings(endpoint: url, variable: variable)
    } catch {
      // The text is not repeated: some collectors take a key in it.
      issue(variable, "is no http:// or https:// URL without user information; traces stay off")
      return nil
    }
  }

  // MARK: How

  private mutating func readTransport() {
    if let (name, word) = first("PROTOCOL") {
      if word != "http/json" {
        issue(
          name,
          "is '\(word)', but traces are sent as http/json all the same: the endpoint has to be the collector's HTTP "
            + "receiver, by custom on port 4318")
      }
    }
    if let (name, word) = first("COMPRESSION"), word != "none" {
      issue(name, "is '\(word)', but what is sent is not compressed")
    }
    if let (name, text) = first("HEADERS") { readHeaders(text, name) }
    if let (name, path) = first("CERTIFICATE") {
      settings?.caFile = Self.located(path, name)
      show("ca_file", path, name)
    }
    if let (name, path) = first("CLIENT_CERTIFICATE"), let (keyName, keyPath) = first("CLIENT_KEY") {
      settings?.clientCertificate = CertificateFiles(
        certificateFile: Self.located(path, name), keyFile: Self.located(keyPath, keyName))
      show("certificate_file", path, name)
      show("key_file", keyPath, keyName)
    }
    let timeout = milliseconds(
      first("TIMEOUT")?.name ?? "OTEL_EXPORTER_OTLP_TIMEOUT", "timeout", in: 1...600_000, otherwise: 10_000)
    settings?.target.timeout = timeout
    let proxies = ProxyEnvironment(environment) { _, _ in }
    if let endpoint = settings?.target.url, let proxy = proxies.proxy(for: endpoint) {
      settings?.proxy = proxy
      values.append(
        ConfiguredValue("traces.proxy", proxy.description, proxy.variable.map { .variable($0) } ?? .standard))
    }
    if let settings, settings.target.url.scheme == .http, !settings.target.url.isLoopback,
      !settings.target.fields.isEmpty
    {
      issue(
        settings.endpointVariable, "is an http URL: the fields of OTEL_EXPORTER_OTLP_HEADERS go there in clear text")
    }
  }

  private mutating func readHeaders(_ text: String, _ variable: String) {
    for entry in text.split(separator: ",") where !entry.allSatisfy(\.isWhitespace) {
      guard let (key, value) = Self.pair(entry), FieldName.isName(key), !Self.ownFields.contains(key.lowercased()),
        value.allSatisfy({ (0x20...0x7E).contains($0) })
      else {
        issue(variable, "has an entry that is not NAME=VALUE with a field of one's own; it is left out")
        continue
      }
      settings?.target.fields.append((key.lowercased(), Secret(value)))
      show("headers.\(key.lowercased())", ConfiguredValue.hidden, variable)
    }
  }

  /// Fields that belong to the request itself.
  private static let ownFields: Set<String> = [
    "host", "content-length", "content-type", "connection", "transfer-encoding", "user-agent", "te", "upgrade",
  ]

  private mutating func readBatches() {
    let queueSize = number("OTEL_BSP_MAX_QUEUE_SIZE", in: 1...1_000_000, otherwise: 2048)
    let batchSize = min(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", in: 1...100_000, otherwise: 512), queueSize)
    show("queue_size", "\(queueSize)", "OTEL_BSP_MAX_QUEUE_SIZE")
    show("batch_size", "\(batchSize)", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
    let delay = milliseconds("OTEL_BSP_SCHEDULE_DELAY", "schedule_delay", in: 1...3_600_000, otherwise: 5000)
    let limit = milliseconds("OTEL_BSP_EXPORT_TIMEOUT", "export_timeout", in: 1...3_600_000, otherwise: 30_000)
    settings?.queueSize = queueSize
    settings?.batchSize = batchSize
    settings?.target.scheduleDelay = delay
    settings?.target.exportTimeout = limit
  }

  private mutating func readSampler() {
    let (name, argument) = ("OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG")
    var ratio = 1.0
    let word = text(name)?.lowercased() ?? "parentbased_always_on"
    let followsParent = word.hasPrefix("parentbased_")
    var sampler = TraceSampler()
    switch followsParent ? String(word.dropFirst(12)) : word {
    case "always_on": sampler = TraceSampler(.always, followsParent: followsParent)
    case "always_off": sampler = TraceSampler(.never, followsParent: followsParent)
    case "traceidratio":
      if let text = text(argument) {
        if let part = Double(text), (0...1).contains(part) {
          ratio = part
        } else {
          issue(argument, "is '\(text)', which is no part from 0 to 1; 1 is used")
        }
      }
      sampler = TraceSampler(.ratio(ratio), followsParent: followsParent)
    default: issue(name, "is '\(word)', which is not known here; parentbased_always_on is used")
    }
    settings?.rules.sampler = sampler
    show("sampler", sampler.description, name)
  }

  private mutating func readPropagators() {
    let name = "OTEL_PROPAGATORS"
    let known = words(name)
    let foreign = known.filter { !["tracecontext", "baggage", "none"].contains($0) }
    if !foreign.isEmpty { issue(name, "names \(foreign.joined(separator: ", ")); only tracecontext is supported") }
    settings?.rules.propagates = known.isEmpty || known.contains("tracecontext")
    show("propagators", settings?.rules.propagates == true ? "tracecontext" : "none", name)
  }

  private mutating func readResource() {
    var pairs: [(key: String, value: String)] = []
    var name = ("bearer-proxy", "")
    if let text = text("OTEL_RESOURCE_ATTRIBUTES") {
      for entry in text.split(separator: ",") where !entry.allSatisfy(\.isWhitespace) {
        guard let (key, value) = Self.pair(entry), !key.isEmpty else {
          issue("OTEL_RESOURCE_ATTRIBUTES", "has an entry that is not KEY=VALUE; it is left out")
          continue
        }
        let text = String(decoding: value, as: UTF8.self)
        if key == "service.name" { name = (text, "OTEL_RESOURCE_ATTRIBUTES") } else { pairs.append((key, text)) }
      }
    }
    if let text = text("OTEL_SERVICE_NAME") { name = (text, "OTEL_SERVICE_NAME") }
    settings?.resource = [("service.name", name.0)] + pairs
    show("resource.service.name", name.0, name.1)
    for pair in pairs { show("resource.\(pair.key)", pair.value, "OTEL_RESOURCE_ATTRIBUTES") }
  }

  // MARK: Values

  /// The variable's text; nil if it is empty, which counts as not set.
  private func text(_ name: String) -> String? {
    guard let text = environment[name]?.trimmed(\.isWhitespace), !text.isEmpty else { return nil }
    return String(text)
  }

  private func words(_ name: String) -> [String] {
    (text(name) ?? "").split(separator: ",").map { $0.trimmed(\.isWhitespace).lowercased() }.filter { !$0.isEmpty }
  }

  /// The variable for traces, else the one for everything.
  private func first(_ name: String) -> (name: String, text: String)? {
    for variable in ["OTEL_EXPORTER_OTLP_TRACES_\(name)", "OTEL_EXPORTER_OTLP_\(name)"] {
      if let text = text(variable) { return (variable, text) }
    }
    return nil
  }

  private mutating func number(_ name: String, in range: ClosedRange<Int>, otherwise standard: Int) -> Int {
    guard let text = text(name) else { return standard }
    guard let number = Int(text), range.contains(number) else {
      issue(
        name,
        "is '\(text)', which is no whole number from \(range.lowerBound) to \(range.upperBound); \(standard) is used")
      return standard
    }
    return number
  }

  private mutating func milliseconds(
    _ name: String, _ key: String, in range: ClosedRange<Int>, otherwise standard: Int
  ) -> TimeSpan {
    let duration = TimeSpan.milliseconds(UInt64(number(name, in: range, otherwise: standard)))
    show(key, durationText(duration), name)
    return duration
  }

  private static func located(_ path: String, _ variable: String) -> Located<String> {
    Located(path, place: .whole("environment"), key: variable)
  }

  private mutating func issue(_ variable: String, _ reason: String) {
    issues.append(TracingIssue(variable, reason))
  }

  private mutating func show(_ key: String, _ value: String, _ variable: String) {
    values.append(ConfiguredValue("traces.\(key)", value, text(variable) == nil ? .standard : .variable(variable)))
  }

  /// `KEY=VALUE` with a percent-encoded value, as in W3C Baggage.
  private static func pair(_ entry: Substring) -> (key: String, value: [UInt8])? {
    guard let equals = entry.firstIndex(of: "="),
      let value = PercentEncoding.decoded(entry[entry.index(after: equals)...].trimmed(\.isWhitespace).utf8),
      let key = PercentEncoding.decoded(entry[..<equals].trimmed(\.isWhitespace).utf8)
    else { return nil }
    return (String(decoding: key, as: UTF8.self), value)
  }
}
