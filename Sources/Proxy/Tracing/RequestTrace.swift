// Owns what is decided of a request's trace at its beginning: which trace it is, and whether it is recorded.

internal import Telemetry

/// The trace of one request.
struct RequestTrace: Hashable {
  /// The trace, with this proxy's span in it.
  var own: TraceContext
  /// The caller's span; nil where the trace begins here.
  var caller: UInt64?
  /// Whether spans are recorded.
  var isRecorded = false

  /// Goes on in the caller's trace, or begins one. Without rules nothing is recorded, and the caller's decision is
  /// passed on.
  init(sent: TraceContext?, _ rules: TracingRules?, random: () -> UInt64) {
    let continued = rules?.propagates == false ? nil : sent
    if let continued {
      own = continued.sibling(random())
      caller = continued.span
    } else {
      own = TraceContext(randomHigh: random(), randomLow: random(), randomSpan: random(), isSampled: false)
    }
    guard let rules else { return }
    isRecorded = rules.sampler.records(own, isContinued: continued != nil)
    own.isSampled = isRecorded
  }
}
