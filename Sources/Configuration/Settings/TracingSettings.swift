// What is known of the collector of traces and of what is to be sent there. It comes from the environment alone, from
// the variables that OpenTelemetry has for every program; how they are read stands in TracingEnvironment.

package import HTTP
package import Telemetry

/// How requests are traced. Where there are none of these settings, nothing is traced.
package struct TracingSettings: Sendable {
  /// Where spans are sent.
  package internal(set) var target: TraceTarget
  /// The variable that names it.
  package internal(set) var endpointVariable: String
  /// A PEM file of certification authorities for the collector, instead of the system's.
  package internal(set) var caFile: Located<String>?
  /// The certificate shown to a collector that asks for one, and its key: PEM files.
  package internal(set) var clientCertificate: CertificateFiles?
  /// The proxy on the way to the collector.
  package internal(set) var proxy: ProxyAddress?
  /// How many spans wait at most.
  package internal(set) var queueSize = 2048
  /// How many spans are sent at once.
  package internal(set) var batchSize = 512
  /// Which traces are recorded and go on.
  package internal(set) var rules = TracingRules()
  /// What is told of the process, `service.name` first.
  package internal(set) var resource: [(key: String, value: String)] = [("service.name", "bearer-proxy")]

  init(endpoint: HTTPURL, variable: String) {
    target = TraceTarget(endpoint)
    endpointVariable = variable
  }
}

/// What a variable of OpenTelemetry says and is not done.
package struct TracingIssue: Sendable, Hashable, CustomStringConvertible {
  /// The variable's name.
  package let variable: String
  /// Why not, and what is done instead: it reads on after the name. No value that could be secret is in it.
  package let reason: String

  /// An issue of a variable.
  package init(_ variable: String, _ reason: String) {
    self.variable = variable
    self.reason = reason
  }

  /// As one sentence.
  package var description: String { "\(variable) \(reason)" }
}
