// What is counted about spans on their way out.

package import Telemetry

/// What became of spans.
package enum TraceEvent: Sendable, Hashable {
  /// So many the collector has.
  case exported(Int)
  /// So many found no room in the queue.
  case dropped(Int)
  /// So many were given up, because the collector was away for too long or refused them all.
  case lost(Int)
  /// So many the collector did not want, of a batch that it took.
  case rejected(Int)
  /// A batch was sent once more.
  case repeated
}

/// The counters of spans.
package struct TraceMetrics: Sendable {
  private let exported: Counter
  private let dropped: Counter
  private let lost: Counter
  private let rejected: Counter
  private let repeated: Counter
  private let failures: Counter

  /// Adds the metrics to a process's catalogue.
  package init(_ catalog: inout MetricsCatalog) {
    func spans(_ catalog: inout MetricsCatalog, _ result: String) -> Counter {
      catalog.counter(
        "bearer_proxy_trace_spans_total", help: "Spans of traced requests, by what became of them.",
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
