// Owns the list of the proxy's metrics. Labels are routes, applications and small closed sets, never anything a caller
// sends.

internal import Routing
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
  let upstreamFailures: CounterTable
  let retries: Counter
  let challenges: CounterTable
  let signInNeeds: Gauge
  let limits: CounterTable
  let expiry: GaugeTable
  let formerCredentials: GaugeTable
  let states: GaugeTable
  let loopDelays: DurationHistogram
  let droppedLines: CounterTable
  let process: ResourceMetrics
  /// 1; the label says which version.
  public let buildInfo: Gauge

  /// Adds the proxy's metrics to a catalogue.
  public init(_ catalog: inout MetricsCatalog, routes: [String], version: String, commit: String? = nil) {
    let route = MetricLabel("route", routes + [Self.unrouted])
    routeCount = routes.count
    requests = catalog.counters(
      "bearer_proxy_requests_total", help: "Requests, by route and class of the status sent.", by: route,
      and: MetricLabel("status_class", Self.statusClasses))
    durations = catalog.durations(
      "bearer_proxy_request_duration_seconds",
      help: "From the first byte of a request to the last of its response, by route and class of the status sent.",
      by: route, and: MetricLabel("status_class", Self.statusClasses))
    tokenSources = catalog.counters(
      "bearer_proxy_request_tokens_total", help: "Requests, by route and where their token came from.", by: route,
      and: MetricLabel("source", ["none", "cache", "shared_cache", "identity_provider"]))
    connectionsAccepted = catalog.counter(
      "bearer_proxy_connections_accepted_total", help: "Downstream connections accepted.")
    connectionsOpen = catalog.gauge("bearer_proxy_connections_open", help: "Downstream connections open now.")
    acceptPauses = catalog.counter(
      "bearer_proxy_accept_pauses_total",
      help: "Times that accepting rested because connections, descriptors or memory had run out.")
    upstreamConnections = catalog.counters(
      "bearer_proxy_upstream_connections_total", help: "Upstream connections taken for requests, by route and kind.",
      by: route, and: MetricLabel("kind", ["reused", "new", "failed"]))
    upstreamFailures = catalog.counters(
      "bearer_proxy_upstream_failures_total",
      help: "Requests without a whole answer of their upstream, by route and what was wrong with it.", by: route,
      and: MetricLabel("reason", UpstreamFault.allCases.map { "\($0.word)" }), isSparse: true)
    retries = catalog.counter(
      "bearer_proxy_upstream_retries_total", help: "Requests repeated because a pooled connection had been closed.")
    challenges = catalog.counters(
      "bearer_proxy_challenges_total",
      help: "Refusals of tokens by upstreams, and of the provider to give one, by kind and what became of them.",
      by: MetricLabel("kind", ChallengeRecord.kinds), and: MetricLabel("outcome", ChallengeRecord.outcomes))
    signInNeeds = catalog.gauge(
      "bearer_proxy_sign_in_needs", help: "Routes for which something is remembered that a sign-in has to bring.")
    limits = catalog.counters(
      "bearer_proxy_limits_hit_total",
      help: "Requests that met a limit or a time limit, and connections that had to wait.",
      by: MetricLabel("limit", Limit.allCases.map(\.rawValue)))
    let named = MetricLabel("route", routes)
    expiry = catalog.gauges(
      "bearer_proxy_token_expiry_seconds",
      help: "Seconds until the held token of a route ends; none where none is held.",
      by: named)
    formerCredentials = catalog.gauges(
      "bearer_proxy_token_former_credential",
      help: "1 while a route is served with a token of a credential that was replaced: the new one has obtained none.",
      by: named)
    states = catalog.gauges(
      "bearer_proxy_route_state", help: "1 for the state that a route is in, as /status says it, 0 for the others.",
      by: named, and: MetricLabel("state", RouteState.allCases.map(\.rawValue)))
    loopDelays = catalog.durations(
      "bearer_proxy_loop_delay_seconds",
      help: "How long event loops were busy with a batch of events: so long the next ones waited.",
      bounds: Self.delayBounds)
    droppedLines = catalog.counters(
      "bearer_proxy_log_lines_dropped_total", help: "Log lines lost because nobody read them.",
      by: MetricLabel("stream", ["access", "log"]))
    process = ResourceMetrics(&catalog)
    buildInfo = catalog.gauge(
      "bearer_proxy_build_info", help: "1, labelled with the version and the commit it was built from.",
      labels: ["version": version, "commit": commit ?? ""])
  }

  /// From what is usual to what callers notice.
  private static let delayBounds: [Duration] = [
    .microseconds(50), .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1),
    .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
    .milliseconds(100), .milliseconds(250), .seconds(1),
  ]

  func row(_ route: Int?) -> Int { route ?? routeCount }

  static func statusClass(_ status: UInt16) -> Int {
    switch status {
    case 100..<600: Int(status / 100)
    default: 0
    }
  }
}

/// How a route stands, in the words of metrics and `/status`.
enum RouteState: String, CaseIterable {
  case ready
  case refreshing
  case signInNeeded = "sign_in_needed"
  case cacheUnavailable = "cache_unavailable"
  case providerDown = "provider_down"
  case providerRefuses = "provider_refuses"
  case upstreamFailing = "upstream_failing"
}
