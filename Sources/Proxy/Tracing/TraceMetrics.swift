package import Telemetry

/// The outcome of spans.
package enum TraceEvent: Sendable, Hashable {
  /// The collector has accepted so many.
  case exported(Int)
  /// The queue had no room for so many.
  case dropped(Int)
  /// So many were given up, because the collector was away for too long or refused them all.
  case lost(Int)
  /// The collector rejected so many of an accepted batch.
  case rejected(Int)
  case repeated
}

package struct TraceMetrics: Sendable {
  private let exported: Counter
  private let dropped: Counter
  private let lost: Counter
  private let rejected: Counter
  private let repeated: Counter
  private let failures: Counter

  package init(_ catalog: inout MetricsCatalog) {
    func spans(_ catalog: inout MetricsCatalog, _ result: String) -> Counter {
      catalog.counter(
        "bearer_proxy_trace_spans_total", help: "Spans of traced requests, by outcome.",
        labels: ["result": result])
    }
    exported = spans(&catalog, "exported")
    dropped = spans(&catalog, "dropped")
    lost = spans(&catalog, "lost")
    rejected = spans(&catalog, "rejected")
    repeated = catalog.counter(
      "bearer_proxy_trace_export_retries_total", help: "Batches of spans that were sent to the collector once more.")
    failures = catalog.counter(
      "bearer_proxy_trace_export_failures_total", help: "Batches of spans that were given up.")
  }

  package func count(_ event: TraceEvent, in writer: SharedMetricsWriter) {
    switch event {
    case .exported(let count): writer.add(exported, UInt64(clamping: count))
    case .dropped(let count): writer.add(dropped, UInt64(clamping: count))
    case .lost(let count):
      writer.add(lost, UInt64(clamping: count))
      writer.add(failures)
    case .rejected(let count): writer.add(rejected, UInt64(clamping: count))
    case .repeated: writer.add(repeated)
    }
  }
}
