// One caller's connection: handshake, waiting for requests, its generation, and its end.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// A caller's connection. Confined to its loop.
final class DownstreamConnection: Caller {
  /// The facts for requests that begin now.
  private(set) var facts: CallerFacts
  let home: ProxyLoop
  private let place: ListenerPlace
  /// True if a signal may end the present wait.
  var isIdle = false
  private var standing = Standing.welcome
  // True if no byte of a request has arrived yet.
  private var isNew = true
  /// Beginning of a wait in which the connection makes room for others if connections run out: for a request, for the
  /// rest of its head, for a slow token, or for the caller's end after the last answer. In the future for a new caller.
  var waitingSince: MonotonicTime?

  /// Time for a caller's first request, handshake included, before its connection makes room for others: in a burst of
  /// callers none would be served if each ended the one before.
  static let newcomersTime = TimeSpan.milliseconds(250)

  /// The connection's relation to its listener.
  private enum Standing: Equatable {
    /// Requests are taken.
    case welcome
    /// The listener is gone, since then. A request in flight is still answered, as the last.
    case leaving(since: MonotonicTime)
    /// Another connection needs the place. A request that has arrived is still answered, as the last; one that waits
    /// for a token gets none.
    case evicted
    /// The listener's rules now require more than this connection has shown. No request is accepted.
    case distrusted
  }

  private var wasAbandoned = false
  /// True if a connection with HTTP/2 brings no more bytes.
  var hasEnded = false

  /// True if a handshake is under way, or the rest of a head is waited for.
  private(set) var isUnfinished = false

  /// An accepted connection; nil if its listener is gone.
  init?(_ channel: Channel, peer: SocketAddress, place: ListenerPlace, home: ProxyLoop) throws(StreamError) {
    let state = home.current
    guard let context = state.contexts[ObjectIdentifier(place)] else {
      channel.close()
      return nil
    }
    let stream = try ByteStream(channel, tls: context.tls)
    self.home = home
    self.place = place
    let host = if case .unix = peer.kind { "" } else { peer.host }
    facts = CallerFacts(state, context, peer: Array(host.utf8), stream)
    super.init(stream, Waiter(channel.loop))
  }

  /// True if the present request is the last: its answer has `Connection: close`.
  override var isEnding: Bool { home.isEnding || standing != .welcome }

  /// True if an HTTP/2 session takes no further requests.
  override var isLeaving: Bool { isEnding || !facts.listener.speaksHTTP2 }

  /// True if another connection needs the place of this one.
  var isEvicted: Bool { standing == .evicted }

  /// True if the connection ends at once, unless a request is being served by an upstream.
  override var mustEnd: Bool { standing == .evicted || standing == .distrusted }

  /// The deadline of a wait that began then.
  @inline(never)
  func endOfWait(since start: MonotonicTime, atMost longest: TimeSpan) -> MonotonicTime {
    var leaving = home.drainingSince
    if case .leaving(let since) = standing { leaving = leaving.map { min($0, since) } ?? since }
    let end = start + longest
    return leaving.map { min(end, max($0, start) + limits.grace) } ?? end
  }

  /// The deadline of a handshake. One that the caller has begun continues while connections end, like the rest of a
  /// head: a busy caller needs its time to answer ours, and its request comes right behind.
  private func endOfHandshake(since start: MonotonicTime) -> MonotonicTime {
    stream.hasBegunHandshake ? start + limits.requestHead : endOfWait(since: start, atMost: limits.requestHead)
  }

  var limits: ServiceLimits { facts.state.service.limits }

