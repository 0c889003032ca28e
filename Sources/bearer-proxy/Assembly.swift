// Owns putting a proxy together from its settings: what lasts as long as the process, and for each configuration a generation. What
// each part does is its own module's.

import Configuration
import HTTP
import HTTPClient
import Identity
import Network
import Proxy
import Telemetry
import Tokens

/// What every generation of the configuration shares: loops, tokens, the log.
struct Assembly {
  let options: RunOptions
  let loops: [EventLoop]
  let resolver: Resolver
  let fetcher: Fetcher
  let broker: TokenBroker
  let log: Log
  /// Takes tokens until a server is there to publish them to.
  let publications: Publications
  let reloads: ReloadHistory
  let store: any TokenCacheStore
  /// One for all generations: a request that left under one may come back under another.
  private let pseudonym = Pseudonym()
  private let authentication = ClientAuthenticationMemory()
  /// What sends spans; nil where nothing is traced.
  let exporter: TraceExporter?
  private let tracer: Tracer?
  private let tracingValues: [ConfiguredValue]
  private let challengeMemory: ChallengeMemory
  private let metrics: Locked<ProcessMetrics>
  private let cacheCondition: CacheCondition

  /// Puts together what lasts. The cache's file is read before this returns.
  init(
    _ settings: Settings, options: RunOptions, loops: [EventLoop], resolver: Resolver, fetcher: Fetcher,
    tracing: Tracing
  ) async {
    let format = LogFormat(options.logFormat ?? settings.log.format)
    let said = Locked(Repetitions())
    let summarised: Log.WithRepetitions = { body in said.withLock { body(&$0) } }
    let log = Log(
      level: LogLevel(options.logLevel ?? settings.log.level), format: format, now: { .now }, repetitions: summarised
    ) { line in
      line.withUnsafeBytes { OutputFile.standardError.write($0) }
    }
    let tracer = tracing.tracer
    let metrics = Locked(
      ProcessMetrics(settings, loops: loops.count, isTracing: tracer != nil, succeeding: nil))
    exporter = tracer.flatMap { tracer in
      tracing.exporter(of: tracer, fetcher: fetcher, log: log) { event in
        let metrics = metrics.withLock { $0 }
        metrics.traces?.count(event, in: metrics.registry.shared)
      }
    }
    self.tracer = tracer
    tracingValues = tracing.values
    let place = settings.cache.place
    let condition = CacheCondition(path: place, kind: settings.cache.kind, now: { .now })
    let store = await openCache(settings.cache, loop: loops[0], resolver: resolver) { event in
      condition.take(event)
      event.write(to: log, path: place ?? "")
      let metrics = metrics.withLock { $0 }
      metrics.cache?.count(event, in: metrics.registry.shared)
    }
    let publications = Publications()
    let challengeMemory =
      ChallengeMemory(of: settings.cache, store, subscriptions: [:], now: { .now }) ?? ChallengeMemory(now: { .now })
    broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { .now }, filingPatience: .milliseconds(100),
        observe: { event in
          event.write(to: log)
          let metrics = metrics.withLock { $0 }
          metrics.tokens.count(event, in: metrics.registry.shared)
        },
        publish: { key, value in
          publications.publish(value, key)
          if let value { challengeMemory.take(value, for: key) }
        }), store: store)
    self.challengeMemory = challengeMemory
    self.options = options
    self.loops = loops
    self.resolver = resolver
    self.fetcher = fetcher
    self.log = log
    self.publications = publications
    self.store = store
    self.metrics = metrics
    cacheCondition = condition
    reloads = ReloadHistory(ReloadReport(inForceSince: .now))
    countReload(nil)
  }

  /// What a configuration becomes. Parts of `former` that need not be new are not.
  func generation(
    _ settings: Settings, contexts: TLSContexts, checks: CallerTokenChecks, listeners: BoundListeners,
    accessLog: AccessLog, succeeding former: Generation?
  ) -> Generation {
    var credentials = former?.credentials ?? CredentialVersions()
    credentials.follow(settings.applications)
    let providers = Providers(settings, contexts: contexts, fetcher: fetcher, tracer: tracer)
    var plan = RoutePlan()
    for (route, tls) in zip(settings.routes, contexts.routes) {
      let subscription = settings.subscription(
        of: route, credentials: credentials, authentication: authentication, fetch: providers.fetch)
      plan.add(route, tls: tls, subscription: subscription)
    }
    let wishes = plan.routes.compactMap { route in route.bearerSlot.map { (route.name, plan.subscriptions[$0]) } }
    challengeMemory.follow(Dictionary(uniqueKeysWithValues: wishes))
    let format = LogFormat(options.logFormat ?? settings.log.format)
    log.change(level: LogLevel(options.logLevel ?? settings.log.level), format: format)
    let metrics = metrics.withLock { metrics in
      if former != nil {
        metrics = ProcessMetrics(
          settings, loops: loops.count, isTracing: tracer != nil, succeeding: metrics)
      }
      return metrics
    }
    // Where a person is sent who asked at a listener without pages, or at none.
    let pages = zip(settings.listeners, listeners.traffic).compactMap { SignInOrigin($0, $1) }.first
    let service = Service(
      routes: plan.routes, origins: plan.origins, subscriptions: plan.subscriptions, limits: ServiceLimits(settings),
      broker: broker, resolver: resolver, log: log, metrics: metrics.service, registry: metrics.registry,
      accessLog: accessLog.output, accessFormat: format, challengeMemory: challengeMemory,
      signInLink: { route, _ in pages?.link(route: route.name, returnTo: nil) },
      description: ServiceDescription(
        settings, since: former?.first ?? settings, options, cache: cacheCondition, loops: loops.count,
        tracing: tracingValues),
      readiness: settings.readyWhen == .started ? .started : .tokens,
      connections: former?.service.connections ?? ConnectionCount(), tracer: tracer,
      pseudonym: pseudonym)
    let desks = zip(listeners.traffic, settings.listeners).map { listener, settings in
      signInDesk(settings, listener, service, succeeding: former?.desks ?? [])
    }
    return Generation(
      settings: settings, first: former?.first ?? settings, contexts: contexts, checks: checks, listeners: listeners,
      credentials: credentials, accessLog: accessLog, service: service, desks: desks)
  }

  /// Shows what became of a reload, or of the start.
  func countReload(_ outcome: ReloadReport.Outcome?) {
    let metrics = metrics.withLock { $0 }
    if let outcome {
      metrics.reloads.count(outcome, at: .now, in: metrics.registry.shared)
    } else {
      metrics.reloads.started(at: .now, in: metrics.registry.shared)
    }
  }
}

