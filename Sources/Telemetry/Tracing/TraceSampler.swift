// Which traces are recorded: OpenTelemetry's samplers, as a rule of the trace id and of what the caller has decided.

/// Decides whether the spans of a request are recorded.
package struct TraceSampler: Sendable, Hashable {
  /// What decides for a request without a decision of the caller.
  package enum Root: Sendable, Hashable {
    /// Every trace is recorded.
    case always
    /// None is.
    case never
    /// This part of all traces, 0 to 1, chosen by their ids: samplers with the same ratio choose the same traces.
    case ratio(Double)
  }

  /// What decides: for requests without a decision of the caller, or for all.
  package var root: Root
  /// Whether a caller's decision is taken over.
  package var followsParent: Bool

  /// A rule; without arguments OpenTelemetry's default, `parentbased_always_on`.
  package init(_ root: Root = .always, followsParent: Bool = true) {
    self.root = root
    self.followsParent = followsParent
  }

  /// Whether a trace is recorded. `isContinued`: the trace is a caller's, and its flags say what that has decided.
  package func records(_ trace: TraceContext, isContinued: Bool) -> Bool {
    if followsParent, isContinued { return trace.isSampled }
    switch root {
    case .always: return true
    case .never: return false
    case .ratio(let part):
      // The lower half without its last bit, as OpenTelemetry's libraries do it: of ids from random numbers, all bits
      // are.
      return trace.traceLow >> 1 < UInt64(part * 0x1p63)
    }
  }
}

extension TraceSampler: CustomStringConvertible {
  /// As `OTEL_TRACES_SAMPLER` says it, with the ratio behind it.
  package var description: String {
    let prefix = followsParent ? "parentbased_" : ""
    return switch root {
    case .always: "\(prefix)always_on"
    case .never: "\(prefix)always_off"
    case .ratio(let part): "\(prefix)traceidratio \(part)"
    }
  }
}

/// How traces begin and go on, where requests are traced.
package struct TracingRules: Sendable, Hashable {
  /// Which traces are recorded.
  package var sampler: TraceSampler
  /// Whether traces go on from callers and to upstreams. Otherwise each begins here, and no other process learns of it.
  package var propagates: Bool

  /// Every trace is recorded that its caller records, and goes on, unless said otherwise.
  package init(sampler: TraceSampler = TraceSampler(), propagates: Bool = true) {
    self.sampler = sampler
    self.propagates = propagates
  }
}
