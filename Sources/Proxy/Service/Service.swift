// What all loops of a running proxy share: routes, limits, where tokens and log lines go. Immutable: one generation of
// the configuration, replaced as a whole. What changes while requests run is the LoopState's, one per loop.

package import HTTP
package import HTTPClient
package import Identity
package import Platform
package import Routing
internal import Synchronization
package import Telemetry
internal import Tokens

/// An upstream server and how its connections are kept.
package struct ServiceOrigin: Sendable {
  /// Where it is and how it is trusted.
  package var origin: Origin
  /// The bounds of its pool on each loop.
  package var limits: PoolLimits

  package init(_ origin: Origin, limits: PoolLimits) {
    self.origin = origin
    self.limits = limits
  }
}

extension ServiceOrigin: Hashable {
  /// Whether connections may be shared: the place, the trust and the bounds are the same.
  package static func == (left: ServiceOrigin, right: ServiceOrigin) -> Bool {
    left.origin.scheme == right.origin.scheme && left.origin.host == right.origin.host
      && left.origin.port == right.origin.port && left.origin.serverName == right.origin.serverName
      && left.origin.tls === right.origin.tls && left.origin.proxy == right.origin.proxy && left.limits == right.limits
  }

  /// Hashes the place.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(origin.host)
    hasher.combine(origin.port)
  }
}

/// What the routes of a configuration lead to, numbered together: a route names its origin and its bearer slot by
/// index.
package struct ServiceRoutes: Sendable {
  /// Every route, by index.
  package var routes: [Route]
  /// The upstream servers, by `Route.originIndex`.
  package var origins: [ServiceOrigin]
  /// What each bearer slot holds tokens for, by `Route.bearerSlot`.
  package var subscriptions: [TokenSubscription]

  package init(routes: [Route] = [], origins: [ServiceOrigin] = [], subscriptions: [TokenSubscription] = []) {
    self.routes = routes
    self.origins = origins
    self.subscriptions = subscriptions
  }
}

/// What outlives a configuration: every generation of a process has the same.
package struct ServiceProcess: Sendable {
  package var broker: TokenBroker
  package var resolver: Resolver
  package var log: Log
  /// What routes need a person for.
  package var signInRequirements: SignInRequirements
  /// What traces requests; nil where none are.
  package var tracer: Tracer?
  /// The downstream connections of the process.
  package var connections: ConnectionCount
  /// What the process calls itself in `Via`. A request that left under one configuration may come back under another.
  package var pseudonym: Pseudonym

  package init(
    broker: TokenBroker, resolver: Resolver, log: Log, signInRequirements: SignInRequirements, tracer: Tracer? = nil,
    connections: ConnectionCount = ConnectionCount(), pseudonym: Pseudonym = Pseudonym()
  ) {
    self.broker = broker
    self.resolver = resolver
    self.log = log
    self.signInRequirements = signInRequirements
    self.tracer = tracer
    self.connections = connections
    self.pseudonym = pseudonym
  }
}

/// Where a configuration's requests are counted and recorded.
package struct ServiceRecords: Sendable {
  package var metrics: ServiceMetrics
  package var registry: MetricsRegistry
  /// Where each request leaves a record; nil: nowhere.
  package var accessLog: OutputFile?
  package var accessFormat: LogFormat
  /// How records name people.
  package var identities: RecordedIdentities

  package init(
    metrics: ServiceMetrics, registry: MetricsRegistry, accessLog: OutputFile? = nil, accessFormat: LogFormat = .json,
    identities: RecordedIdentities = .none
  ) {
    self.identities = identities
    self.metrics = metrics
    self.registry = registry
    self.accessLog = accessLog
    self.accessFormat = accessFormat
  }
}

/// Where a person signs in for a route, and gets what is required: a path of the listener that was called, or a URL. It
/// stands in problem documents, pages and redirects; nil where there are no pages.
package typealias SignInLink = @Sendable (Route, InteractionRequired) -> String?

