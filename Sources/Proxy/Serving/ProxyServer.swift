// Runs a service: accepting on every loop, housekeeping, publishing tokens to the loops, changing to another
// configuration, and the orderly end.

package import Bytes
internal import HTTPClient
package import Identity
package import Platform
internal import Routing
internal import Telemetry
package import Tokens

package final class ProxyServer: Sendable {
  private let inForce: Locked<Service>
  private let loops: [EventLoop]
  private let serving: [Confined<ProxyLoop>]
  private let listeners: Locked<[ProxyListener]>
  private let acceptPause = Locked(AcceptPause())
  private let memory = Locked(MemoryReturn())

  /// Connections accepted per turn.
  private static let turn = 64

  /// A server on `loops`, which serves from `start` on.
  package init(_ service: Service, loops: [EventLoop], listeners: [ProxyListener]) {
    inForce = Locked(service)
    self.loops = loops
    self.listeners = Locked(listeners)
    let contexts = Self.contexts(listeners)
    serving = loops.map { loop in
      Confined(
        ProxyLoop(
          LoopState(service, contexts: contexts, loop: loop), of: loops.count), to: loop)
    }
  }

  /// The service for requests that begin now. It is replaced as a whole.
  package var service: Service { inForce.withLock { $0 } }

  private static func contexts(_ listeners: [ProxyListener]) -> [ObjectIdentifier: ListenerContext] {
    Dictionary(uniqueKeysWithValues: listeners.map { (ObjectIdentifier($0.place), $0.context) })
  }

  /// Begins to accept.
  package func start() {
    let places = listeners.withLock { $0 }.map(\.place)
    for home in serving {
      let others = serving.filter { $0.loop !== home.loop }
      Task(executorPreference: home.loop) { home.value.others = others }
      Task(executorPreference: home.loop) { await self.keepHouse(home) }
      Task(executorPreference: home.loop) { for place in places { self.accept(at: place, home) } }
    }
  }

  // MARK: Accepting

  /// Begins to accept at a listener. Call on the loop.
  private func accept(at place: ListenerPlace, _ home: Confined<ProxyLoop>) {
    let acceptor = ProxyLoop.Acceptor(home.loop)
    if home.value.drainingSince != nil { return }
    place.acceptorBegan()
    home.value.acceptors[ObjectIdentifier(place)] = acceptor
    let confined = Confined(acceptor, to: home.loop)
    Task(executorPreference: home.loop) { await self.accept(at: place, confined, home) }
  }

  private func accept(
    at place: ListenerPlace, _ acceptor: Confined<ProxyLoop.Acceptor>, _ home: Confined<ProxyLoop>
  ) async {
    let loop = home.loop
    defer { place.acceptorEnded() }
    let listener: Listener
    do throws(SystemError) {
      listener = try Listener(place.socket(of: loop.index), loop: loop)
    } catch {
      service.process.log.error(
        "cannot listen", ["reason": .string(error.description), "next": .next(error.cure)])
      return
    }
    let waiter = acceptor.value.waiter
    var unheard = 0
    while !acceptor.value.isStopped {
      let state = home.value.current
      guard state.service.hasRoomForConnections else {
        guard await listener.callerIsWaiting(waiter) else { continue }
        state.metrics.add(state.service.metrics.limits[Limit.connections.position])
        switch await home.value.makeRoom({ $0.endLongestWaiting() }) {
        case .made: continue
        case .soon: break
        case .none:
          state.metrics.add(state.service.metrics.acceptPauses)
          noteFullHouse(state)
        }
        _ = await waiter.wait(until: loop.now + .milliseconds(50))
        continue
      }
      let accepted = await listener.nextConnection(waiter) { error in
        // Connections accepted a moment ago have not begun to wait yet.
        defer { unheard = 0 }
        switch home.value.giveUpDescriptor() {
        case .made: return .tryAgain
        case .soon: return unheard > 0 ? .tryAgain : .pause
        case .none: break
        }
        state.metrics.add(state.service.metrics.acceptPauses)
        notePause(
          error.description,
          next: error.isExhaustion ? .openFilesOrConnections : error.cure, state)
        return .pause
      }
      guard let (channel, peer) = accepted else { continue }
      serve(channel, peer, of: place, home)
      // A flood is accepted in one go. The accepted connections get a turn in between.
      unheard += 1
      if unheard == Self.turn {
        unheard = 0
        await Task.yield()
      }
    }
    // A connection in the queue may have sent a request already.
    await listener.emptyQueue(waiter) {
      _ = home.value.giveUpDescriptor()
    } accepted: { channel, peer in
      serve(channel, peer, of: place, home)
    }
    listener.close()
    waiter.close()
  }

  private func serve(
    _ channel: Channel, _ peer: SocketAddress, of place: ListenerPlace, _ home: Confined<ProxyLoop>
  ) {
    let service = home.value.current.service
    // Counted before its task runs: a burst is accepted in one go and would get past the limit.
    service.process.connections.opened()
    home.value.arriving += 1
    Task(executorPreference: home.loop) {
      defer { service.process.connections.closed() }
      home.value.arriving -= 1
      do throws(StreamError) {
        let connection = try DownstreamConnection(channel, peer: peer, place: place, home: home.value)
        await connection?.serve()
      } catch {
        service.process.log.error(
          "cannot serve a connection",
          [
            "caller": .string(peer.host), "reason": .string("\(error)"),
            "next": .next(.openFilesCount),
          ])
      }
    }
  }

  /// Logs that accepting is paused, once for each pause.
  private func notePause(_ reason: String, next: Cure, _ state: LoopState) {
    guard acceptPause.withLock({ $0.begins(at: state.loop.now) }) else { return }
    state.service.process.log.error("accept paused", ["reason": .string(reason), "next": .next(next)])
  }

  /// Returns memory to the system after a burst, beside the loops.
  private func returnMemory(dropped: Int) {
    let open = service.process.connections.value
    if memory.withLock({ $0.isDue(dropped: dropped, open: open, peak: service.process.connections.takePeak()) }) {
      Machine.trimHeap()
    }
  }

  /// Logs that all connections are busy.
  private func noteFullHouse(_ state: LoopState) {
    let isShort = state.service.limits.isShortOfDescriptors
    notePause(
      "as many connections as \(isShort ? "there are file descriptors for" : "limits.connections"), and all are busy",
      next: isShort ? .busyOpenFiles : .busyConnections, state)
  }

  private func keepHouse(_ home: Confined<ProxyLoop>) async {
    home.loop.whenIdle { home.value.current.flushAccessRecords() }
    // Counted in the same memory in every generation.
    let (metrics, delays) = (home.value.current.metrics, home.value.current.service.metrics.loopDelays)
    home.loop.afterTurn { metrics.observe(delays, nanoseconds: $0) }
    let waiter = Waiter(home.loop)
    _ = await waiter.wait(until: home.loop.now + .seconds(1))
    if home.loop.index == 0 { Machine.releaseTextPages() }
    while true {
      _ = await waiter.wait(until: home.loop.now + .seconds(5))
      returnMemory(dropped: home.value.sweep())
      if home.loop.index == 0 {
        home.value.current.service.process.log.summarise()
        home.value.current.service.accessLog?.reopen(ifMoved: true)
      }
      if acceptPause.withLock({ $0.hasEnded(at: home.loop.now) }) { service.process.log.info("accept resumed") }
    }
  }

  // MARK: While it serves

  /// Publishes a token to every loop, rendered; nil removes the one before.
  package func publish(_ value: BearerValue?, for key: AcquisitionKey) {
    for home in serving {
      Task(executorPreference: home.loop) { home.value.current.publish(value, for: key) }
    }
  }

  /// Changes to another generation of the configuration. Requests that begin from now on belong to it; those in flight
  /// end as they began. Listeners that stay keep their sockets and connections; of those that go, requests in flight
  /// are answered.
  package func adopt(_ service: Service, listeners new: [ProxyListener]) async {
    let old = listeners.withLock { listeners in
      defer { listeners = new }
      return listeners
    }
    let contexts = Self.contexts(new)
    let opened = new.map(\.place).filter { place in !old.contains { $0.place === place } }
    let gone = old.map(\.place).filter { contexts[ObjectIdentifier($0)] == nil }
    inForce.withLock { $0 = service }
    for place in gone { place.stopQueueing() }
    for home in serving {
      await Task(executorPreference: home.loop) {
        home.value.adopt(service, contexts: contexts)
        for place in opened { self.accept(at: place, home) }
        for place in gone { home.value.acceptors.removeValue(forKey: ObjectIdentifier(place))?.stop() }
      }.value
    }
    await pause(until: .now + .seconds(2)) { gone.contains { $0.acceptorCount > 0 } }
    for place in gone { place.close() }
  }

  /// The connections with HTTP/2 to upstreams, on all loops.
  func sharedConnections() async -> [SharedConnectionReport] {
    var found: [SharedConnectionReport] = []
    for home in serving {
      found += await Task(executorPreference: home.loop) { home.value.sharedConnections() }.value
    }
    return found
  }

  /// From now on answers end their connections.
  package func announceEnd() async {
    for home in serving { await Task(executorPreference: home.loop) { home.value.announceEnd() }.value }
  }

  /// Stops accepting, and waits for the existing connections, at most until `limit` has passed; then busy ones are cut
  /// off. Connections in a listener's queue are served, and idle ones wait a grace for a request in flight. Returns the
  /// number cut off.
  package func drain(limit: TimeSpan) async -> Int {
    let deadline = MonotonicTime.now + limit
    let places = listeners.withLock { $0 }.map(\.place)
    for place in places { place.stopQueueing() }
    for home in serving {
      await Task(executorPreference: home.loop) { home.value.drain() }.value
    }
    let connections = service.process.connections
    await pause(until: deadline) { places.contains { $0.acceptorCount > 0 } }
    // From here on callers are refused, instead of left without an answer.
    for place in places { place.close() }
    await pause(until: deadline) { connections.value > 0 }
    let left = connections.value
    if left > 0 { await abandon() }
    for home in serving { await Task(executorPreference: home.loop) { home.value.current.flushAccessRecords() }.value }
    return left
  }

  /// Cuts off every connection. They get a second to notice.
  private func abandon() async {
    for home in serving { await Task(executorPreference: home.loop) { home.value.abandon() }.value }
    let connections = service.process.connections
    await pause(until: .now + .seconds(1)) { connections.value > 0 }
  }

  private func pause(until deadline: MonotonicTime, while isBusy: @escaping @Sendable () -> Bool) async {
    guard let loop = loops.first else { return }
    await Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      while isBusy(), MonotonicTime.now < deadline { _ = await waiter.wait(until: loop.now + .milliseconds(10)) }
      waiter.close()
    }.value
  }
}

