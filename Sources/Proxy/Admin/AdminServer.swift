internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Identity
package import Platform
internal import Routing
internal import Synchronization
internal import Telemetry
internal import Tokens

/// The admin listener: `/healthz`, `/readyz`, `/metrics`, `/status`, `/config`, `/log`, `/token` and `/quitquitquit`.
/// No traffic passes through it.
package final class AdminServer: Sendable {
  private let proxy: ProxyServer
  private let loop: EventLoop
  private let callers: Locked<AdminCallers>
  private let reloads: Locked<ReloadReport>
  private let quit: @Sendable () -> Void
  private let isDraining = Atomic(false)
  private let startedAt = UnixTime.now
  private let hasBeenReady = Atomic(false)

  /// An admin server on `loop`. `quit` is called if a caller with control asks for the process's end.
  package init(
    of proxy: ProxyServer, loop: EventLoop, callers: AdminCallers, reloads: Locked<ReloadReport>,
    quit: @escaping @Sendable () -> Void = {}
  ) {
    self.proxy = proxy
    self.loop = loop
    self.callers = Locked(callers)
    self.reloads = reloads
    self.quit = quit
  }

  var service: Service { proxy.service }

  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.head = HeadLimits(headBytes: 8192, fieldCount: 64, targetBytes: 1024)
    // A further one replaces the one that has been silent longest, so that probes and scrapes keep getting theirs.
    limits.connections = 64
    return limits
  }

  /// Begins to accept on `socket`. The admin listener stays to the end, so that probes see the drain.
  package func start(_ socket: BoundSocket) {
    let loop = loop
    Task(executorPreference: loop) {
      let listener: Listener
      do throws(SystemError) {
        listener = try Listener(socket, loop: loop)
      } catch {
        self.service.process.log.error(
          "cannot listen for admin requests",
          ["reason": .string(error.description), "next": .next(error.cure)])
        return
      }
      _ = await SmallServer(AdminHandler(server: self), loop: loop, limits: Self.limits).serve(listener)
    }
  }

  /// Records whether the proxy is ready now: a reload may bring routes that have had no token yet.
  package func noteReadiness() async {
    _ = await readinessReport(.now)
  }

  package func judgeCallers(by rules: AdminCallers) {
    callers.withLock { $0 = rules }
  }

  /// From now on `/readyz` reports that the process is ending.
  package func drain() {
    isDraining.store(true, ordering: .relaxed)
  }

  /// Carries out the small server's requests.
  private struct AdminHandler: RequestHandler {
    let server: AdminServer

    func read(
      _ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer
    ) -> RequestReading<AdminRequest> {
      .accepted(AdminRequest(head, bytes, peer, server.callers.withLock { $0 }), .unread)
    }

    func answer(_ request: AdminRequest, _ content: ReceivedContent) async -> ServerResponse {
      await server.answer(request)
    }

    func refusal(_ status: Int) -> ServerResponse? { nil }
  }

  private func answer(_ request: AdminRequest) async -> ServerResponse {
    let right: AdminRight
    switch request.caller {
    case .failure(.crossSite): return .text(403, "a page of another site may not call the admin listener\n")
    case .failure: return .text(421, "the Host field names no host of this listener\n")
    case .success(let caller): right = await callers.withLock({ $0 }).right(caller, token: request.token)
    }
    guard AdminRight(toReach: request.path) <= right else {
      if request.path == "/token" {
        return .text(403, "only the proxy's own user and root get tokens, on a unix socket\n")
      }
      return .text(403, Self.refusal(right))
    }
    if request.path == "/quitquitquit" {
      // A POST, so that no link and no prefetching ends a process.
      guard request.isPost else { return .text(405, "only POST\n") }
      quit()
      return .text(200, "ending\n")
    }
    if request.path == "/log", request.isPost { return changeLevel(request.level) }
    guard request.isRead else { return .text(405, "only GET and HEAD\n") }
    switch request.path {
    case "/healthz": return .text(200, "ok\n")
    case "/readyz": return await readiness(right, isVerbose: request.isVerbose)
    case "/metrics":
      await service.setGauges(at: .now, startedAt: startedAt)
      return .admin(200, MetricsRegistry.mediaType, service.registry.prometheusText())
    case "/status":
      let report = await status().json
      return request.form == .json ? .json(report.canonicalText() + "\n") : .text(200, statusText(report))
    case "/config":
      let text = service.description.configuration(request.form)
      return request.form == .json ? .json(text) : .text(200, text)
    case "/log": return .text(200, "\(service.process.log.level.rawValue)\n")
    case "/token": return await token(ofRoute: request.route, for: request.taker)
    default:
      return .text(404, "try /healthz, /readyz, /metrics, /status, /config, /log or POST /quitquitquit\n")
    }
  }

  private static func refusal(_ right: AdminRight) -> String {
    let open =
      switch right {
      case .none: "nothing is"
      case .probes: "/healthz, /readyz and /metrics are"
      case .status, .control, .tokens: "/healthz, /readyz, /metrics and /status are"
      }
    return "\(open) open to this caller; for more, give the admin listener a unix socket, on which its own user and "
      + "root have control, or a rule under admin.callers, and keep that rule\n"
  }

  /// Changes the lowest level that is written, until the configuration is read again.
  private func changeLevel(_ word: String?) -> ServerResponse {
    let log = service.process.log
    guard let level = word.flatMap(LogLevel.init(rawValue:)) else {
      return .text(400, "say ?level= with \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))\n")
    }
    let former = log.level
    // A reader of the log must see why it has more or fewer records from here on: the record has the more verbose of
    // the two levels.
    log.change(level: min(former, level))
    log.info("log level changed", ["from": .string(former.rawValue), "to": .string(level.rawValue)])
    log.change(level: level)
    return .text(200, "\(level.rawValue)\n")
  }

  private func status() async -> StatusReport {
    let service = service
    let now = UnixTime.now
    let routes = await service.routeStatuses(at: now)
    let (registry, metrics) = (service.registry, service.metrics)
    return StatusReport(
      description: service.description, startedAt: startedAt, now: now,
      isDraining: isDraining.load(ordering: .relaxed), readiness: await readinessReport(now),
      routes: routes, programs: service.programStatuses(routes), reload: reloads.withLock { $0 },
      callers: (
        registry.value(of: metrics.connectionsOpen), registry.value(of: metrics.http2Connections),
        registry.value(of: metrics.http2Streams)
      ),
      upstreams: await proxy.sharedConnections(), lostRecords: service.accessLog?.droppedLines ?? 0,
      accessLogFailure: service.accessLog?.failure)
  }

  private func readiness(_ right: AdminRight, isVerbose: Bool) async -> ServerResponse {
    if isDraining.load(ordering: .relaxed) { return .text(503, "draining\n") }
    let now = UnixTime.now
    let report = await readinessReport(now)
    // The first line alone, if the others are not for this caller: they name accounts.
    if right < .status { return .text(report.isReady ? 200 : 503, report.text.prefix { $0 != "\n" } + "\n") }
    var text = report.text
    if isVerbose {
      let rule = service.readiness
      text += "ready_when: \(rule.rawValue)\n"
      for route in await service.routeStatuses(at: now) {
        let isAwaited = route.token.map(rule.awaits) ?? false
        text += "[\(isAwaited ? "-" : "+")] route \(route.route.name): \(route.line)\n"
      }
    }
    return .text(report.isReady ? 200 : 503, text)
  }

  private func readinessReport(_ now: UnixTime) async -> ReadinessReport {
    let service = service
    let report = ReadinessReport(
      await service.process.broker.statuses(of: service.plan.subscriptions),
      needs: await service.process.signInRequirements.all(),
      expected: Set(service.plan.subscriptions.map(\.key).filter { !$0.subject.isCaller }).count, now: now,
      rule: hasBeenReady.load(ordering: .relaxed) ? .started : service.readiness)
    if report.isReady { hasBeenReady.store(true, ordering: .relaxed) }
    return report
  }
}
