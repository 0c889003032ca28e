/// The descriptors of a process, and the number of callers' connections that they allow.
package struct DescriptorBudget: Sendable, Hashable {
  /// Descriptors that the process may have open (`RLIMIT_NOFILE`).
  package let limit: Int
  /// Those that are open before the first caller comes.
  package let atStart: Int

  /// One for the caller's connection, one for its upstream's.
  private static let perCaller = 2
  /// For the admin listener, token requests, look-ups of names, and files that are read again.
  private static let forOthers = 128

  package init(limit: Int, atStart: Int) {
    self.limit = limit
    self.atStart = atStart
  }

  /// The number of callers' connections, each with an upstream connection: `wanted` or fewer. Of a small limit, a
  /// quarter is for others.
  package func connections(wanted: Int) -> Int {
    let left = limit - atStart - min(Self.forOthers, limit / 4)
    return max(1, min(wanted, left / Self.perCaller))
  }

  /// The limit that so many connections need.
  package func limit(for connections: Int) -> Int {
    atStart + Self.forOthers + Self.perCaller * connections
  }
}

extension ServiceLimits {
  /// These limits, with no more connections than there are descriptors for.
  package func within(_ budget: DescriptorBudget) -> ServiceLimits {
    var limits = self
    limits.connections = budget.connections(wanted: connections)
    limits.isShortOfDescriptors = limits.connections < connections
    return limits
  }
}
