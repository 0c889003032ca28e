// The life of a serving process from the first accepted connection to the last: what it hears (signals, changed files,
// the request to end) and the order in which it acts on it. RunningProxy+Reload.swift carries out a reload.

import Bytes
import Configuration
import Identity
import Platform
import Proxy
import Routing
import Telemetry
import Tokens

/// A process that serves. Used by one task.
final class RunningProxy {
  let composition: Composition
  let source: ConfigurationSource
  let server: ProxyServer
  let notifier: ServiceNotifier?
  var generation: Generation
  /// The files of the configuration as they were when it was last read.
  var state: ConfigurationSource.State
  private(set) var admin: AdminServer?
  private var tokens: Task<Void, Never>?
  private var watch: ConfigurationWatch?
  private var certificates: CertificateWatch?
  /// The state of the reading of the files, and if they have to be read again afterwards.
  var reading: Reading = .idle
  /// The applications whose former certificate stays, because the changed one obtained no token.
  var keptCertificates: Set<String> = []
  var certificateRetry: Task<Void, Never>?
  private let heard: ProcessEvents
  var tell: AsyncStream<Event>.Continuation { heard.tell }

  /// An event for a serving process.
  indirect enum Event: Sendable {
    /// The configuration is to be read again.
    case reload
    /// Log files are to be opened again.
    case reopen
    /// A file of the configuration may have changed.
    case filesTouched
    /// Changed certificates that obtained no token are to be tried again.
    case certificateRetry
    case read(ConfigurationSource.Reading)
    case endSignal
    case endRequest
    /// Everything has been answered.
    case drained
  }

  init(
    _ composition: Composition, _ generation: Generation, _ source: ConfigurationSource,
    _ state: ConfigurationSource.State, _ notifier: ServiceNotifier?, hearing heard: ProcessEvents
  ) {
    self.composition = composition
    self.generation = generation
    self.source = source
    self.state = state
    self.notifier = notifier
    server = ProxyServer(generation.service, loops: composition.machinery.loops, listeners: generation.traffic)
    composition.publications.attach(server)
    self.heard = heard
  }

  /// Serves until it is told to end. `record` has the admin address meanwhile. Returns what is lost with the process.
  func run(recording record: InstanceRecord?) async -> CacheStore.Loss? {
    admin = startAdmin()
    server.start()
    composition.exporter?.start()
    await keepTokensReady()
    let cache = Task { [broker = composition.broker] in await broker.followCache() }
    watchFiles()
    watchCertificates()
    for listener in generation.held.listeners.traffic {
      composition.log.info("serving", ["address": .string(listener.address?.description ?? "")])
    }
    var recorded: FileIdentity?
    if let record, let address = generation.held.listeners.admin?.socket.address {
      recorded = await record.write(admin: address, to: composition.log)
    }
    notifier?.ready("serving")
    let watchdog = Task { [notifier, loops = composition.machinery.loops] in await notifier?.proveLife(of: loops) }

    var iterator = heard.events.makeAsyncIterator()
    var isSignalled = false
    serving: while let event = await iterator.next() {
      switch event {
      case .reload: startReading(.always)
      case .reopen: reopenLogs()
      case .filesTouched: startReading(.ifChanged)
      case .certificateRetry: startReading(.certificateRetry)
      case .read(let read): await take(read)
      case .endSignal:
        isSignalled = true
        break serving
      case .endRequest, .drained: break serving
      }
    }
    watch = nil
    certificates = nil
    certificateRetry?.cancel()
    let settings = generation.settings.shutdown
    let deadline = MonotonicTime.now + settings.limit
    composition.log.info(
      "draining",
      ["delay_ms": .milliseconds(Duration(settings.delay)), "limit_ms": .milliseconds(Duration(settings.limit))])
    admin?.drain()
    notifier?.stopping()
    await server.announceEnd()
    // Storing tokens and counting signs of life go on, because requests do.
    let drain = Task {
      [server, composition, tell, delay = Duration(settings.delay)] in
      do { try await Task.sleep(for: delay) } catch { return }
      let cutOff = await server.drain(limit: deadline - .now)
      await composition.broker.awaitRefreshTokens(until: deadline, composition.log)
      await composition.store.writeEverything(until: deadline)
      composition.log.info("ended", ["connections_cut_off": .integer(cutOff)])
      await composition.exporter?.end(by: deadline)
      tell.yield(.drained)
    }
    ending: while let event = await iterator.next() {
      switch event {
      case .drained: break ending
      case .endSignal where !isSignalled:
        // The kubelet's signal after a hook's request: there is one end, and it has begun.
        isSignalled = true
      case .endSignal:
        composition.log.warning(
          "ended at once", ["connections_cut_off": .integer(server.service.connectionCount), "next": .next(.oneSignal)])
        drain.cancel()
        break ending
      case .reload, .reopen, .filesTouched, .certificateRetry, .read, .endRequest: continue
      }
    }
    tokens?.cancel()
    cache.cancel()
    await composition.process.tokenFiles?.end()
    watchdog.cancel()
    for listener in generation.held.listeners.traffic { listener.close() }
    generation.held.listeners.removeAdminSocketFile()
    if let record, let recorded { await record.remove(recorded) }
    let loss = composition.store.loss
    if let loss { composition.write(loss) }
    composition.log.summarise(isLast: true)
    generation.held.accessLog.output?.flush()
    OutputFile.standardOutput.flush()
    OutputFile.standardError.flush()
    withExtendedLifetime(heard) {}
    return loss
  }

