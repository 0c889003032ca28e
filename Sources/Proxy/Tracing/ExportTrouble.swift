// Reports a collector that does not accept spans: once when it begins, once when it is over.

internal import HTTPClient
internal import Identity
internal import Telemetry

/// The reason why spans could not be exported.
enum ExportTrouble: Error, Hashable, CustomStringConvertible {
  /// An answer of another status than 200.
  case answered(Int)
  case unreached(FetchError)

  var description: String {
    switch self {
    case .answered(404), .answered(405): "there is no receiver of traces at the endpoint's path"
    case .answered(401), .answered(403): "the collector wants other OTEL_EXPORTER_OTLP_HEADERS"
    case .answered(413): "the collector takes no batches of OTEL_BSP_MAX_EXPORT_BATCH_SIZE spans"
    case .answered(let status): "the collector answered with status \(status)"
    case .unreached(let error): error.detail
    }
  }
}

/// The time from the first lost batch to the next exported one.
struct ExportSpell {
  private var lost: Int?
  private var hasToldOfRejections = false

  /// Counts a lost batch; returns true if that begins a spell.
  mutating func loses(_ count: Int) -> Bool {
    defer { lost = (lost ?? 0) + count }
    return lost == nil
  }

  /// Records an exported batch; returns the number lost before it, if that ends a spell.
  mutating func ends() -> Int? {
    defer { lost = nil }
    return lost
  }

  /// True if a rejection is the first: the following ones are counted.
  mutating func isFirstRejection() -> Bool {
    defer { hasToldOfRejections = true }
    return !hasToldOfRejections
  }
}

extension Log {
  func tracesLost(_ trouble: ExportTrouble, host: String) {
    warning("traces cannot be exported", ["host": .string(host), "reason": .string(trouble.description)])
  }

  func tracesGoOn(lost: Int) {
    info("traces are exported again", ["spans_lost": .integer(lost)])
  }

  func tracesRejected(_ count: Int, _ message: String?) {
    warning(
      "the collector rejects spans", ["spans": .integer(count), "detail": .string(message ?? "")])
  }

  func tracesDropped() {
    warning("more spans than OTEL_BSP_MAX_QUEUE_SIZE wait, the newest are dropped")
  }
}
