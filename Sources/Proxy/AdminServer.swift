// Owns the admin listener: health, readiness and metrics over the smallest HTTP that serves a probe. It never sees a
// token, and no traffic passes through it.

internal import HTTP
internal import Identity
public import Network
internal import Synchronization
internal import Telemetry
internal import Tokens

/// Serves `/healthz`, `/readyz` and `/metrics`.
public final class AdminServer: Sendable {
  private let service: Service
  private let loop: EventLoop
  private let callers: CallerCheck
  private let isDraining = Atomic(false)

  /// An admin server on `loop`. `names`: hosts accepted in `Host`; `nil`: any.
  public init(_ service: Service, loop: EventLoop, names: [String]?) {
    self.service = service
    self.loop = loop
    callers = CallerCheck(names: names)
  }

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
      // The admin listener stays to the end, so that probes see the drain.
      while true {
        guard let (channel, _) = await listener.nextConnection(waiter, onExhaustion: { _ in }) else { continue }
        Task(executorPreference: loop) { await self.serve(channel) }
      }
    }
  }

  /// From now on `/readyz` says that the process is ending.
  public func drain() {
    isDraining.store(true, ordering: .relaxed)
  }

  private func serve(_ channel: Channel) async {
    do throws(StreamError) {
      let connection = try AdminConnection(channel)
      while let request = await connection.nextRequest(callers) {
        let answer = await answer(request)
        guard await connection.send(answer, request) else { break }
      }
      connection.close()
    } catch {
      service.log.debug("cannot serve an admin connection")
    }
  }

  private func answer(_ request: AdminRequest) async -> AdminAnswer {
    guard request.isAllowed else { return .text(421, "the Host field names no host of this listener\n") }
    guard request.isRead else { return .text(405, "only GET and HEAD\n") }
    switch request.path {
    case "/healthz": return .text(200, "ok\n")
    case "/readyz": return await readiness()
    case "/metrics":
      service.registry.shared.set(
        service.metrics.signInNeeds, Int64(await service.challengeMemory.needs().count))
      return AdminAnswer(
        status: 200, contentType: MetricsRegistry.mediaType, body: service.registry.prometheusText())
    default: return .text(404, "try /healthz, /readyz or /metrics\n")
    }
  }

  private func readiness() async -> AdminAnswer {
    if isDraining.load(ordering: .relaxed) { return .text(503, "draining\n") }
    let report = ReadinessReport(
      await service.broker.statuses(of: service.subscriptions), needs: await service.challengeMemory.needs(),
      expected: Set(service.subscriptions.map(\.key)).count, now: UnixTime(WallClock.now.seconds))
    return .text(report.isReady ? 200 : 503, report.text)
  }
}
