// What is told of one piece of work: a span, as OpenTelemetry means it.

internal import Synchronization

/// The value of a span's attribute.
public enum SpanValue: Sendable, Hashable {
  /// Text from anywhere; it is escaped, and cut where it is long.
  case string(String)
  /// A whole number.
  case integer(Int64)
}

/// A span that has ended.
public struct SpanRecord: Sendable {
  /// What a span is to its neighbours, by OTLP's numbers.
  public enum Kind: Int, Sendable {
    /// Work within this process.
    case `internal` = 1
    /// The answer to a request.
    case server = 2
    /// A request to another system.
    case client = 3
  }

  /// Whose child a span is.
  public enum Parent: Sendable, Hashable {
    /// None: the trace begins here.
    case none
    /// A span of this process.
    case local(UInt64)
    /// A span of the caller's.
    case remote(UInt64)
  }

  /// Its place.
  public var context: TraceContext
  /// Whose child it is.
  public var parent: Parent
  /// What vendors say of the trace.
  public var traceState: String?
  /// Its name, of which there are few.
  public var name: String
  /// What it is to its neighbours.
  public var kind: Kind
  /// When it began, in nanoseconds since 1970.
  public var start: UInt64
  /// When it ended, in nanoseconds since 1970.
  public var end: UInt64
  /// What is told of it: no secret, no query, no account.
  public var attributes: [(StaticString, SpanValue)] = []
  /// Whether it failed.
  public var isError = false

  /// A span without attributes, which ends no earlier than it began.
  public init(
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
public final class SpanScope: Sendable {
  /// That span.
  public let parent: TraceContext
  private let noted = Atomic(false)

  /// A place for children.
  public init(_ parent: TraceContext) {
    self.parent = parent
  }

  /// Notes that there is a child.
  public func note() { noted.store(true, ordering: .relaxed) }

  /// Whether there is any: then the parent has to be told, too.
  public var hasChildren: Bool { noted.load(ordering: .relaxed) }
}
