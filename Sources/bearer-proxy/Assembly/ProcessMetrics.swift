import Configuration
import Identity
import Proxy
import Telemetry

/// The metrics of a process, as the routes and applications of one configuration label them.
struct ProcessMetrics {
  let service: ServiceMetrics
  let tokens: TokenMetrics
  let cache: CacheMetrics?
  let reloads: ReloadMetrics
  /// nil if nothing is traced.
  let traces: TraceMetrics?
  let registry: MetricsRegistry

  /// Metrics of a configuration; what `former` has counted under the same names goes on.
  init(_ configuration: LoadedConfiguration, loops: Int, isTracing: Bool, succeeding former: ProcessMetrics?) {
    let settings = configuration.settings
    var catalog = MetricsCatalog()
    service = ServiceMetrics(
      &catalog, routes: settings.routes.map(\.name), programs: settings.listeners.flatMap(\.programs).map(\.name),
      certificates: configuration.watched.report.map(\.name), version: programVersion, commit: programCommit)
    tokens = TokenMetrics(&catalog, applications: settings.applications.map(\.name))
    // The cache stays the one of the start.
    let isShared = former.map { $0.cache != nil } ?? (configuration.cache.place != nil)
    cache = isShared ? CacheMetrics(&catalog) : nil
    reloads = ReloadMetrics(&catalog)
    traces = isTracing ? TraceMetrics(&catalog) : nil
    registry = MetricsRegistry(catalog, writers: loops, succeeding: former?.registry)
    registry.shared.set(service.buildInfo, 1)
  }
}