/// Event loops, or a complaint where the system gives none.
func startLoops(_ count: Int) -> [EventLoop]? {
  do throws(SystemError) {
    var loops: [EventLoop] = []
    for index in 0..<count { loops.append(try EventLoop(index: index)) }
    return loops
  } catch {
    complain("bearer-proxy: error: no event loop: \(error.description)\n")
    return nil
  }
}

/// The ways to the identity providers, each under its application's trust.
struct Providers {
  private let contexts: [String: TLSContext]
  private let fetcher: Fetcher
  private let tracer: Tracer?

  init(_ settings: Settings, contexts: TLSContexts, fetcher: Fetcher, tracer: Tracer? = nil) {
    self.contexts = Dictionary(
      uniqueKeysWithValues: zip(settings.applications, contexts.applications).compactMap { application, context in
        context.map { (application.name, $0) }
      })
    self.fetcher = fetcher
    self.tracer = tracer
  }

  /// The way to an application's provider.
  func fetch(_ application: ApplicationSettings) -> Fetch {
    let choice = application.proxy
    let fetch = fetcher.bound(tls: contexts[application.name]) { url in
      choice.proxy(for: url).map { ConnectProxy($0) }
    }
    return tracer?.tracing(fetch) ?? fetch
  }
}

/// Where new tokens go: from the broker, which is there first, to the server's loops.
final class Publications: Sendable {
  private let server = Locked<ProxyServer?>(nil)

  func attach(_ server: ProxyServer) {
    self.server.withLock { $0 = server }
  }

  func publish(_ value: BearerValue?, _ key: AcquisitionKey) {
    server.withLock { $0 }?.publish(value, for: key)
  }
}

extension ConnectProxy {
  /// The proxy of the settings.
  init(_ address: ProxyAddress) {
    self.init(
      host: address.host, port: address.port,
      credential: address.credential.map { $0.bytes.withUnsafeBufferPointer { Array($0) } })
  }
}

extension ServiceLimits {
  init(_ settings: Settings) {
    self.init(
      head: HeadLimits(
        headBytes: settings.limits.headBytes, fieldCount: settings.limits.fieldCount,
        targetBytes: settings.limits.targetBytes),
      bodyBytes: settings.limits.bodyBytes.map { UInt64($0) }, connections: settings.limits.connections,
      unfinished: settings.limits.unfinished,
      callerRate: settings.limits.callerRate.map { UInt64($0) },
      requestHead: TimeSpan(settings.timeouts.requestHead), idle: TimeSpan(settings.timeouts.idle),
      grace: TimeSpan(settings.shutdown.grace))
  }
}

extension LogLevel {
  fileprivate init(_ level: LogSettings.Level) {
    switch level {
    case .debug: self = .debug
    case .info: self = .info
    case .warning: self = .warning
    case .error: self = .error
    }
  }
}

extension LogFormat {
  fileprivate init(_ format: LogSettings.Format) {
    self = format == .json ? .json : .text
  }
}

extension UnixTime {
  /// The wall clock.
  static var now: UnixTime { UnixTime(WallClock.now.seconds) }
}

extension LogInstant {
  static var now: LogInstant {
    let now = WallClock.now
    return LogInstant(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
