// The composition root: from a configuration to the parts that run. The start and every reload take the same three
// steps.
//
//   1. ConfigurationSource.read   files        → LoadedConfiguration: settings, certificates, the store of tokens
//   2. HeldResources.init         the system   → access log, listeners, judges of callers' tokens
//   3. Composition.generation     nothing else → Generation: routes, pools, token slots, limits, sign-in pages
//
// The first two can fail, and then nothing has changed. The third cannot. What lasts as long as the process, whatever
// its configuration, is Composition itself; RunCommand makes it once, between 2 and 3.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Routing
import Telemetry
import Tokens

/// The remaining rights of a confined process.
struct KeptRights: Sendable {
  /// The only directories in which it may make files.
  let directories: Set<String>
  /// The programs that it may run, beside those of the system if there are any.
  let programs: Set<String>
}

/// The parts of a process that need no configuration.
struct Machinery {
  let options: RunOptions
  let loops: [EventLoop]
  let resolver = Resolver()
  let fetcher: Fetcher
  let tracing: Tracing
  /// The process's remaining rights to files and programs; nil if it is not confined.
  let confinedTo: KeptRights?

  init(
    _ options: RunOptions, loops count: Int, environment: [String: String], confinedTo: KeptRights?
  ) throws(SystemError) {
    var loops: [EventLoop] = []
    for index in 0..<count { loops.append(try EventLoop(index: index)) }
    self.options = options
    self.loops = loops
    fetcher = Fetcher(loop: loops[0], resolver: resolver)
    tracing = Tracing(environment)
    self.confinedTo = confinedTo
  }

  /// The process's descriptors, before it accepts a caller. Each loop takes a descriptor of its own of each listener.
  func descriptors(beside listeners: BoundListeners) -> DescriptorBudget {
    let resources = Machine.resources
    let acceptors = loops.count * listeners.traffic.count
    return DescriptorBudget(limit: Int(resources.descriptorLimit), atStart: Int(resources.openDescriptors) + acceptors)
  }
}

extension Log {
  /// Warns if descriptors, of which each caller's request takes two, run out before `limits.connections` is reached.
  func warn(of descriptors: DescriptorBudget, for connections: Int) {
    let possible = descriptors.connections(wanted: connections)
    guard possible < connections else { return }
    let needed = descriptors.limit(for: connections)
    warning(
      "too few file descriptors for limits.connections",
      [
        "limit": .integer(descriptors.limit), "needed": .integer(needed), "connections": .integer(possible),
        "next": .next(.hardLimit, [.needed: "\(needed)", .possible: "\(possible)"]),
      ])
  }
}

/// A configuration's resources of the system while it is in force.
struct HeldResources {
  let accessLog: AccessLog
  let checks: CallerTokenChecks
  let listeners: BoundListeners

  /// Obtains them. What `former` holds and need not be new stays. Listeners are last: nothing fails after they are
  /// bound.
  /// - Parameter inherited: the sockets that the process was started with.
  init(
    _ configuration: LoadedConfiguration, _ machinery: Machinery, inherited: inout InheritedSockets,
    succeeding former: HeldResources?
  ) throws(ConfigurationError) {
    if let issues = machinery.confinedTo.map({
      configuration.settings.filesOutside($0.directories) + configuration.settings.programsOutside($0.programs)
    }), !issues.isEmpty {
      throw ConfigurationError(issues)
    }
    accessLog = try AccessLog(configuration.settings.log, succeeding: former?.accessLog)
    checks = CallerTokenChecks(configuration, fetcher: machinery.fetcher, succeeding: former?.checks)
    listeners = try BoundListeners(
      configuration, loops: machinery.loops.count, inherited: &inherited, checks: checks, succeeding: former?.listeners)
  }
}

/// A configuration in force and everything that was made of it. It is replaced as a whole.
struct Generation {
  let configuration: LoadedConfiguration
  /// The settings of the start, which some things have stayed with.
  let first: Settings
  let held: HeldResources
  /// As of the start: no caller has a descriptor then.
  let descriptors: DescriptorBudget
  let credentials: CredentialVersions
  let service: Service
  /// The sign-in pages of each traffic listener, if it has any.
  let signInHandlers: [SignInHandler?]

  var settings: Settings { configuration.settings }

  var traffic: [ProxyListener] {
    zip(zip(held.listeners.traffic, settings.listeners), signInHandlers).enumerated().map { index, parts in
      let ((bound, settings), signInHandler) = parts
      var listener = bound
      listener.context.speaksHTTP2 = settings.http2
      listener.context.programs = service.plan.programs[index]
      if listener.context.programs != nil { return listener }
      listener.context.handsOut = settings.handOut == .proxies
      listener.context.signIn = signInHandler
      return listener
    }
  }

