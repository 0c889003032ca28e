// Owns what one configuration becomes in a running process. It is replaced as a whole.

import Configuration
import Identity
import Proxy
import Telemetry

/// A configuration and everything that was made of it.
struct Generation {
  let settings: Settings
  /// The settings of the start, which some things have stayed with.
  let first: Settings
  let contexts: TLSContexts
  let checks: CallerTokenChecks
  let listeners: BoundListeners
  let credentials: CredentialVersions
  let accessLog: AccessLog
  let service: Service
  /// The sign-in pages of each traffic listener, where it has any.
  let desks: [SignInDesk?]

  /// The traffic listeners with their pages.
  var traffic: [ServerListener] {
    zip(listeners.traffic, desks).map { listener, desk in desk.map(listener.signingIn) ?? listener }
  }

  /// What its routes want.
  var subscriptions: [TokenSubscription] { service.subscriptions }
}

extension Settings {
  /// The keys of the settings that only a restart brings into force, where they are others than at the start.
  func needingRestart(since first: Settings, _ options: RunOptions) -> [String] {
    var names: [String] = []
    if options.loops == nil, first.loops != loops { names.append("loops") }
    if first.admin?.address.value != admin?.address.value { names.append("admin") }
    if first.cache.isElsewhere(than: cache) { names.append("cache") }
    return names
  }
}

/// The metrics of a process, as the routes and applications of one configuration label them.
struct ProcessMetrics {
  let service: ServiceMetrics
  let tokens: TokenMetrics
  let cache: CacheMetrics?
  let reloads: ReloadMetrics
  /// nil where nothing is traced.
  let traces: TraceMetrics?
  let registry: MetricsRegistry

  /// Metrics of a configuration; what `former` has counted under the same names goes on.
  init(_ settings: Settings, loops: Int, isTracing: Bool, succeeding former: ProcessMetrics?) {
    var catalog = MetricsCatalog()
    service = ServiceMetrics(
      &catalog, routes: settings.routes.map(\.name), version: programVersion, commit: programCommit)
    tokens = TokenMetrics(&catalog, applications: settings.applications.map(\.name))
    // The cache stays the one of the start.
    let isShared = former.map { $0.cache != nil } ?? (settings.cache.place != nil)
    cache = isShared ? CacheMetrics(&catalog) : nil
    reloads = ReloadMetrics(&catalog)
    traces = isTracing ? TraceMetrics(&catalog) : nil
    registry = MetricsRegistry(catalog, writers: loops, succeeding: former?.registry)
    registry.shared.set(service.buildInfo, 1)
  }
}
