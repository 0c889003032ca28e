internal import Synchronization

package enum SpanValue: Sendable, Hashable {
  /// Text from anywhere; it is escaped, and cut if it is long.
  case string(String)
  /// A whole number.
  case integer(Int64)
}

/// A span that has ended: one piece of work, in OpenTelemetry's sense.
package struct SpanRecord: Sendable {
  /// The role of a span, by OTLP's numbers.
  package enum Kind: Int, Sendable {
    /// Work within this process.
    case `internal` = 1
    /// The answer to a request.
    case server = 2
    /// A request to another system.
    case client = 3
  }

  package enum Parent: Sendable, Hashable {
    /// None: the trace begins here.
    case none
    case local(UInt64)
    /// A span of the caller's.
    case remote(UInt64)
  }

  /// Its ids.
  package var context: TraceContext
  package var parent: Parent
  /// The vendors' state of the trace.
  package var traceState: String?
  package var name: String
  package var kind: Kind
  /// Its begin, in nanoseconds since 1970.
  package var start: UInt64
  /// Its end, in nanoseconds since 1970.
  package var end: UInt64
  /// Its attributes: no secret, no query, no account.
  package var attributes: [(StaticString, SpanValue)] = []
  package var isError = false

  /// A span without attributes, which ends no earlier than it began.
  package init(_ context: TraceContext, parent: Parent, name: String, kind: Kind, start: UInt64, end: UInt64) {
    self.context = context
    self.parent = parent
    self.name = name
    self.kind = kind
    self.start = start
    self.end = max(start, end)
  }
}

/// The parent of the spans of the work at hand.
package final class SpanScope: Sendable {
  package let parent: TraceContext
  private let noted = Atomic(false)

  package init(_ parent: TraceContext) {
    self.parent = parent
  }

  /// Records that there is a child.
  package func note() { noted.store(true, ordering: .relaxed) }

  /// True if there is a child: then the parent must be exported, too.
  package var hasChildren: Bool { noted.load(ordering: .relaxed) }
}
