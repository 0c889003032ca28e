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
