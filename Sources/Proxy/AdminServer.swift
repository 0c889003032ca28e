// Owns the admin listener: health, readiness, metrics, status, configuration and the request to end, over the smallest HTTP that
// serves a probe. It never sees a token, and no traffic passes through it.

internal import HTTP
internal import Identity
public import Network
internal import Synchronization
internal import Telemetry
internal import Tokens

/// Serves `/healthz`, `/readyz`, `/metrics`, `/status`, `/config` and `/log`, and takes `/quitquitquit`.
public final class AdminServer: Sendable {
  private let current: CurrentService
  private let loop: EventLoop
  private let callers: Locked<AdminCallers>
  private let reloads: ReloadHistory
  private let quit: @Sendable () -> Void
  private let isDraining = Atomic(false)
  private let startedAt = UnixTime(WallClock.now.seconds)
  private let hasBeenReady = Atomic(false)

  /// An admin server on `loop`. `quit` is called where a caller who may control asks for the process's end.
  public init(
    _ current: CurrentService, loop: EventLoop, callers: AdminCallers, reloads: ReloadHistory,
    quit: @escaping @Sendable () -> Void = {}
  ) {
    self.current = current
    self.loop = loop
    self.callers = Locked(callers)
    self.reloads = reloads
    self.quit = quit
  }

  private var service: Service { current.value }

  /// Begins to accept on `socket`.
  public func start(_ socket: BoundSocket) {
    let loop = loop
    Task(executorPreference: loop) {
      let listener: Listener
      do throws(SystemError) {
        listener = try Listener(socket, loop: loop)
      } catch {
        self.service.log.error("cannot listen for admin requests", ["reason": .string(error.description)])
        return
      }
      let waiter = Waiter(loop)
      let connections = Confined(AdminConnections(), to: loop)
      // The admin listener stays to the end, so that probes see the drain.
      while true {
        guard let (channel, address) = await listener.nextConnection(waiter) else { continue }
        let credentials = PeerCredentials(of: channel)
        let peer = AdminPeer(address: address, credentials: credentials, user: PeerCredentials.own.user)
        Task(executorPreference: loop) { await self.serve(channel, peer, among: connections) }
      }
    }
  }

  /// Has it noted if the proxy is ready now: a reload may bring routes whose tokens nobody has had yet.
  public func noteReadiness() async {
    _ = await readinessReport(UnixTime(WallClock.now.seconds))
  }

  /// Judges callers by these rules from now on.
  public func judgeCallers(by rules: AdminCallers) {
    callers.withLock { $0 = rules }
  }

  /// From now on `/readyz` says that the process is ending.
  public func drain() {
    isDraining.store(true, ordering: .relaxed)
  }

  private func serve(_ channel: Channel, _ peer: AdminPeer, among connections: Confined<AdminConnections>) async {
    do throws(StreamError) {
      let connection = try AdminConnection(channel, peer)
      connections.value.add(connection)
      while let request = await connection.nextRequest(callers.withLock({ $0 })) {
        connections.value.heard(connection)
        let answer = await answer(request)
        guard await connection.send(answer, request) else { break }
        // Whoever asks for one thing after the other leaves the loop to others in between.
        await Task.yield()
      }
      connections.value.remove(connection)
      connection.close()
    } catch {
      service.log.debug("cannot serve an admin connection")
    }
  }

  private func answer(_ request: AdminRequest) async -> AdminAnswer {
    let right: AdminRight
    switch request.caller {
    case .failure(.crossSite): return .text(403, "a page of another site may not call the admin listener\n")
    case .failure: return .text(421, "the Host field names no host of this listener\n")
    case .success(let caller): right = await callers.withLock({ $0 }).right(caller, token: request.token)
    }
    guard AdminRight(toReach: request.path) <= right else { return .text(403, Self.refusal(right)) }
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
    case "/readyz": return await readiness(right)
    case "/metrics":
      await service.setGauges(at: UnixTime(WallClock.now.seconds), startedAt: startedAt)
      return AdminAnswer(
        status: 200, contentType: MetricsRegistry.mediaType, body: service.registry.prometheusText())
    case "/status":
      let report = await status().json
      return request.form == .json ? .json(report.canonicalText() + "\n") : .text(200, statusText(report))
    case "/config":
      let text = service.description.configuration(request.form)
      return request.form == .json ? .json(text) : .text(200, text)
    case "/log": return .text(200, "\(service.log.level.rawValue)\n")
    default:
      return .text(404, "try /healthz, /readyz, /metrics, /status, /config, /log or POST /quitquitquit\n")
    }
  }

  private static func refusal(_ right: AdminRight) -> String {
    let open =
      switch right {
      case .none: "nothing is"
      case .probes: "/healthz, /readyz and /metrics are"
      case .status, .control: "/healthz, /readyz, /metrics and /status are"
      }
    return "\(open) open to this caller; for more, give the admin listener a unix socket, on which its own user and "
      + "root have control, or a rule under admin.callers, and keep that rule\n"
  }

  /// Changes from which level on records are written, until the configuration is read again.
  private func changeLevel(_ word: String?) -> AdminAnswer {
    let log = service.log
    guard let level = word.flatMap(LogLevel.init(rawValue:)) else {
      return .text(400, "say ?level= with \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))\n")
    }
    let former = log.level
    // Whoever reads the log later is to know why it says more or less from here on: the more talkative of the two levels says it.
    log.change(level: min(former, level))
    log.info("log level changed", ["from": .string(former.rawValue), "to": .string(level.rawValue)])
    log.change(level: level)
    return .text(200, "\(level.rawValue)\n")
  }

  private func status() async -> StatusReport {
    let service = service
    let now = UnixTime(WallClock.now.seconds)
    return StatusReport(
      description: service.description, startedAt: startedAt, now: now,
      isDraining: isDraining.load(ordering: .relaxed), readiness: await readinessReport(now),
      routes: await service.routeStatuses(at: now), reload: reloads.report)
  }

  private func readiness(_ right: AdminRight) async -> AdminAnswer {
    if isDraining.load(ordering: .relaxed) { return .text(503, "draining\n") }
    let report = await readinessReport(UnixTime(WallClock.now.seconds))
    // The first line alone, where the others are not for this caller: they name accounts.
    let text = right < .status ? report.text.prefix { $0 != "\n" } + "\n" : report.text[...]
    return .text(report.isReady ? 200 : 503, String(text))
  }

  private func readinessReport(_ now: UnixTime) async -> ReadinessReport {
    let service = service
    let report = ReadinessReport(
      await service.broker.statuses(of: service.subscriptions), needs: await service.signInRequirements.needs(),
      expected: Set(service.subscriptions.map(\.key)).count, now: now,
      isOwed: service.readiness == .tokens && !hasBeenReady.load(ordering: .relaxed))
    if report.isReady { hasBeenReady.store(true, ordering: .relaxed) }
    return report
  }
}
