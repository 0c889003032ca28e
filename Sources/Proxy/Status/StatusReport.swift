package import Bytes
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

/// A process in `/status`: its build, start, readiness, cache and routes.
struct StatusReport {
  let description: ServiceDescription
  let startedAt: UnixTime
  let now: UnixTime
  let isDraining: Bool
  let readiness: ReadinessReport
  let routes: [RouteStatus]
  var programs: [ProgramStatus] = []
  let reload: ReloadReport
  /// Callers' connections, those of them with HTTP/2, and the requests that these serve.
  var callers: (connections: Int64, sessions: Int64, streams: Int64) = (0, 0, 0)
  /// The connections with HTTP/2 to upstreams.
  var upstreams: [SharedConnectionReport] = []
  var lostRecords: UInt64 = 0
  var accessLogFailure: SystemError?

  private var isReady: Bool { readiness.isReady && !isDraining }

  var json: JSONValue {
    let cache = description.cache()
    var kept: [String: (any JSONMember)?] = [
      "kind": cache.kind.rawValue, "line": Self.line(cache, now), "usable": cache.trouble == nil,
      "unwritten_changes": cache.unwrittenChanges, "trouble": cache.trouble, "since": cache.troubleSince,
    ]
    if cache.kind != .memory { kept[cache.kind.rawValue] = cache.path }
    let accessLog = JSONValue([
      "lines_lost": Int64(clamping: lostRecords), "trouble": accessLogFailure?.reason,
      "line": "\(lostRecords) records lost" + (accessLogFailure.map { ", cannot be written: \($0.reason)" } ?? ""),
    ])
    let callerCounts = JSONValue([
      "connections": callers.connections, "http2_connections": callers.sessions, "http2_streams": callers.streams,
      "line": "\(callers.connections) connections, \(callers.sessions) of them with HTTP/2, on which "
        + "\(callers.streams) requests are served",
    ])
    return JSONValue([
      "version": description.version, "commit": description.commit, "ready": isReady, "draining": isDraining,
      "line": line, "started_on": startedAt, "uptime": max(now - startedAt, 0),
      "configuration": description.commands.configuration, "cache": JSONValue(kept), "routes": routes.map(\.json),
      "programs": programs.map(\.json).nonEmpty,
      "certificates": description.certificates.map { Self.json($0, now) }.nonEmpty,
      "access_log": lostRecords > 0 || accessLogFailure != nil ? accessLog : nil, "callers": callerCounts,
      "upstream_connections": upstreams.map(Self.json).nonEmpty, "reload": reload.json(at: now),
    ])
  }

  private var line: String {
    let build = description.commit.map { "\(description.version) (\($0.prefix(12)))" } ?? description.version
    let verdict = isDraining ? "draining" : isReady ? "ready" : "not ready"
    return "\(verdict): bearer-proxy \(build), up for \(words(seconds: now - startedAt))"
  }

  private static func json(_ certificate: WatchedCertificate, _ now: UnixTime) -> JSONValue {
    let validity = certificate.validity
    let state = validity.state(at: now)
    let line =
      switch state {
      case .valid, .endsSoon, .endsVerySoon:
        "\(state == .valid ? "valid" : "ends soon: valid") for \(words(seconds: validity.notAfter - now)), until "
          + validity.notAfter.rfc3339
      case .notYetValid: "not valid before \(validity.notBefore.rfc3339)"
      case .expired: "ended \(words(since: validity.notAfter, now: now))"
      }
    return JSONValue([
      "name": certificate.name, "file": certificate.file, "thumbprint": certificate.thumbprint,
      "not_before": validity.notBefore, "not_after": validity.notAfter, "state": state.word,
      "line": "\(line), thumbprint \(certificate.thumbprint)",
    ])
  }

  private static func json(_ connection: SharedConnectionReport) -> JSONValue {
    let (streams, all) = (connection.streams, Int64(clamping: connection.streamsInAll))
    let age = Int64(clamping: connection.age.nanoseconds / 1_000_000_000)
    return JSONValue([
      "host": connection.host, "port": Int(connection.port), "http2_streams": Int(streams),
      "http2_streams_in_all": all, "age": age,
      "line": "connection with HTTP/2 on which \(streams) requests are in progress, \(all) in all, open for "
        + words(seconds: age),
    ])
  }

  private static func line(_ cache: CacheCondition.Report, _ now: UnixTime) -> String {
    guard let path = cache.path else { return "in memory" }
    guard let trouble = cache.trouble, let since = cache.troubleSince else { return path }
    let kept = cache.unwrittenChanges == 0 ? "" : ", \(cache.unwrittenChanges) changes not written"
    return "cannot be used \(words(since: since, now: now)): \(trouble)\(kept)"
  }
}

