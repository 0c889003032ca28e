// Reports of reloads to people and machines: log, metrics, `/status`. The executable reloads.

package import Bytes
package import Telemetry
internal import Tokens

/// The configuration in force, and the result of the last attempt to replace it.
package struct ReloadReport: Sendable, Hashable {
  package enum Outcome: Int, Sendable, Hashable, CaseIterable {
    case succeeded
    /// It has mistakes, and the one before stays in force.
    case failed
  }

  package struct Refusal: Sendable, Hashable {
    package var at: UnixTime
    /// Each mistake as `FILE:LINE:COLUMN: error: message`.
    package var issues: [String]
  }

  /// The configurations that were in force since the start, this one included.
  package var generation = 1
  package var inForceSince: UnixTime
  package var refusal: Refusal?
  /// Settings of the present file that only a restart brings into force.
  package var needRestart: [String] = []

  package init(inForceSince: UnixTime) {
    self.inForceSince = inForceSince
  }

  /// Records a configuration that is in force from now on.
  package mutating func succeeded(at now: UnixTime, needRestart: [String]) {
    generation += 1
    (inForceSince, refusal, self.needRestart) = (now, nil, needRestart)
  }

  package mutating func failed(at now: UnixTime, issues: [String]) { refusal = Refusal(at: now, issues: issues) }
}

package struct ReloadMetrics: Sendable {
  private let attempts: CounterTable
  private let lastSuccess: Gauge
  private let isCurrent: Gauge

  /// Adds the metrics to a process's catalogue.
  package init(_ catalog: inout MetricsCatalog) {
    attempts = catalog.counters(
      "bearer_proxy_reloads_total", help: "Attempts to replace the configuration while the process runs, by outcome.",
      by: MetricLabel("outcome", ReloadReport.Outcome.allCases.map { "\($0)" }))
    lastSuccess = catalog.gauge(
      "bearer_proxy_config_last_reload_success_timestamp_seconds",
      help: "Time at which the configuration in force was loaded, since 1970, in seconds.")
    isCurrent = catalog.gauge(
      "bearer_proxy_config_last_reload_successful", help: "0 while the file has mistakes and an older one is in force.")
  }

  /// Shows the configuration of the start.
  package func started(at now: UnixTime, in writer: SharedMetricsWriter) {
    writer.set(lastSuccess, now.seconds)
    writer.set(isCurrent, 1)
  }

  package func count(_ outcome: ReloadReport.Outcome, at now: UnixTime, in writer: SharedMetricsWriter) {
    writer.add(attempts[outcome.rawValue])
    writer.set(isCurrent, outcome == .succeeded ? 1 : 0)
    if outcome == .succeeded { writer.set(lastSuccess, now.seconds) }
  }
}
