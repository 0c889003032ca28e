// Everything that the loops of a running proxy share: routes, limits, destinations of tokens and log lines. Immutable:
// one generation of the configuration, replaced as a whole. The LoopState, one per loop, has the mutable state.

package import Identity
package import Platform
package import Routing
internal import Synchronization
package import Telemetry
internal import Tokens

/// The parts that outlive a configuration: every generation of a process has the same.
package struct ServiceProcess: Sendable {
  package var broker: TokenBroker
  package var resolver: Resolver
  package var log: Log
  /// The requirements of routes for a person.
  package var signInRequirements: SignInRequirements
  /// The tracer; nil if requests are not traced.
  package var tracer: Tracer?
  package var connections: ConnectionCount
  /// The process's name in `Via`. A request that left under one configuration may come back under another.
  package var pseudonym: Pseudonym
  package var tokenFiles: TokenFiles?

  package init(
    broker: TokenBroker, resolver: Resolver, log: Log, signInRequirements: SignInRequirements, tracer: Tracer? = nil,
    connections: ConnectionCount = ConnectionCount(), pseudonym: Pseudonym = Pseudonym(),
    tokenFiles: TokenFiles? = nil
  ) {
    self.tokenFiles = tokenFiles
    self.broker = broker
    self.resolver = resolver
    self.log = log
    self.signInRequirements = signInRequirements
    self.tracer = tracer
    self.connections = connections
    self.pseudonym = pseudonym
  }
}

/// The address at which a person signs in for a route: a path of the listener that was called, or a URL. It is in
/// problem documents, pages and redirects; nil if there are no pages.
package typealias SignInLink = @Sendable (Route, InteractionRequired) -> String?

package final class Service: Sendable {
  package let process: ServiceProcess
  package let plan: RoutePlan
  let table: RouteTable
  let limits: ServiceLimits
  let metrics: ServiceMetrics
  let registry: MetricsRegistry
  /// The file of access records; nil: none.
  let accessLog: OutputFile?
  let accessFormat: LogFormat
  /// The form of people's names in records.
  let identities: RecordedIdentities
  /// The address at which a person signs in for a route: a path of the listener, or a URL; nil if there are no pages.
  let signInLink: SignInLink
  let description: ServiceDescription
  let upstreams: UpstreamCondition
  /// The condition of `/readyz`.
  let readiness: ReadinessRule
  /// The owner of each slot's tokens.
  let sentCredentials: [SentCredential]
  /// The hop's own fields in requests.
  let hop: HopIdentity

  package init(
    _ process: ServiceProcess, _ plan: RoutePlan, limits: ServiceLimits, metrics: ServiceMetrics,
    registry: MetricsRegistry, accessLog: OutputFile? = nil, accessFormat: LogFormat = .json,
    identities: RecordedIdentities = .none,
    description: ServiceDescription = ServiceDescription(version: ""), readiness: ReadinessRule = .tokens,
    signInLink: @escaping SignInLink = { _, _ in nil }
  ) {
    self.process = process
    self.plan = plan
    table = RouteTable(plan.routes)
    upstreams = UpstreamCondition(routes: plan.routes.count)
    hop = HopIdentity(
      pseudonym: process.pseudonym, propagatesTrace: process.tracer?.rules.propagates ?? true)
    sentCredentials = plan.subscriptions.map { SentCredential($0.key.subject, isAgents: $0.key.agent != nil) }
    self.limits = limits
    self.metrics = metrics
    self.registry = registry
    self.accessLog = accessLog
    self.accessFormat = accessFormat
    self.identities = identities
    self.description = description
    self.readiness = readiness
    self.signInLink = signInLink
  }

  package var connectionCount: Int { process.connections.value }

  var bufferSize: Int { BodyPump.bufferSize(connections: process.connections.value) }

  var hasRoomForConnections: Bool { process.connections.value < limits.connections }
}

/// The number of downstream connections of the process: one for all generations.
package final class ConnectionCount: Sendable {
  private let open = Atomic(0)
  private let peak = Atomic(0)

  package init() {}

  package var value: Int { open.load(ordering: .relaxed) }

  func opened() {
    let count = open.add(1, ordering: .relaxed).newValue
    if count > peak.load(ordering: .relaxed) { peak.store(count, ordering: .relaxed) }
  }

  /// The most connections at once since the last call, approximately.
  func takePeak() -> Int { peak.exchange(0, ordering: .relaxed) }

  func closed() { open.subtract(1, ordering: .relaxed) }
}

extension SentCredential {
  /// The owner of a subject's tokens.
  init(_ subject: TokenSubject, isAgents: Bool) {
    switch subject {
    case .application: self = isAgents ? .agent : .application
    case .account: self = .account
    case .agentUser: self = .agent
    case .caller: self = .caller
    }
  }
}
