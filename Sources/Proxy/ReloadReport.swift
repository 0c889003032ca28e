// Owns what is told about reloads to people and machines: log, metrics, `/status`. How a reload is done is the executable's.

public import Bytes
internal import Platform
public import Telemetry
internal import Tokens

/// Which configuration is in force, and what became of the last attempt to replace it.
public struct ReloadReport: Sendable, Hashable {
  /// How an attempt ended.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The new configuration is in force.
    case succeeded
    /// It has mistakes, and the one before stays in force.
    case failed
  }

  /// A configuration that was refused.
  public struct Refusal: Sendable, Hashable {
    /// When.
    public var at: UnixTime
    /// Each mistake as `FILE:LINE:COLUMN: error: message`.
    public var issues: [String]

    /// A refusal.
    public init(at: UnixTime, issues: [String]) {
      self.at = at
      self.issues = issues
    }
  }

  /// The configurations that were in force since the start, this one included.
  public var generation = 1
  /// Since when the present one is.
  public var inForceSince: UnixTime
  /// The last attempt, where it failed.
  public var refusal: Refusal?
  /// Settings of the present file that only a restart brings into force.
  public var needRestart: [String] = []

  /// The report of a start.
  public init(inForceSince: UnixTime) {
    self.inForceSince = inForceSince
  }
}

/// The report as it stands now, for whoever asks.
public final class ReloadHistory: Sendable {
  private let stored: Locked<ReloadReport>

  /// Begins with a start.
  public init(_ report: ReloadReport) {
    stored = Locked(report)
  }

  /// The report now.
  public var report: ReloadReport { stored.withLock { $0 } }

  /// Another configuration is in force.
  public func succeeded(at now: UnixTime, needRestart: [String]) {
    stored.withLock { report in
      report.generation += 1
      report.inForceSince = now
      report.refusal = nil
      report.needRestart = needRestart
    }
  }

  /// A configuration was refused.
  public func failed(at now: UnixTime, issues: [String]) {
    stored.withLock { $0.refusal = ReloadReport.Refusal(at: now, issues: issues) }
  }
}

/// The counters of reloads.
public struct ReloadMetrics: Sendable {
  private let attempts: [ReloadReport.Outcome: Counter]
  private let lastSuccess: Gauge
  private let isCurrent: Gauge

  /// Adds the metrics to a process's catalogue.
  public init(_ catalog: inout MetricsCatalog) {
    var attempts: [ReloadReport.Outcome: Counter] = [:]
    for outcome in ReloadReport.Outcome.allCases {
      attempts[outcome] = catalog.counter(
        "bearer_proxy_reloads_total", help: "Attempts to replace the configuration while the process runs, by outcome.",
        labels: ["outcome": outcome.rawValue])
    }
    self.attempts = attempts
    lastSuccess = catalog.gauge(
      "bearer_proxy_config_last_reload_success_timestamp_seconds",
      help: "When the configuration in force was loaded, at the start or by a reload.")
    isCurrent = catalog.gauge(
      "bearer_proxy_config_last_reload_successful", help: "0 while the file has mistakes and an older one is in force.")
  }

  /// Shows the configuration of the start.
  public func started(at now: UnixTime, in writer: SharedMetricsWriter) {
    writer.set(lastSuccess, now.seconds)
    writer.set(isCurrent, 1)
  }

  /// Counts an attempt.
  public func count(_ outcome: ReloadReport.Outcome, at now: UnixTime, in writer: SharedMetricsWriter) {
    if let counter = attempts[outcome] { writer.add(counter) }
    writer.set(isCurrent, outcome == .succeeded ? 1 : 0)
    if outcome == .succeeded { writer.set(lastSuccess, now.seconds) }
  }
}