/// Decides when free memory is returned to the system: when something has ended that had taken much of it. Not while
/// connections come and go as usual, because returning and taking again costs time.
struct MemoryReturn {
  /// The most connections since memory was returned.
  private var peak = 0

  /// Least number of dropped buffers, or ended connections, that makes it worthwhile.
  private static let few = 16

  /// True if memory is to be returned now.
  /// - Parameter dropped: buffers that loops have dropped because they were unused for some seconds.
  /// - Parameter peak: the most connections at once since the last call.
  mutating func isDue(dropped: Int, open: Int, peak recent: Int) -> Bool {
    peak = max(peak, recent, open)
    guard dropped >= Self.few || (peak - open >= Self.few && open <= peak / 2) else { return false }
    peak = open
    return true
  }
}

/// The pause of accepting in the whole process, while it lacks descriptors or connections.
struct AcceptPause {
  /// The last refused accept; nil if no pause is active.
  private var last: MonotonicTime?

  /// Time without a refused accept after which a pause is over.
  static let calm = TimeSpan.seconds(5)

  /// Records a refused accept; returns true if that begins a pause.
  mutating func begins(at now: MonotonicTime) -> Bool {
    defer { last = now }
    return last == nil
  }

  /// True if a pause has just ended. Call every few seconds.
  mutating func hasEnded(at now: MonotonicTime) -> Bool {
    guard let last, now - last >= Self.calm else { return false }
    self.last = nil
    return true
  }
}
