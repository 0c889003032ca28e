// The step from OpenTelemetry's variables to what traces requests and sends the spans. It lasts as long as the process:
// variables do not change.

import Configuration
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import Proxy
import Telemetry
import Tokens

/// The tracing of a process's requests, if there is any.
struct Tracing {
  let environment: TracingEnvironment
  /// Settings without effect, the files of the collector's TLS included.
  private(set) var issues: [TracingIssue]
  private var tls: TLSContext?
  private let settings: TracingSettings?

  /// Reads an environment, and the files that it names. A mistake is no reason not to serve.
  init(_ variables: [String: String]) {
    environment = TracingEnvironment(variables)
    issues = environment.issues
    guard let settings = environment.settings, settings.target.url.scheme == .https else {
      self.settings = environment.settings
      return
    }
    do throws(TLSConfigurationError) {
      tls = try TLSContext.client(
        trustPath: settings.caFile?.value, identity: settings.clientCertificate.map { TLSIdentity($0) })
      self.settings = settings
    } catch {
      issues.append(
        TracingIssue(settings.endpointVariable, "cannot be used with TLS, so traces stay off: \(error.words)"))
      self.settings = nil
    }
  }

  /// The values in force and their sources.
  var values: [ConfiguredValue] {
    settings == nil ? [ConfiguredValue("traces", "off", .standard)] : environment.values
  }

  var tracer: Tracer? {
    settings.map { settings in
      Tracer(settings.rules, queue: SpanQueue(capacity: settings.queueSize, batchSize: settings.batchSize))
    }
  }

  /// The sender of a tracer's spans.
  func exporter(
    of tracer: Tracer, fetcher: Fetcher, log: Log, observe: @escaping @Sendable (TraceEvent) -> Void
  ) -> TraceExporter? {
    guard let settings else { return nil }
    let (tls, proxy) = (tls, settings.proxy)
    return TraceExporter(
      tracer, to: settings.target,
      document: TracesDocument(resource: Self.resource(settings.resource), version: programVersion),
      TraceExporter.Surroundings(log: log, observe: observe) { request, time in
        do throws(FetchError) {
          return .success(try await fetcher.bound(tls: tls, timeout: time, proxy: { _ in proxy })(request))
        } catch {
          return .failure(error)
        }
      })
  }

  /// The attributes of the process: those that are given, and those that are known without being given.
  private static func resource(_ given: [(key: String, value: String)]) -> [(key: String, value: String)] {
    let known = [
      ("service.version", programVersion), ("service.instance.id", UUID().uuidString.lowercased()),
      ("telemetry.sdk.name", "bearer-proxy"), ("telemetry.sdk.language", "swift"),
      ("telemetry.sdk.version", programVersion),
    ]
    return given + known.filter { pair in !given.contains { $0.key == pair.0 } }
  }

  /// Says what is not done, and what is.
  func write(to log: Log) {
    for issue in issues {
      log.warning(
        "a variable of OpenTelemetry is not followed",
        ["settings": .string(issue.variable), "reason": .string(issue.reason), "next": .next(.telemetryVariable)])
    }
    guard let settings else { return }
    log.info(
      "requests are traced",
      ["host": .string(settings.target.url.host), "sampler": .string(settings.rules.sampler.description)])
  }

  /// The line of `check`; empty if no variable mentions traces.
  var report: String {
    let warnings = issues.map { "warning: \($0)\n" }.joined()
    return settings == nil && issues.isEmpty ? "" : configurationText(values) + warnings
  }
}
