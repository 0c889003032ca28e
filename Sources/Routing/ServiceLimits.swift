package import Bytes
package import HTTP

/// Bounds and time limits towards callers.
package struct ServiceLimits: Sendable, Hashable {
  package var head: HeadLimits
  /// Bytes of a request's content.
  package var bodyBytes: UInt64
  /// Downstream connections of the process.
  package var connections: Int
  /// Requests at once on a connection of HTTP/2.
  package var streams: Int
  /// True if `connections` is less than configured, because there are too few descriptors.
  package internal(set) var isShortOfDescriptors = false
  /// Connections of the whole process that are in a handshake or have sent a part of a head.
  package var unfinished: Int
  /// Requests in progress on one loop without any field by which a loop could be detected: far more than programs that
  /// send no field keep open.
  package var unmarked: Int
  /// Callers' tokens that each loop believes without another check, and callers whose exchanged tokens are kept.
  package var callerTokens: Int
  /// Average bytes a second that a caller must move while it is waited for; `nil` is no limit.
  package var callerRate: UInt64?
  /// From a request's first byte to the end of its head.
  package var requestHead: TimeSpan
  /// Between two requests of a connection.
  package var idle: TimeSpan
  /// Wait for a request in flight on a connection that ends because the process or its listener does.
  package var grace: TimeSpan

  /// The defaults of the configuration, unless said otherwise.
  package init(
    head: HeadLimits = HeadLimits(), bodyBytes: UInt64? = nil, connections: Int = 10_000, streams: Int = 100,
    unfinished: Int = 1000, unmarked: Int = 1000, callerTokens: Int = 8192, callerRate: UInt64? = 100,
    requestHead: TimeSpan = .seconds(10), idle: TimeSpan = .seconds(60), grace: TimeSpan = .seconds(1)
  ) {
    self.head = head
    self.bodyBytes = bodyBytes ?? .max
    self.connections = connections
    self.streams = streams
    self.unfinished = unfinished
    self.unmarked = unmarked
    self.callerTokens = callerTokens
    self.callerRate = callerRate
    self.requestHead = requestHead
    self.idle = idle
    self.grace = grace
  }
}

/// Time limits of one exchange. All are positive.
package struct ExchangeTimeouts: Sendable, Hashable {
  /// To connect to the upstream, TLS included.
  package var connect: TimeSpan
  /// From the end of the request to the end of the response head.
  package var responseHead: TimeSpan
  /// Without any progress, in either direction.
  package var idle: TimeSpan
  /// For the whole exchange, if there is a limit.
  package var whole: TimeSpan?

  /// The defaults of the configuration, unless said otherwise.
  package init(
    connect: TimeSpan = .seconds(5), responseHead: TimeSpan = .seconds(60), idle: TimeSpan = .seconds(60),
    whole: TimeSpan? = nil
  ) {
    self.connect = connect
    self.responseHead = responseHead
    self.idle = idle
    self.whole = whole
  }
}

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
