// Owns what all loops of a running proxy share: routes, limits, where tokens and log lines go. Immutable: one generation of the
// configuration, replaced as a whole. What changes while requests run is the LoopState's, one per loop.

public import HTTP
public import HTTPClient
public import Identity
public import Network
public import Telemetry
internal import Tokens

/// An upstream server and how its connections are kept.
public struct ServiceOrigin: Sendable {
  /// Where it is and how it is trusted.
  public var origin: Origin
  /// The bounds of its pool on each loop.
  public var limits: PoolLimits

  /// An origin with its limits.
  public init(_ origin: Origin, limits: PoolLimits) {
    self.origin = origin
    self.limits = limits
  }
}

extension ServiceOrigin: Hashable {
  /// Whether connections may be shared: the place, the trust and the bounds are the same.
  public static func == (left: ServiceOrigin, right: ServiceOrigin) -> Bool {
    left.origin.scheme == right.origin.scheme && left.origin.host == right.origin.host
      && left.origin.port == right.origin.port && left.origin.serverName == right.origin.serverName
      && left.origin.tls === right.origin.tls && left.origin.proxy == right.origin.proxy && left.limits == right.limits
  }

  /// Hashes the place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(origin.host)
    hasher.combine(origin.port)
  }
}

/// Bounds and time limits towards callers.
public struct ServiceLimits: Sendable {
  /// Sizes of heads.
  public var head: HeadLimits
  /// Bytes of a request's content.
  public var bodyBytes: UInt64
  /// Downstream connections of the process.
  public var connections: Int
  /// Those of them, in the whole process, that are in a handshake or have sent a part of a head.
  public var unfinished: Int
  /// Bytes a second that a caller moves at least, on average, while it is waited for; `nil` is no limit.
  public var callerRate: UInt64?
  /// From a request's first byte to the end of its head.
  public var requestHead: TimeSpan
  /// Between two requests of a connection.
  public var idle: TimeSpan
  /// How long a request that is already on its way is waited for on a connection that ends because the process or its
  /// listener does.
  public var grace: TimeSpan

  /// The limits as configured.
  public init(
    head: HeadLimits, bodyBytes: UInt64?, connections: Int, unfinished: Int = 1000, callerRate: UInt64? = nil,
    requestHead: TimeSpan, idle: TimeSpan, grace: TimeSpan = .seconds(1)
  ) {
    self.head = head
    self.bodyBytes = bodyBytes ?? .max
    self.connections = connections
    self.unfinished = unfinished
    self.callerRate = callerRate
    self.requestHead = requestHead
    self.idle = idle
    self.grace = grace
  }
}

/// Where a person signs in for a route, and gets what is required: a path of the listener that was called, or a URL. It stands in
/// problem documents, pages and redirects; nil where there are no pages.
public typealias SignInLink = @Sendable (Route, InteractionRequired) -> String?

/// A proxy, assembled.
public final class Service: Sendable {
  /// Every route, by index.
  public let routes: [Route]
  let table: RouteTable
  let origins: [ServiceOrigin]
  /// What each bearer slot holds tokens for.
  public let subscriptions: [TokenSubscription]
  let limits: ServiceLimits
  let broker: TokenBroker
  let resolver: Resolver
  let log: Log
  let metrics: ServiceMetrics
  let registry: MetricsRegistry
  let accessLog: OutputFile?
  let accessFormat: LogFormat
  /// What routes need a person for.
  public let challengeMemory: ChallengeMemory
  /// Where a person signs in for a route: a path of the listener, or a URL; nil where there are no pages.
  let signInLink: SignInLink
  /// What is told of the process.
  let description: ServiceDescription
  /// Which upstreams fail.
  let upstreams: UpstreamCondition
  /// What `/readyz` waits for.
  let readiness: ReadinessRule
  /// Which slot holds the tokens of a right.
  let slots: [AcquisitionKey: Int]
  /// The downstream connections of the process.
  public let connections: ConnectionCount
  /// What traces requests; nil where none are.
  let tracer: Tracer?
  /// What the process calls itself in `Via`.
  let pseudonym: Pseudonym

  /// Puts a proxy together. `accessLog`: where requests are recorded; `nil`: nowhere.
  public init(
    routes: [Route], origins: [ServiceOrigin], subscriptions: [TokenSubscription], limits: ServiceLimits,
    broker: TokenBroker, resolver: Resolver, log: Log, metrics: ServiceMetrics, registry: MetricsRegistry,
    accessLog: OutputFile?, accessFormat: LogFormat, challengeMemory: ChallengeMemory? = nil,
    signInLink: @escaping SignInLink = { _, _ in nil },
    description: ServiceDescription = ServiceDescription(version: ""), readiness: ReadinessRule = .tokens,
    connections: ConnectionCount = ConnectionCount(), tracer: Tracer? = nil, pseudonym: Pseudonym = Pseudonym()
  ) {
    self.routes = routes
    table = RouteTable(routes)
    self.origins = origins
    self.subscriptions = subscriptions
    self.limits = limits
    self.broker = broker
    self.resolver = resolver
    self.log = log
    self.metrics = metrics
    self.registry = registry
    self.accessLog = accessLog
    self.accessFormat = accessFormat
    self.challengeMemory = challengeMemory ?? ChallengeMemory(now: { UnixTime(WallClock.now.seconds) })
    self.signInLink = signInLink
    self.description = description
    upstreams = UpstreamCondition(routes: routes.count)
    self.readiness = readiness
    self.connections = connections
    self.tracer = tracer
    self.pseudonym = pseudonym
    slots = Dictionary(zip(subscriptions.map(\.key), subscriptions.indices)) { first, _ in first }
  }

  /// Downstream connections open now.
  public var connectionCount: Int { connections.value }

  /// Whether another connection may be accepted.
  var hasRoomForConnections: Bool { connections.value < limits.connections }
}