  /// The token files, with what is written to each.
  var tokenFiles: [(file: TokenFile, subscription: TokenSubscription)] {
    zip(settings.routes, service.plan.routes).compactMap { settings, route in
      guard let file = settings.tokenFile, let slot = route.bearerSlot else { return nil }
      let life = Int64(file.leastLife.nanoseconds / 1_000_000_000)
      return (
        TokenFile(row: route.index, path: file.path.value, group: file.group, leastLife: life), subscriptions[slot]
      )
    }
  }

  var subscriptions: [TokenSubscription] { service.plan.subscriptions }
}

/// The parts that every generation of a process shares: loops, tokens, the log.
struct Composition {
  let machinery: Machinery
  let process: ServiceProcess
  let store: CacheStore
  /// Takes tokens until a server is there to publish them to.
  let publications: Publications
  let reloads: Locked<ReloadReport>
  /// The sender of spans; nil if nothing is traced.
  let exporter: TraceExporter?
  private let metrics: Locked<ProcessMetrics>
  /// The advice for the routes of each token.
  private let advisors: Locked<[AcquisitionKey: [CheckAdvice]]>
  private let cacheCondition: CacheCondition
  private let cachePlace: String

  var log: Log { process.log }
  var broker: TokenBroker { process.broker }

  /// Puts together what lasts. The cache is read before this returns.
  /// - Parameter listeners: named in the first record of the log.
  init(_ configuration: LoadedConfiguration, _ machinery: Machinery, _ listeners: BoundListeners) async {
    let settings = configuration.settings.overridden(by: machinery.options)
    let deduplicator = Locked(LogDeduplicator())
    let log = Log(
      level: settings.log.level, format: settings.log.format, now: { .now },
      deduplicator: { body in deduplicator.withLock { body(&$0) } }
    ) { line in
      line.withUnsafeBytes { OutputFile.standardError.write($0) }
    }
    log.info(
      "starting",
      [
        "version": .string(programVersion), "commit": programCommit.map(LogValue.string) ?? .absent,
        "configuration": .string(machinery.options.configuration),
        "listeners": .string(listeners.traffic.compactMap(\.address?.description).joined(separator: ", ")),
        "admin": listeners.admin.map { .string($0.socket.address.description) } ?? .absent,
        "cache": .string(configuration.cache.place ?? "memory"),
      ])
    let tracer = machinery.tracing.tracer
    let advisors = Locked<[AcquisitionKey: [CheckAdvice]]>([:])
    let metrics = Locked(
      ProcessMetrics(configuration, loops: machinery.loops.count, isTracing: tracer != nil, succeeding: nil))
    exporter = tracer.flatMap { tracer in
      machinery.tracing.exporter(of: tracer, fetcher: machinery.fetcher, log: log) { event in
        metrics.withLock { $0.traces?.count(event, in: $0.registry.shared) }
      }
    }
    let cache = configuration.cache
    let condition = CacheCondition(path: cache.place, kind: cache.kind, now: { .now })
    let observeTokens: @Sendable (TokenEvent) -> Void = { event in
      event.write(to: log)
      metrics.withLock { $0.tokens.count(event, in: $0.registry.shared) }
    }
    let store = await cache.open(
      loop: machinery.loops[0], resolver: machinery.resolver, observeTokens: observeTokens
    ) { event in
      condition.take(event)
      event.write(to: log, path: cache.place ?? "") { $0.cure.words() }
      metrics.withLock { $0.cache?.count(event, in: $0.registry.shared) }
    }
    let publications = Publications()
    let signInRequirements = SignInRequirements(beside: store, subscriptions: [:], now: { .now })
    let broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { .now }, filingPatience: .milliseconds(100),
        observe: { event in
          let routes = advisors.withLock { $0[event.key] } ?? []
          event.write(to: log, route: routes.isEmpty ? nil : routes.map(\.route.name).joined(separator: ", ")) {
            routes.first?.advice($0)
          }
          metrics.withLock { $0.tokens.count(event, in: $0.registry.shared) }
        },
        publish: { key, value in
          publications.publish(value, key)
          if let value { signInRequirements.take(value, for: key) }
        }), store: store)
    let tokenFiles = TokenFiles(broker: broker, log: log, now: { .now })
    publications.attach(tokenFiles)
    process = ServiceProcess(
      broker: broker, resolver: machinery.resolver, log: log, signInRequirements: signInRequirements, tracer: tracer,
      tokenFiles: tokenFiles)
    self.machinery = machinery
    self.publications = publications
    self.store = store
    self.metrics = metrics
    self.advisors = advisors
    cacheCondition = condition
    cachePlace = cache.place ?? ""
    authentication = ClientAuthenticationMemory { $0.write(to: log) }
    reloads = Locked(ReloadReport(inForceSince: .now))
    countReload(nil)
  }

  /// Logs what the end of the process loses.
  func write(_ loss: CacheStore.Loss) {
    let liveCheck = machinery.options.commands.liveCheck()
    log.error(
      "ended with changes that the token cache lacks: they are lost",
      [
        "reason": .string(loss.reason.reason), "detail": .string(loss.reason.description(path: cachePlace)),
        "changes": .integer(loss.changes),
        "next": .string("\(loss.reason.cure.words()) Then \(Cure.signInRoutes.words([.liveCheck: liveCheck]))"),
      ], when: .always)
  }

  /// Logs when access records cannot be written, and when they can again.
  private func watch(_ accessLog: AccessLog) {
    guard let output = accessLog.output else { return }
    let place = accessLog.path ?? "standard output"
    output.onFailure { [log, weak output] error in
      guard let error else {
        let lost = Int(clamping: output?.droppedLines ?? 0)
        return log.warning("access records are written again", ["file": .string(place), "lost": .integer(lost)])
      }
      log.error(
        "access records cannot be written, and are lost",
        [
          "file": .string(place), "reason": .string(error.reason),
          "next": .next(error.isOutOfSpace ? .accessSpace : .accessOutput),
        ])
    }
  }

  /// A generation from a configuration. It reuses what it can of `former`.
  func generation(
    _ configuration: LoadedConfiguration, _ held: HeldResources, succeeding former: Generation?
  ) -> Generation {
    let settings = configuration.settings
    let log = settings.overridden(by: machinery.options).log
    self.log.change(level: log.level, format: log.format)
    self.log.write(settings.warnings)
    watch(held.accessLog)
    let first = former?.first ?? settings
    let commands = OperatorCommands(settings, cache: first.cache, configuration: machinery.options.configurationPath)
    var credentials = former?.credentials ?? CredentialVersions()
    credentials.follow(settings.applications, configuration.certificates)
    if former != nil { configuration.cache.entrance?.follow(configuration) }
    let plan = routePlan(configuration, credentials)
    let requested = plan.routes.compactMap { route in route.bearerSlot.map { (route.name, plan.subscriptions[$0]) } }
    let advisors = zip(plan.routes, settings.routes).compactMap { route, settings in
      route.bearerSlot.map { (plan.subscriptions[$0].key, configuration.advice(for: settings, commands)) }
    }
    self.advisors.withLock { $0 = Dictionary(grouping: advisors, by: \.0).mapValues { $0.map(\.1) } }
    process.signInRequirements.follow(Dictionary(uniqueKeysWithValues: requested))
    let metrics = metrics.withLock { metrics in
      if former != nil {
        metrics = ProcessMetrics(
          configuration, loops: machinery.loops.count, isTracing: process.tracer != nil, succeeding: metrics)
      }
      return metrics
    }
    // The address to which a person is sent who asked at a listener without pages, or at none.
    let pages = zip(settings.listeners, held.listeners.traffic).compactMap { SignInOrigin($0, $1) }.first
    let descriptors = former?.descriptors ?? machinery.descriptors(beside: held.listeners)
    self.log.warn(of: descriptors, for: settings.limits.connections)
    let service = Service(
      process, plan, limits: settings.limits.within(descriptors), metrics: metrics.service, registry: metrics.registry,
      accessLog: held.accessLog.output, accessFormat: log.format, identities: log.identities,
      description: ServiceDescription(configuration, since: first, machinery, commands, cache: cacheCondition),
      readiness: settings.readyWhen, signInLink: { route, _ in pages?.link(route: route.name, returnTo: nil) })
    let signInHandlers = zip(held.listeners.traffic, settings.listeners).map { listener, settings in
      signInHandler(settings, listener, service, succeeding: former?.signInHandlers ?? [])
    }
    return Generation(
      configuration: configuration, first: first, held: held, descriptors: descriptors, credentials: credentials,
      service: service, signInHandlers: signInHandlers)
  }

  private func routePlan(_ configuration: LoadedConfiguration, _ credentials: CredentialVersions) -> RoutePlan {
    let settings = configuration.settings
    let providers = Providers(contexts: configuration.contexts, fetcher: machinery.fetcher, tracer: process.tracer)
    func subscription(_ token: IssuedToken?) -> TokenSubscription? {
      configuration.subscription(
        of: token, credentials: credentials, authentication: authentication, fetch: providers.fetch)
    }
    var plan = RoutePlan()
    for (route, tls) in zip(settings.routes, configuration.contexts.routes) {
      plan.add(
        route, applicationName: route.application.flatMap { settings.application(named: $0)?.displayName }, tls: tls,
        fetcher: machinery.fetcher, subscription: subscription(route.token.issued),
        choices: (route.tokenChoice?.tokens ?? [:]).sorted { $0.key < $1.key }.compactMap { value, token in
          subscription(token).map { (value: value, subscription: $0) }
        })
    }
    plan.addPrograms(of: settings) { name, scopes in subscription(IssuedToken(application: name, scopes: scopes)) }
    return plan
  }

  private let authentication: ClientAuthenticationMemory

  /// Counts what became of a reload; nil is the start.
  func countReload(_ outcome: ReloadReport.Outcome?) {
    let metrics = metrics.withLock { $0 }
    if let outcome {
      metrics.reloads.count(outcome, at: .now, in: metrics.registry.shared)
    } else {
      metrics.reloads.started(at: .now, in: metrics.registry.shared)
    }
  }
}