  func shakeHands() async -> Bool {
    if stream.tls == nil { return true }
    isIdle = true
    let start = home.loop.now
    beginsUnfinished(since: start)
    defer {
      isIdle = false
      endsUnfinished()
    }
    do throws(StreamError) {
      while true {
        switch try await stream.handshake(waiter, until: endOfHandshake(since: start)) {
        case .ready:
          judge(in: facts.state, facts.listener)
          return true
        case .timedOut:
          if home.loop.now < endOfHandshake(since: start) { continue }
          // Bytes that have arrived are read even if the loop has not heard of them yet.
          if !stream.channel.looksOnceMore() { return false }
        case .signalled: if mustEnd { return false }
        }
      }
    } catch {
      // A caller that does not trust the certificate, a scanner, a plain HTTP client: only they can correct it, hence
      // no warning.
      facts.state.service.process.log.debug(
        "TLS handshake failed", ["caller": .string(String(decoding: facts.ingress.peer, as: UTF8.self))])
      return false
    }
  }

  /// Waits, without holding any buffer, until there may be something to read. False: the connection is to be closed.
  /// Inlined, since the frame of a call would be allocated for each request.
  @inline(__always)
  func awaitFirstByte() async -> Bool {
    isIdle = true
    let start = home.loop.now
    waitingSince = isNew ? start + Self.newcomersTime : start
    defer {
      isIdle = false
      isNew = false
      waitingSince = nil
    }
    while !stream.mayReceive {
      waiter.watch(stream.channel, stream.receiveInterest)
      switch await waiter.wait(until: endOfWait(since: start, atMost: limits.idle)) {
      // Bytes that have arrived are answered even if the loop has not heard of it yet.
      case .timedOut: return stream.channel.looksOnceMore()
      case .signalled: if mustEnd { return stream.channel.looksOnceMore() }
      // TLS may be ready for something that is no request yet: only an attempt shows.
      case .ready: if stream.receiveInterest != .read { return true }
      }
    }
    return true
  }

  // MARK: Generations

  /// Records that another generation is current. A request in progress continues in its own.
  func generationChanged() {
    if let context = home.current.contexts[ObjectIdentifier(place)] {
      if !facts.listener.suffices(for: context) { standing = .distrusted }
    } else if standing == .welcome {
      standing = .leaving(since: home.loop.now)
    }
    if !isIdle { return }
    if isEnding || !follow() || !facts.listener.speaksHTTP2 { waiter.signal() }
  }

  /// Changes to the current generation and its rules for callers, between two requests. False: the connection is to be
  /// closed.
  func follow() -> Bool {
    if standing == .distrusted { return false }
    // If the listener is gone, the last request is answered by the generation that knew it.
    guard let context = home.current.contexts[ObjectIdentifier(place)] else { return true }
    judge(in: home.current, context)
    boundUpstreams.closeRetired()
    return true
  }

  private func judge(in state: LoopState, _ listener: ListenerContext) {
    facts = CallerFacts(state, listener, peer: facts.ingress.peer, stream)
  }

  /// Ends the wait for a handshake or a request, in favour of another caller.
  func makeRoom() {
    if standing != .distrusted { standing = .evicted }
    waitingSince = nil
    waiter.signal()
  }

  func beginsUnfinished(since start: MonotonicTime) {
    waitingSince = start + Self.newcomersTime
    isUnfinished = true
    home.beginsUnfinished()
  }

  func endsUnfinished() {
    waitingSince = nil
    isUnfinished = false
    home.endsUnfinished()
  }

  /// True if the connection is one of those that make room for others if connections run out: since it was set.
  override var makesRoom: Bool {
    get { waitingSince != nil }
    set { waitingSince = newValue ? home.loop.now : nil }
  }

  override var isCutOff: Bool { wasAbandoned }

  /// Shortens the wait for a handshake or a request, if there is one.
  func drain() {
    if isIdle { waiter.signal() }
  }

  /// Releases the descriptor of another connection, of this loop or else of another. False: none can be spared now.
  override func giveUpDescriptor() async -> Bool {
    if case .made = await home.makeRoom({ $0.giveUpDescriptor() }) { true } else { false }
  }

  /// Ends the exchange in progress. Only a tunnel can notify its sides.
  func abandon() {
    wasAbandoned = true
    if !isTunnel { stream.reset() }
    waiter.signal()
  }
}
