// Owns what a collector's answer means (OTLP specification, "OTLP/HTTP Response"), and how long is waited before the
// next attempt.

internal import Bytes
internal import HTTPClient
internal import Tokens

/// What came of one request to the collector.
enum ExportVerdict: Hashable {
  /// It has the spans, but for those that it `rejected`; `message` says why, or warns.
  case accepted(rejected: Int, message: String?)
  /// It may have them later; `after` so many seconds where it says so.
  case tryAgain(after: Int64?, ExportTrouble)
  /// It will not have them.
  case refused(ExportTrouble)

  /// Reads an answer.
  init(_ response: FetchResponse, now: UnixTime) {
    switch response.status {
    case 200..<300:
      let partial = JSONValue(json: response.body)?.members?["partialSuccess"]?.members
      let rejected = partial?["rejectedSpans"]?.seconds ?? 0
      let message = partial?["errorMessage"]?.text.flatMap { $0.isEmpty ? nil : $0.printable(limit: 200) }
      self = .accepted(rejected: Int(clamping: max(rejected, 0)), message: message)
    case 429, 502, 503, 504:
      let wait = response.value(of: "retry-after").flatMap { RetryAfter(field: $0, now: now)?.seconds }
      self = .tryAgain(after: wait, .answered(response.status))
    default: self = .refused(.answered(response.status))
    }
  }

  /// A request without an answer.
  init(_ error: FetchError) {
    self = .tryAgain(after: nil, .unreached(error))
  }
}

/// The pauses between the attempts for one batch.
enum ExportPause {
  /// Before attempt `number` (1 is the first repetition): what the collector asks for, else 1, 2, 4 … 16 seconds less
  /// up to a half.
  /// - Parameter jitter: 0 up to 1, so that proxies that lost their collector together do not come back together.
  static func before(_ number: Int, asked: Int64?, jitter: Double) -> Duration {
    if let asked { return .seconds(asked) }
    return .seconds(Double(1 << min(max(number - 1, 0), 4)) * (1 - jitter / 2))
  }
}