/// A proxy, assembled.
package final class Service: Sendable {
  /// Every route, by index.
  package let routes: [Route]
  let table: RouteTable
  let origins: [ServiceOrigin]
  /// What each bearer slot holds tokens for.
  package let subscriptions: [TokenSubscription]
  let limits: ServiceLimits
  let broker: TokenBroker
  let resolver: Resolver
  let log: Log
  let metrics: ServiceMetrics
  let registry: MetricsRegistry
  let accessLog: OutputFile?
  let accessFormat: LogFormat
  let identities: RecordedIdentities
  /// What routes need a person for.
  package let signInRequirements: SignInRequirements
  /// Where a person signs in for a route: a path of the listener, or a URL; nil where there are no pages.
  let signInLink: SignInLink
  /// What is told of the process.
  let description: ServiceDescription
  /// Which upstreams fail.
  let upstreams: UpstreamCondition
  /// What `/readyz` waits for.
  let readiness: ReadinessRule
  /// Whose tokens each slot holds.
  let sentCredentials: [SentCredential]
  /// Which slot holds the tokens of a right.
  let slots: [AcquisitionKey: Int]
  /// The downstream connections of the process.
  package let connections: ConnectionCount
  /// What traces requests; nil where none are.
  let tracer: Tracer?
  /// What requests say of this process.
  let hop: HopIdentity

  /// Puts one generation together.
  package init(
    _ process: ServiceProcess, _ routed: ServiceRoutes, limits: ServiceLimits, records: ServiceRecords,
    description: ServiceDescription = ServiceDescription(version: ""), readiness: ReadinessRule = .tokens,
    signInLink: @escaping SignInLink = { _, _ in nil }
  ) {
    routes = routed.routes
    table = RouteTable(routed.routes)
    origins = routed.origins
    subscriptions = routed.subscriptions
    slots = Dictionary(zip(subscriptions.map(\.key), subscriptions.indices)) { first, _ in first }
    upstreams = UpstreamCondition(routes: routed.routes.count)
    broker = process.broker
    resolver = process.resolver
    log = process.log
    signInRequirements = process.signInRequirements
    tracer = process.tracer
    connections = process.connections
    hop = HopIdentity(
      pseudonym: process.pseudonym, propagatesTrace: process.tracer?.rules.propagates ?? true)
    metrics = records.metrics
    registry = records.registry
    accessLog = records.accessLog
    accessFormat = records.accessFormat
    identities = records.identities
    sentCredentials = routed.subscriptions.map { SentCredential($0.key) }
    self.limits = limits
    self.description = description
    self.readiness = readiness
    self.signInLink = signInLink
  }

  /// Downstream connections open now.
  package var connectionCount: Int { connections.value }

  /// The size of buffers for content, with the connections that there are now.
  var bufferSize: Int { BodyPump.bufferSize(connections: connections.value) }

  /// Whether another connection may be accepted.
  var hasRoomForConnections: Bool { connections.value < limits.connections }
}

/// How many downstream connections the process has: one number for all generations.
package final class ConnectionCount: Sendable {
  private let open = Atomic(0)
  private let peak = Atomic(0)

  /// None yet.
  package init() {}

  /// Connections open now.
  package var value: Int { open.load(ordering: .relaxed) }

  func opened() {
    let count = open.add(1, ordering: .relaxed).newValue
    if count > peak.load(ordering: .relaxed) { peak.store(count, ordering: .relaxed) }
  }

  /// The most connections at once since the last call, nearly.
  func takePeak() -> Int { peak.exchange(0, ordering: .relaxed) }

  func closed() { open.subtract(1, ordering: .relaxed) }
}

extension SentCredential {
  /// Of tokens of a right.
  fileprivate init(_ key: AcquisitionKey) {
    switch key.subject {
    case .application: self = key.agent == nil ? .application : .agent
    case .account: self = .account
    case .agentUser: self = .agent
    case .caller: self = .caller
    }
  }
}
