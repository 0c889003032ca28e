// The settings of traces. They come from the environment alone, from the variables that OpenTelemetry has for every
// program; TracingEnvironment reads them.

package import HTTP
package import Telemetry

/// The tracing of requests. Without these settings nothing is traced.
package struct TracingSettings: Sendable {
  package internal(set) var target: TraceTarget
  /// The variable that names it.
  package internal(set) var endpointVariable: String
  /// A PEM file of certification authorities for the collector, instead of the system's.
  package internal(set) var caFile: Located<String>?
  /// The certificate shown to a collector that asks for one, and its key: PEM files.
  package internal(set) var clientCertificate: CertificateFiles?
  /// The proxy on the way to the collector.
  package internal(set) var proxy: ProxyAddress?
  /// The largest number of waiting spans.
  package internal(set) var queueSize = 2048
  /// The number of spans in one export.
  package internal(set) var batchSize = 512
  /// The rules for which traces are recorded and propagated.
  package internal(set) var rules = TracingRules()
  /// Attributes of the process, `service.name` first.
  package internal(set) var resource: [(key: String, value: String)] = [("service.name", "bearer-proxy")]

  init(endpoint: HTTPURL, variable: String) {
    target = TraceTarget(endpoint)
    endpointVariable = variable
  }
}

/// A variable of OpenTelemetry that has no effect.
package struct TracingIssue: Sendable, Hashable, CustomStringConvertible {
  package let variable: String
  /// The reason, and what is done instead, in words that read on after the name. They repeat no value that could be
  /// secret.
  package let reason: String

  package init(_ variable: String, _ reason: String) {
    self.variable = variable
    self.reason = reason
  }

  package var description: String { "\(variable) \(reason)" }
}
