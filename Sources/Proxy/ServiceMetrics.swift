// Owns the list of the proxy's metrics. Labels are routes, applications and small closed sets, never anything a caller
// sends.

public import Telemetry

/// The handles of every metric of a proxy.
public struct ServiceMetrics: Sendable {
  static let statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]
  static let unrouted = "(none)"

  let requests: CounterTable
  let durations: DurationHistogramTable
  let routeCount: Int
  let tokenSources: CounterTable
  let connectionsAccepted: Counter
  let connectionsOpen: Gauge
  let acceptPauses: Counter
  let upstreamConnections: CounterTable
  let retries: Counter
  let challenges: CounterTable
  let signInNeeds: Gauge
  /// 1; the label says which version.
  public let buildInfo: Gauge

  /// Adds the proxy's metrics to a catalogue.
  public init(_ catalog: inout MetricsCatalog, routes: [String], version: String) {
    let route = MetricLabel("route", routes + [Self.unrouted])
    routeCount = routes.count
    requests = catalog.counters(
      "bearer_proxy_requests_total", help: "Requests, by route and class of the status sent.", by: route,
      and: MetricLabel("status_class", Self.statusClasses))
    durations = catalog.durations(
      "bearer_proxy_request_duration_seconds",
      help: "From the first byte of a request to the last of its response.", by: route)
    tokenSources = catalog.counters(
      "bearer_proxy_request_tokens_total", help: "Requests, by route and where their token came from.", by: route,
      and: MetricLabel("source", ["none", "cache", "identity_provider"]))
    connectionsAccepted = catalog.counter(
      "bearer_proxy_connections_accepted_total", help: "Downstream connections accepted.")
    connectionsOpen = catalog.gauge("bearer_proxy_connections_open", help: "Downstream connections open now.")
    acceptPauses = catalog.counter(
      "bearer_proxy_accept_pauses_total",
      help: "Times that accepting rested because connections, descriptors or memory had run out.")
    upstreamConnections = catalog.counters(
      "bearer_proxy_upstream_connections_total", help: "Upstream connections taken for requests, by route and kind.",
      by: route, and: MetricLabel("kind", ["reused", "new", "failed"]))
    retries = catalog.counter(
      "bearer_proxy_upstream_retries_total", help: "Requests repeated because a pooled connection had been closed.")
    challenges = catalog.counters(
      "bearer_proxy_challenges_total",
      help: "Refusals of tokens by upstreams, and of the provider to give one, by kind and what became of them.",
      by: MetricLabel("kind", ChallengeRecord.kinds), and: MetricLabel("outcome", ChallengeRecord.outcomes))
    signInNeeds = catalog.gauge(
      "bearer_proxy_sign_in_needs", help: "Routes for which something is remembered that a sign-in has to bring.")
    buildInfo = catalog.gauge(
      "bearer_proxy_build_info", help: "1, labelled with the version.", labels: ["version": version])
  }

  func row(_ route: Int?) -> Int { route ?? routeCount }

  static func statusClass(_ status: UInt16) -> Int {
    switch status {
    case 100..<600: Int(status / 100)
    default: 0
    }
  }
}
