// The proxy's metrics. Labels are routes, applications and small closed sets, never a value that a caller sends.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
package import Telemetry
internal import Tokens

package struct ServiceMetrics: Sendable {
  static let statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]
  static let unrouted = "(none)"
  /// The status codes that are counted one by one: those of RFC 9110 and its relatives. 0 is no response at all.
  static let codes: InlineArray<55, UInt16> = [
    0, 101, 200, 201, 202, 203, 204, 205, 206, 207, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405,
    406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451,
    499, 500, 501, 502, 503, 504, 505, 507, 508, 511,
  ]

  let requests: CounterTable
  let responses: CounterTable
  let problems: CounterTable
  let durations: DurationHistogramTable
  let routeCount: Int
  let tokenSources: CounterTable
  let handedOut: CounterTable
  let programTokens: CounterTable
  let connectionsAccepted: Counter
  let connectionsOpen: Gauge
  let http2Connections: Gauge
  let http2Streams: Gauge
  let http2Requests: Counter
  let upstreamHTTP2Requests: Counter
  let upstreamHTTP2Connections: Gauge
  let acceptPauses: Counter
  let upstreamConnections: CounterTable
  let upstreamFailures: CounterTable
  let retries: Counter
  let challenges: CounterTable
  let signInNeeds: Gauge
  let limits: CounterTable
  let callerTokens: Gauge
  let callerTokenHits: Counter
  let callerTokenEvictions: Counter
  let expiry: GaugeTable
  let tokenFileExpiry: GaugeTable
  let tokenFileWrites: CounterTable
  let formerCredentials: GaugeTable
  let certificates: GaugeTable
  let states: GaugeTable
  let loopDelays: DurationHistogram
  let droppedLines: CounterTable
  let process: ResourceMetrics
  /// 1, with the version as its label.
  package let buildInfo: Gauge

  /// Adds the proxy's metrics to a catalogue.
  /// - Parameter certificates: the names of the certificates that are watched.
  package init(
    _ catalog: inout MetricsCatalog, routes: [String], programs: [String] = [],
    certificates certificateNames: [String] = [], version: String, commit: String? = nil
  ) {
    let route = MetricLabel("route", routes + [Self.unrouted])
    routeCount = routes.count
    requests = catalog.counters(
      "bearer_proxy_requests_total", help: "Requests, by route and class of the status sent.", by: route,
      and: MetricLabel("status_class", Self.statusClasses))
    responses = catalog.counters(
      "bearer_proxy_responses_total", help: "Responses, by route and status code sent.", by: route,
      and: MetricLabel("code", Self.codes.indices.map { "\(Self.codes[$0])" } + ["other"]), isSparse: true)
    problems = catalog.counters(
      "bearer_proxy_problems_total", help: "The proxy's own answers with a problem, by route and problem type.",
      by: route, and: MetricLabel("type", ProblemType.allCases.map(\.rawValue)), isSparse: true)
    durations = catalog.durations(
      "bearer_proxy_request_duration_seconds",
      help: "From the first byte of a request to the last of its response, by route and class of the status sent.",
      by: route, and: MetricLabel("status_class", Self.statusClasses))
    tokenSources = catalog.counters(
      "bearer_proxy_request_tokens_total", help: "Requests, by route and source of their token.", by: route,
      and: MetricLabel("source", TokenSource.allCases.map(\.word)))
    handedOut = catalog.counters(
      "bearer_proxy_tokens_handed_out_total",
      help: "Tokens handed out to engines, for commands and in files, by the program they are for and route.",
      by: MetricLabel("program", TokenTaker.allCases.map(\.name)), and: MetricLabel("route", routes),
      isSparse: true)
    programTokens = catalog.counters(
      "bearer_proxy_program_tokens_total", help: "Tokens given to programs, by program and route.",
      by: MetricLabel("program", programs), and: route, isSparse: true)
    connectionsAccepted = catalog.counter(
      "bearer_proxy_connections_accepted_total", help: "Downstream connections accepted.")
    connectionsOpen = catalog.gauge("bearer_proxy_connections_open", help: "Downstream connections open now.")
    http2Connections = catalog.gauge(
      "bearer_proxy_http2_connections_open", help: "Downstream connections that use HTTP/2 now.")
    http2Streams = catalog.gauge(
      "bearer_proxy_http2_streams_open", help: "Requests of connections with HTTP/2 in progress.")
    http2Requests = catalog.counter(
      "bearer_proxy_http2_requests_total", help: "Requests over HTTP/2; bearer_proxy_requests_total counts them, too.")
    upstreamHTTP2Requests = catalog.counter(
      "bearer_proxy_upstream_http2_requests_total", help: "Requests sent over HTTP/2, repeated ones included.")
    upstreamHTTP2Connections = catalog.gauge(
      "bearer_proxy_upstream_http2_connections_open", help: "Connections to upstreams that use HTTP/2 now.")
    acceptPauses = catalog.counter(
      "bearer_proxy_accept_pauses_total",
      help: "Times that accepting was paused because connections, descriptors or memory had run out.")
    upstreamConnections = catalog.counters(
      "bearer_proxy_upstream_connections_total", help: "Upstream connections taken for requests, by route and kind.",
      by: route, and: MetricLabel("kind", ["reused", "new", "failed"]))
    upstreamFailures = catalog.counters(
      "bearer_proxy_upstream_failures_total",
      help: "Requests without a whole answer of their upstream, by route and reason.", by: route,
      and: MetricLabel("reason", UpstreamFault.allCases.map(\.rawValue)), isSparse: true)
    retries = catalog.counter(
      "bearer_proxy_upstream_retries_total",
      help: "Requests repeated because a pooled connection had been closed, or the upstream had not processed them.")
    challenges = catalog.counters(
      "bearer_proxy_challenges_total",
      help: "Refusals of tokens by upstreams, and of the provider to give one, by kind and outcome.",
      by: MetricLabel("kind", RecordedChallenge.allCases.map(\.rawValue)),
      and: MetricLabel("outcome", ChallengeOutcome.allCases.map(\.rawValue)))
    signInNeeds = catalog.gauge(
      "bearer_proxy_sign_in_needs", help: "Routes with a remembered requirement for a sign-in.")
    limits = catalog.counters(
      "bearer_proxy_limits_hit_total",
      help: "Requests that met a limit or a time limit, and connections that had to wait.",
      by: MetricLabel("limit", Limit.allCases.map(\.rawValue)))
    callerTokens = catalog.gauge(
      "bearer_proxy_caller_tokens",
      help: "Callers whose exchanged tokens, or failures to get one, are kept; one for each of its routes.")
    callerTokenHits = catalog.counter(
      "bearer_proxy_caller_token_hits_total",
      help: "Requests served with their event loop's copy of their caller's token.")
    callerTokenEvictions = catalog.counter(
      "bearer_proxy_caller_token_evictions_total",
      help: "Callers' tokens, or failures to get one, that were evicted for others.")
    let named = MetricLabel("route", routes)
    expiry = catalog.gauges(
      "bearer_proxy_token_expiry_seconds",
      help: "Seconds until the held token of a route ends; absent if none is held.",
      by: named)
    tokenFileExpiry = catalog.gauges(
      "bearer_proxy_token_file_expiry_seconds",
      help: "Seconds until the token in a route's token file ends; 0 if the file is not there.", by: named)
    tokenFileWrites = catalog.counters(
      "bearer_proxy_token_file_writes_total", help: "Writes of token files, by route and outcome.", by: named,
      and: MetricLabel("outcome", ["written", "failed"]), isSparse: true)
    formerCredentials = catalog.gauges(
      "bearer_proxy_token_former_credential",
      help: "1 while a route is served with a token of a credential that was replaced: the new one has obtained none.",
      by: named)
    certificates = catalog.gauges(
      "bearer_proxy_certificate_expiry_seconds",
      help: "Seconds until a certificate of the configuration ends, negative afterwards.",
      by: MetricLabel("certificate", certificateNames))
    states = catalog.gauges(
      "bearer_proxy_route_state", help: "1 for the state of a route, as in /status, 0 for the others.",
      by: named, and: MetricLabel("state", RouteState.allCases.map(\.rawValue)))
    loopDelays = catalog.durations(
      "bearer_proxy_loop_delay_seconds",
      help: "Duration of a batch of events on an event loop: the delay of the next ones.",
      bounds: Self.delayBounds)
    droppedLines = catalog.counters(
      "bearer_proxy_log_lines_dropped_total", help: "Log lines lost: they were not read, or could not be written.",
      by: MetricLabel("stream", ["access", "log"]))
    process = ResourceMetrics(&catalog)
    buildInfo = catalog.gauge(
      "bearer_proxy_build_info", help: "1, labelled with the version and the commit it was built from.",
      labels: ["version": version, "commit": commit ?? ""])
  }

  /// From usual delays to those that callers notice.
  private static let delayBounds: [Duration] = [
    .microseconds(50), .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1),
    .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
    .milliseconds(100), .milliseconds(250), .seconds(1),
  ]

  func row(_ route: Int?) -> Int { route ?? routeCount }

  /// The position of a status code among `codes`, or behind them.
  static func codeRow(_ status: UInt16) -> Int {
    for row in codes.indices where codes[row] == status { return row }
    return codes.count
  }

  static func statusClass(_ status: UInt16) -> Int { 100..<600 ~= status ? Int(status / 100) : 0 }
}

