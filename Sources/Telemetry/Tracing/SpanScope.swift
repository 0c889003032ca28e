// Owns where the spans of work belong that a traced request waits for.

internal import Synchronization

/// The span that spans of the work at hand are children of.
public final class SpanScope: Sendable {
  /// That span.
  public let parent: SpanContext
  private let noted = Atomic(false)

  /// A place for children.
  public init(_ parent: SpanContext) {
    self.parent = parent
  }

  /// Notes that there is a child.
  public func note() { noted.store(true, ordering: .relaxed) }

  /// Whether there is any: then the parent has to be told, too.
  public var hasChildren: Bool { noted.load(ordering: .relaxed) }
}