  /// Continues in new files if the old ones were moved away.
  private func reopenLogs() {
    let log = composition.log
    generation.held.accessLog.output?.reopen(ifMoved: false) { error in
      if let error {
        log.error(
          "the access log cannot be opened again", ["reason": .string(error.reason), "next": .next(.accessFile)],
          when: .always)
      } else {
        log.info("access log opened again")
      }
    }
  }

  private func startAdmin() -> AdminServer? {
    generation.held.listeners.admin.map { bound in
      let admin = AdminServer(
        of: server, loop: composition.machinery.loops[0], callers: bound.callers, reloads: composition.reloads,
        quit: { [tell] in tell.yield(.endRequest) })
      admin.start(bound.socket)
      return admin
    }
  }

  /// Keeps the tokens of the present configuration at hand, and no others.
  func keepTokensReady() async {
    tokens?.cancel()
    let limit = generation.settings.limits.callerTokens
    tokens = Task { [broker = composition.broker, wanted = generation.subscriptions] in
      await broker.keepCallers(atMost: limit)
      await broker.keepReady(wanted)
    }
    await composition.process.tokenFiles?.follow(generation.tokenFiles, of: generation.service)
  }

  /// Reminds of certificates of the present configuration that end.
  func watchCertificates() {
    certificates = CertificateWatch(generation.configuration.watched.report, log: composition.log)
  }

  /// Listens for changes of the files that the configuration was made of.
  func watchFiles() {
    watch = ConfigurationWatch(state.files, log: composition.log) { [tell] in tell.yield(.filesTouched) }
  }
}

extension TokenBroker {
  /// Waits for requests under way whose answers may hold a refresh token that replaces the cache's.
  fileprivate nonisolated func awaitRefreshTokens(until deadline: MonotonicTime, _ log: Log) async {
    while await mayBringRefreshToken {
      if MonotonicTime.now >= deadline {
        log.warning(
          "ended before a token request was answered: a refresh token that it brings is lost",
          ["next": .next(.signInRoutes)])
        return
      }
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }
}

/// The events of a process from its beginning, until it serves and acts on them. Make it before an address is taken:
/// callers come from then on, and a signal without a handler ends the process under them.
struct ProcessEvents {
  let events: AsyncStream<RunningProxy.Event>
  let tell: AsyncStream<RunningProxy.Event>.Continuation
  private let signals: [ProcessSignal]

  /// - Parameter launch: the program that gets the signals in this process's place, and whose end is this one's.
  init(_ launch: ProgramLaunch? = nil) {
    let (events, tell) = AsyncStream.makeStream(of: RunningProxy.Event.self)
    self.events = events
    self.tell = tell
    if let launch {
      // Once: other children end while requests are drained, and a second signal would cut that off.
      let isTold = Locked(false)
      let ended: @Sendable () -> Void = {
        guard launch.end != nil, isTold.withLock({ told in !exchange(&told, with: true) }) else { return }
        tell.yield(.endSignal)
      }
      let take: @Sendable (ProcessSignal.Name) -> Void = { name in
        guard isTold.withLock(\.self) else { return launch.send(name) }
        // There is no program any more: the signal is this process's own.
        if [.terminate, .interrupt, .quit].contains(name) { tell.yield(.endSignal) }
      }
      signals =
        StartedProgram.passedOn.map { name in ProcessSignal(name) { take(name) } }
        + [ProcessSignal(.childEnded, handler: ended)]
      // It may have ended before it was listened to.
      ended()
      return
    }
    signals = [
      ProcessSignal(.terminate) { tell.yield(.endSignal) }, ProcessSignal(.interrupt) { tell.yield(.endSignal) },
      ProcessSignal(.hangUp) { tell.yield(.reload) }, ProcessSignal(.userOne) { tell.yield(.reopen) },
    ]
  }
}