/// The program to which a token is handed out without an entry under `programs`: a proxy in front, the program that
/// calls `token --format`, or the readers of a token file.
enum TokenTaker: Int, CaseIterable {
  case engine, plain, json, git, kubectl, docker, file

  /// The name in metrics and logs.
  var name: String { "\(self)" }
}

/// The state of a route, in the words of metrics and `/status`.
enum RouteState: String, CaseIterable {
  case ready
  case refreshing
  case signInNeeded = "sign_in_needed"
  case cacheUnavailable = "cache_unavailable"
  case providerDown = "provider_down"
  case providerRefuses = "provider_refuses"
  case upstreamFailing = "upstream_failing"
}

/// A limit that requests can meet, by the name under which it is counted: the configuration's.
enum Limit: String, CaseIterable {
  case headBytes = "head_bytes"
  case targetBytes = "target_bytes"
  case fieldCount = "field_count"
  case bodyBytes = "body_bytes"
  case connections
  /// Frames of HTTP/2 that cost work and bring none.
  case http2Abuse = "http2_abuse"
  /// Connections in a handshake or with a part of a head.
  case unfinished
  case requestHead = "request_head"
  /// Time without a byte of a body.
  case idle
  /// Bytes of a body in a time.
  case callerRate = "caller_rate"
  case connect
  case responseHead = "response_head"
  case exchange
}

