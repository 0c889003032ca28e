internal import Bytes
package import Telemetry
internal import Tokens

/// The counters of token requests, one for every application, grant and result.
package struct TokenMetrics: Sendable {
  private struct Label: Hashable {
    var application: String
    var grant: String
    var result: String
  }

  private let requests: [Label: Counter]
  private let durations: DurationHistogram

  /// Adds the metrics of these applications to a process's catalogue.
  package init(_ catalog: inout MetricsCatalog, applications: [String]) {
    var requests: [Label: Counter] = [:]
    for application in applications {
      for grant in ["client_credentials", "refresh_token", "user_fic"] + CallerGrant.labels {
        for result in TokenEvent.Outcome.results {
          requests[Label(application: application, grant: grant, result: result)] = catalog.counter(
            "bearer_proxy_token_requests_total", help: "Acquisitions that went to an identity provider.",
            labels: ["application": application, "grant": grant, "result": result])
        }
      }
    }
    self.requests = requests
    durations = catalog.durations(
      "bearer_proxy_token_request_duration_seconds",
      help: "Duration of acquisitions, discovery and repetition included.")
  }

  package func count(_ event: TokenEvent, in writer: SharedMetricsWriter) {
    let label = Label(application: event.application, grant: event.grantType, result: event.outcome.result)
    if let counter = requests[label] { writer.add(counter) }
    let (seconds, attoseconds) = event.duration.components
    writer.observe(durations, nanoseconds: UInt64(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}

extension TokenEvent {
  /// Writes a record: the token that was obtained, or the failure and whether requests fail with it; with the names of
  /// the token's routes, and what to do about a failure.
  package func write(to log: Log, route: String? = nil, next: (AcquisitionError) -> String? = { _ in nil }) {
    let route = route.map(LogValue.string) ?? .absent
    let agent = key.agent.map(LogValue.string) ?? .absent
    switch outcome {
    case .obtained(let lifetime, let granted):
      let fields: KeyValuePairs<StaticString, LogValue> = [
        "route": route, "application": .string(application), "agent": agent,
        "authority": .string(authority.description), "grant": .string(grantType),
        "scopes": .string(scopes.description), "granted": .string(granted.description),
        "expires_in_s": .integer(Int(clamping: lifetime.expiresAt - lifetime.obtainedAt)),
        "duration_ms": .milliseconds(duration),
      ]
      if key.subject.isCaller {
        // There are as many as callers, and no action is needed.
        log.debug("token obtained", fields)
      } else if isOfChangedCredential {
        log.info("changed credential accepted, token obtained", fields)
      } else {
        log.info("token obtained", fields)
      }
    case .failed(let error, _, let servedUntil):
      let refused = error.assertionRefused
      let fields: KeyValuePairs<StaticString, LogValue> = [
        "route": route, "application": .string(application), "agent": agent,
        "authority": .string(authority.description), "grant": .string(grantType),
        "scopes": .string(scopes.description), "reason": .string(refused?.refusal.word ?? error.reason),
        "detail": .string(error.detail),
        "retry_after_s": refused == nil ? .integer(Int(clamping: error.retryAfter ?? 1)) : .absent,
        "served_until": servedUntil.map { .integer(Int(clamping: $0.seconds)) } ?? .absent,
        "duration_ms": .milliseconds(duration),
        "next": refused == nil ? next(error).map(LogValue.string) ?? .absent : .absent,
      ]
      switch (servedUntil, refused) {
      // The route still works; the operator needs to know for how long.
      case (_?, _) where isOfChangedCredential:
        log.warning("changed credential obtained no token, the one of the former credential still serves", fields)
      case (_?, _): log.warning("token not renewed, the held one still serves", fields)
      case (nil, _?): log.info("caller's token not exchanged", fields)
      case (nil, nil): log.error("token not obtained", fields)
      }
    }
  }
}

extension TokenEvent.Outcome {
  /// The `result` label's values.
  static let results = ["obtained"] + TokenErrorClass.allCases.map(\.rawValue)

  var result: String {
    switch self {
    case .obtained: "obtained"
    case .failed(_, let errorClass, _): errorClass.rawValue
    }
  }
}
