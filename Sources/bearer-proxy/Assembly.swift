// Owns putting a proxy together from its settings: contexts, pools, applications, routes, tokens, metrics, log. What each
// part does is its own module's.

import Configuration
import HTTP
import HTTPClient
import Identity
import Network
import Proxy
import Telemetry
import Tokens

/// A proxy and its surroundings, ready to be started.
struct Assembly {
  let loops: [EventLoop]
  let service: Service
  let broker: TokenBroker
  let subscriptions: [TokenSubscription]
  let log: Log
  /// Takes tokens until a server is there to publish them to.
  let publications: Publications

  /// Puts everything together. The cache's file is read before this returns.
  init(
    _ settings: Settings, contexts: TLSContexts, options: RunOptions, loops: [EventLoop], resolver: Resolver,
    fetcher: Fetcher
  ) async {
    let format: LogFormat = (options.logFormat ?? settings.log.format) == .json ? .json : .text
    let log = Log(level: LogLevel(options.logLevel ?? settings.log.level), format: format, now: { .now }) { line in
      line.withUnsafeBytes { OutputFile.standardError.write($0) }
    }
    let providers = Providers(settings, contexts: contexts, fetcher: fetcher)
    var plan = RoutePlan()
    for (route, tls) in zip(settings.routes, contexts.routes) {
      plan.add(route, tls: tls, subscription: settings.subscription(of: route, fetch: providers.fetch))
    }

    var catalog = MetricsCatalog()
    let metrics = ServiceMetrics(&catalog, routes: plan.routes.map(\.name), version: programVersion)
    let tokenMetrics = TokenMetrics(&catalog, applications: settings.applications.map(\.name))
    let cacheMetrics = settings.cache.path.map { _ in CacheMetrics(&catalog) }
    let registry = MetricsRegistry(catalog, writers: loops.count)
    registry.shared.set(metrics.buildInfo, 1)

    let condition = CacheCondition(path: settings.cache.path, now: { UnixTime(WallClock.now.seconds) })
    let store = await openCache(settings.cache) { event in
      condition.take(event)
      event.write(to: log, path: settings.cache.path ?? "")
      cacheMetrics?.count(event, in: registry.shared)
    }
    let publications = Publications(plan.subscriptions)
    let broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { UnixTime(WallClock.now.seconds) },
        observe: { event in
          event.write(to: log)
          tokenMetrics.count(event, in: registry.shared)
        },
        publish: { key, value in publications.publish(key, value) }), store: store)

    self.loops = loops
    self.log = log
    self.broker = broker
    self.publications = publications
    subscriptions = plan.subscriptions
    service = Service(
      routes: plan.routes, origins: plan.origins, subscriptions: plan.subscriptions, limits: ServiceLimits(settings),
      broker: broker, resolver: resolver, log: log, metrics: metrics, registry: registry,
      accessLog: settings.log.access ? .standardOutput : nil, accessFormat: format,
      challengeMemory: Self.challengeMemory(settings.cache, plan),
      description: ServiceDescription(settings, options, cache: condition, loops: loops.count))
  }
}

extension Assembly {
  /// What routes need a person for, shared with other processes where the cache is.
  private static func challengeMemory(_ cache: CacheSettings, _ plan: RoutePlan) -> ChallengeMemory {
    let now: @Sendable () -> UnixTime = { UnixTime(WallClock.now.seconds) }
    guard let path = cache.path else { return ChallengeMemory(now: now) }
    let wishes = plan.routes.compactMap { route in
      route.bearerSlot.map { (route.name, plan.subscriptions[$0]) }
    }
    return ChallengeMemory(beside: path, subscriptions: Dictionary(uniqueKeysWithValues: wishes), now: now)
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

  init(_ settings: Settings, contexts: TLSContexts, fetcher: Fetcher) {
    self.contexts = Dictionary(
      uniqueKeysWithValues: zip(settings.applications, contexts.applications).compactMap { application, context in
        context.map { (application.name, $0) }
      })
    self.fetcher = fetcher
  }

  /// The way to an application's provider.
  func fetch(_ application: ApplicationSettings) -> Fetch {
    fetcher.bound(tls: contexts[application.name])
  }
}

/// Where new tokens go: from the broker, which is there first, to the server's loops.
final class Publications: Sendable {
  private let slots: [AcquisitionKey: [Int]]
  private let server = Locked<ProxyServer?>(nil)

  init(_ subscriptions: [TokenSubscription]) {
    slots = Dictionary(grouping: subscriptions.indices, by: { subscriptions[$0].key })
  }

  func attach(_ server: ProxyServer) {
    self.server.withLock { $0 = server }
  }

  func publish(_ key: AcquisitionKey, _ value: BearerValue?) {
    guard let server = server.withLock({ $0 }) else { return }
    for slot in slots[key] ?? [] { server.publish(value, slot: slot) }
  }
}

extension ServiceLimits {
  init(_ settings: Settings) {
    self.init(
      head: HeadLimits(headBytes: settings.limits.headBytes, fieldCount: settings.limits.fieldCount),
      bodyBytes: settings.limits.bodyBytes.map { UInt64($0) }, connections: settings.limits.connections,
      requestHead: TimeSpan(settings.timeouts.requestHead), idle: TimeSpan(settings.timeouts.idle))
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

extension LogInstant {
  static var now: LogInstant {
    let now = WallClock.now
    return LogInstant(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