extension ExchangeFailure {
  var limit: Limit? {
    switch self {
    case .head(.headTooLarge): .headBytes
    case .head(.targetTooLong): .targetBytes
    case .head(.field(.tooMany)): .fieldCount
    case .delivery(.tooLarge): .bodyBytes
    case .headStalled: .requestHead
    case .delivery(.contentStalled): .idle
    case .delivery(.contentTooSlow): .callerRate
    case .unreachable(.timedOut), .unreachable(.connect(.timedOut)): .connect
    case .delivery(.upstreamStalled): .responseHead
    case .delivery(.exchangeTimedOut): .exchange
    default: nil
    }
  }
}

/// The metrics of a process in every Prometheus client library: memory, descriptors, processor time, start.
struct ResourceMetrics: Sendable {
  private let resident: Gauge
  private let descriptors: Gauge
  private let descriptorLimit: Gauge
  private let start: Gauge
  private let processorTime: Counter

  init(_ catalog: inout MetricsCatalog) {
    resident = catalog.gauge("process_resident_memory_bytes", help: "Resident memory in bytes.")
    descriptors = catalog.gauge("process_open_fds", help: "Open descriptors.")
    descriptorLimit = catalog.gauge("process_max_fds", help: "Maximum number of open descriptors.")
    start = catalog.gauge("process_start_time_seconds", help: "Start time of the process since 1970, in seconds.")
    processorTime = catalog.secondsCounter(
      "process_cpu_seconds_total", help: "Processor time, of the process and of the kernel for it.")
  }

  func set(in writer: SharedMetricsWriter, startedAt: UnixTime) {
    let resources = Machine.resources
    writer.set(resident, resources.residentBytes)
    writer.set(descriptors, resources.openDescriptors)
    writer.set(descriptorLimit, resources.descriptorLimit)
    writer.set(start, startedAt.seconds)
    writer.set(processorTime, total: resources.processorTime)
  }
}
