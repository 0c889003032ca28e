// Owns how a span is named within all traces: its trace's id and its own.

/// The place of a span.
public struct SpanContext: Sendable, Hashable {
  /// The first half of the trace id.
  public var traceHigh: UInt64
  /// The second half of the trace id.
  public var traceLow: UInt64
  /// The span's id; not 0.
  public var span: UInt64
  /// The trace's flags.
  public var flags: UInt8

  /// A span of a trace.
  public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, flags: UInt8) {
    self.traceHigh = traceHigh
    self.traceLow = traceLow
    self.span = span
    self.flags = flags
  }

  /// Another span of the same trace; an id of 0 is invalid, so 1 stands in for it.
  public func sibling(_ id: UInt64) -> SpanContext {
    var sibling = self
    sibling.span = max(id, 1)
    return sibling
  }
}
