// What is told of one piece of work: a span, as OpenTelemetry means it.

internal import Synchronization

/// The value of a span's attribute.
package enum SpanValue: Sendable, Hashable {
  /// Text from anywhere; it is escaped, and cut where it is long.
  case string(String)
  /// A whole number.
  case integer(Int64)
}

/// A span that has ended.
package struct SpanRecord: Sendable {
  /// What a span is to its neighbours, by OTLP's numbers.
  package enum Kind: Int, Sendable {
    /// Work within this process.
    case `internal` = 1
    /// The answer to a request.
    case server = 2
    /// A request to another system.
    case client = 3
  }

  /// Whose child a span is.
  package enum Parent: Sendable, Hashable {
    /// None: the trace begins here.
    case none
    /// A span of this process.
    case local(UInt64)
    /// A span of the caller's.
    case remote(UInt64)
  }

  /// Its place.
  package var context: TraceContext
  /// Whose child it is.
  package var parent: Parent
  /// What vendors say of the trace.
  package var traceState: String?
  /// Its name, of which there are few.
  package var name: String
  /// What it is to its neighbours.
  package var kind: Kind
  /// When it began, in nanoseconds since 1970.
  package var start: UInt64
  /// When it ended, in nanoseconds since 1970.
  package var end: UInt64
  /// What is told of it: no secret, no query, no account.
  package var attributes: [(StaticString, SpanValue)] = []
  /// Whether it failed.
  package var isError = false

  /// A span without attributes, which ends no earlier than it began.
  package init(
    _ context: TraceContext, parent: Parent, name: String, kind: Kind, start: UInt64, end: UInt64
  ) {
    self.context = context
    self.parent = parent
    self.name = name
    self.kind = kind
    self.start = start
    self.end = max(start, end)
  }
}

/// The span that spans of the work at hand are children of.
package final class SpanScope: Sendable {
  /// That span.
  package let parent: TraceContext
  private let noted = Atomic(false)

  /// A place for children.
  package init(_ parent: TraceContext) {
    self.parent = parent
  }

  /// Notes that there is a child.
  package func note() { noted.store(true, ordering: .relaxed) }

  /// Whether there is any: then the parent has to be told, too.
  package var hasChildren: Bool { noted.load(ordering: .relaxed) }
}