/// The lines of a report for people.
package func statusText(_ report: JSONValue) -> String {
  func line(_ value: JSONValue?) -> String { value?.members?["line"]?.text ?? "" }
  func list(_ name: String, by key: String = "name") -> [(name: String, line: String)] {
    guard case .array(let values)? = report.members?[name] else { return [] }
    return values.map { ($0.members?[key]?.text ?? "", line($0)) }
  }
  var rows = list("routes")
  rows += list("programs").map { ("(program \($0.name))", $0.line) }
  rows += list("certificates").map { ("(certificate of \($0.name))", $0.line) }
  let callers = report.members?["callers"]
  if let sessions = callers?.members?["http2_connections"], sessions != .integer(0) {
    rows.append(("(callers)", line(callers)))
  }
  rows += list("upstream_connections", by: "host").map { ("(upstream \($0.name))", $0.line) }
  let reload = report.members?["reload"]?.members
  // Not shown while the file is the one that the process started with.
  if reload?["generation"] != .integer(1) || reload?["current"] == .bool(false) {
    rows.append(("(configuration)", line(report.members?["reload"])))
  }
  rows.append(("(cache)", line(report.members?["cache"])))
  if let log = report.members?["access_log"] { rows.append(("(access log)", line(log))) }
  let width = rows.map(\.name.count).max() ?? 0
  let lines = rows.map { "\($0.name.padded(width))  \($0.line)" }
  return ([line(report)] + lines).joined(separator: "\n") + "\n"
}

/// One program in `/status`: its tokens, and those that wait for a person.
struct ProgramStatus {
  let program: Program
  /// Those of all routes.
  let routes: [RouteStatus]

  private var tokens: [String] {
    program.tokens.map { $0.route == nil ? "application \($0.name)" : "route \($0.name)" }
  }

  /// The routes that need a person before the program gets their tokens.
  private var waits: [String] {
    program.tokens.filter { token in
      guard let route = token.route else { return false }
      return routes[route].condition.state == .signInNeeded
    }.map(\.name)
  }

  var line: String {
    let waits = waits
    if waits.isEmpty { return "gets tokens of \(tokens.joined(separator: ", "))" }
    return "waits for a sign-in: see route \(waits.joined(separator: ", "))"
  }

  /// The same for programs; deploy/operations.md describes it.
  var json: JSONValue {
    JSONValue([
      "name": program.name, "shape": program.shape.rawValue, "line": line, "tokens": tokens,
      "waits_for": waits.nonEmpty,
    ])
  }
}

extension ReloadReport {
  func json(at now: UnixTime) -> JSONValue {
    JSONValue([
      "line": line(at: now), "generation": Int64(generation), "in_force_since": inForceSince, "current": refusal == nil,
      "need_restart": needRestart, "refused": refusal.map { JSONValue(["at": $0.at, "issues": $0.issues]) },
    ])
  }

  private func line(at now: UnixTime) -> String {
    let inForce = "in force \(words(since: inForceSince, now: now))"
    if let refusal {
      let more = refusal.issues.count > 1 ? " (and \(refusal.issues.count - 1) more)" : ""
      return
        "not reloaded \(words(since: refusal.at, now: now)): \(refusal.issues.first ?? "")\(more); an older one is "
        + "\(inForce)"
    }
    return needRestart.isEmpty ? inForce : "\(inForce); a restart is needed for \(needRestart.joined(separator: ", "))"
  }
}

/// An instant in the past, with the time since.
func words(since instant: UnixTime, now: UnixTime) -> String {
  "since \(instant.rfc3339) (\(words(seconds: now - instant)))"
}

extension CertificateValidity.State {
  /// The state for programs.
  var word: String {
    switch self {
    case .valid: "valid"
    case .endsSoon, .endsVerySoon: "ends_soon"
    case .notYetValid: "not_yet_valid"
    case .expired: "expired"
    }
  }
}

extension InteractionReason {
  /// Completes "needs a sign-in:".
  var clause: String {
    switch self {
    case .noAccount: "no account is signed in"
    case .accountAmbiguous: "several accounts are signed in, and the route names none"
    case .noTokens: "the account has nothing left to get a token with"
    case .userMismatch: "the provider answered for another person"
    case .basicAction: "the provider wants more proof, such as a second factor"
    case .additionalAction: "the provider wants something done outside the sign-in first, such as enrolling a device"
    case .messageOnly: "the provider has a message for the account"
    case .consentRequired: "consent is missing"
    case .passwordExpired: "the password has to be changed"
    case .protectionPolicyRequired: "a device policy keeps the account out"
    case .signInRequired: "the provider wants a new sign-in"
    }
  }
}
