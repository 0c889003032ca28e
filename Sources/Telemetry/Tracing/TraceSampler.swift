/// Decides which traces are recorded: OpenTelemetry's samplers, by the trace id and the caller's decision.
package struct TraceSampler: Sendable, Hashable {
  /// The rule for a request without a decision of the caller.
  package enum Root: Sendable, Hashable {
    /// Every trace is recorded.
    case always
    /// None is.
    case never
    /// This part of all traces, 0 to 1, chosen by their ids: samplers with the same ratio choose the same traces.
    case ratio(Double)
  }

  /// The rule for requests without a decision of the caller, or for all.
  package var root: Root
  /// True if a caller's decision is followed.
  package var followsParent: Bool

  /// A rule; without arguments OpenTelemetry's default, `parentbased_always_on`.
  package init(_ root: Root = .always, followsParent: Bool = true) {
    self.root = root
    self.followsParent = followsParent
  }

  /// True if a trace is recorded. `isContinued`: the trace is a caller's, and its flags hold the caller's decision.
  package func records(_ trace: TraceContext, isContinued: Bool) -> Bool {
    if followsParent, isContinued { return trace.isSampled }
    switch root {
    case .always: return true
    case .never: return false
    case .ratio(let part):
      // The lower half without its last bit, as in OpenTelemetry's libraries: in ids from random numbers, all bits are
      // random.
      return trace.traceLow >> 1 < UInt64(part * 0x1p63)
    }
  }
}

extension TraceSampler: CustomStringConvertible {
  /// In the form of `OTEL_TRACES_SAMPLER`, followed by the ratio.
  package var description: String {
    let prefix = followsParent ? "parentbased_" : ""
    return switch root {
    case .always: "\(prefix)always_on"
    case .never: "\(prefix)always_off"
    case .ratio(let part): "\(prefix)traceidratio \(part)"
    }
  }
}

/// The rules for recording and propagating traces.
package struct TracingRules: Sendable, Hashable {
  package var sampler: TraceSampler
  /// True if traces continue from callers and to upstreams. Otherwise each begins here, and no other process learns of
  /// it.
  package var propagates: Bool

  /// By default, every trace is recorded unless its caller does not record it, and traces are propagated.
  package init(sampler: TraceSampler = TraceSampler(), propagates: Bool = true) {
    self.sampler = sampler
    self.propagates = propagates
  }
}
