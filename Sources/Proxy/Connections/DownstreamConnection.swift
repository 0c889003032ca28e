// One caller's connection: handshake, waiting for requests, the generation it belongs to, and how it ends.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// A caller's connection. Confined to its loop.
final class DownstreamConnection {
  /// The state of the generation that the present request began with, and goes on with to its end.
  @exclusivity(unchecked) private(set) var state: LoopState
  let stream: ByteStream
  let waiter: Waiter
  @exclusivity(unchecked) private(set) var context: ListenerContext
  @exclusivity(unchecked) private(set) var ingress: Ingress
  /// Why the connection's requests are refused, whatever they say.
  @exclusivity(unchecked) private(set) var refusal: CallerRefusal?
  /// The upstream connections that this caller has authenticated.
  @exclusivity(unchecked) var boundUpstreams = BoundUpstreams()
  /// The SHA-256 of the certificate that the caller has shown, where its tokens may be bound to it; empty otherwise.
  @exclusivity(unchecked) private(set) var certificateDigest: [UInt8] = []
  let home: ProxyLoop
  private let place: ListenerPlace
  @exclusivity(unchecked) private var isIdle = false
  @exclusivity(unchecked) private var standing = Standing.welcome
  // Whether nothing of a request has arrived yet.
  @exclusivity(unchecked) private var isNew = true
  /// Since when the connection makes room for others where connections run out: a request is waited for, or the rest of
  /// its head, or a token that takes long, or the caller's end after the last answer. In the future for a caller that
  /// has begun a moment ago.
  @exclusivity(unchecked) private(set) var waitingSince: MonotonicTime?

  /// How long a caller has for its first request, handshake included, before its connection makes room for others: in a
  /// burst of callers nobody would be served if each ended the one before.
  private static let newcomersTime = TimeSpan.milliseconds(250)

  /// How a connection stands with its listener.
  private enum Standing {
    /// Requests are taken.
    case welcome
    /// The listener is gone, since then. A request that was on its way is still answered, as the last.
    case leaving(since: MonotonicTime)
    /// Another connection needs the place. A request that has arrived is still answered, as the last; one that waits
    /// for a token gets none.
    case evicted
    /// The listener asks for more than this connection has shown. No request is taken.
    case distrusted
  }

  /// Whether both sides have switched to another protocol.
  @exclusivity(unchecked) var isTunnel = false
  /// Whether the process ends what is still going on here.
  @exclusivity(unchecked) private(set) var isCutOff = false

  /// Whether a handshake is under way, or the rest of a head is waited for.
  @exclusivity(unchecked) private(set) var isUnfinished = false

  /// A connection that was accepted at a place; nil where that is listened at no more.
  init?(_ channel: Channel, peer: SocketAddress, place: ListenerPlace, home: ProxyLoop) throws(StreamError) {
    let state = home.current
    guard let context = state.contexts[ObjectIdentifier(place)] else {
      channel.close()
      return nil
    }
    stream = try ByteStream(channel, tls: context.tls)
    waiter = Waiter(channel.loop)
    self.home = home
    self.place = place
    self.state = state
    self.context = context
    let host = if case .unix = peer.kind { "" } else { peer.host }
    ingress = Ingress(peer: Array(host.utf8), isTLS: context.tls != nil, rules: context.callers.rules)
  }

  /// Whether the present request is the last: its answer says `Connection: close`.
  var isEnding: Bool {
    if home.isEnding { return true }
    if case .welcome = standing { return false }
    return true
  }

  /// Whether another connection needs the place of this one.
  var isEvicted: Bool { if case .evicted = standing { true } else { false } }

  /// Whether the connection ends at once, unless a request is being served by an upstream.
  var mustEnd: Bool {
    switch standing {
    case .welcome, .leaving: false
    case .evicted, .distrusted: true
    }
  }

  /// Until when a connection waits for what it has waited for since then.
  @inline(never)
  private func endOfWait(since start: MonotonicTime, atMost longest: TimeSpan) -> MonotonicTime {
    var leaving = home.drainingSince
    switch standing {
    case .leaving(let since): leaving = leaving.map { min($0, since) } ?? since
    case .welcome, .evicted, .distrusted: break
    }
    let end = start + longest
    return leaving.map { min(end, max($0, start) + limits.grace) } ?? end
  }

  /// Until when a handshake may take. One that the caller has begun goes on while connections end, as the rest of a
  /// head does: a busy caller needs its time to answer ours, and its request comes right behind.
  private func endOfHandshake(since start: MonotonicTime) -> MonotonicTime {
    stream.hasBegunHandshake ? start + limits.requestHead : endOfWait(since: start, atMost: limits.requestHead)
  }

  var limits: ServiceLimits { state.service.limits }

  /// Judges what the connection shows of its caller; the certificate is known after the handshake only.
  func judge() {
    refusal = context.callers.rules.judge(
      peer: PeerCredentials(of: stream.channel), certificateNames: stream.tls?.peerNames ?? [])
    if context.callers.rules.bearer != nil { certificateDigest = stream.tls?.peerCertificateDigest ?? [] }
  }

  func shakeHands() async -> Bool {
    guard context.tls != nil else { return true }
    isIdle = true
    let start = state.loop.now
    beginsUnfinished(since: start)
    defer {
      isIdle = false
      endsUnfinished()
    }
    do throws(StreamError) {
      while true {
        switch try await stream.handshake(waiter, until: endOfHandshake(since: start)) {
        case .ready: return true
        case .timedOut:
          if state.loop.now < endOfHandshake(since: start) { continue }
          // What has arrived is taken even if the loop has not heard of it yet.
          if !stream.channel.looksOnceMore() { return false }
        case .signalled: if mustEnd { return false }
        }
      }
    } catch {
      // A caller that does not trust the certificate, a scanner, a plain HTTP client: theirs to fix, hence not a
      // warning.
      state.service.log.debug(
        "TLS handshake failed", ["caller": .string(String(decoding: ingress.peer, as: UTF8.self))])
      return false
    }
  }

  /// Waits, without holding any buffer, until there may be something to read. False: the connection is to be closed.
  /// Inlined, since the frame of a call would be allocated for each request.
  @inline(__always)
  func awaitFirstByte() async -> Bool {
    isIdle = true
    let start = state.loop.now
    waitingSince = isNew ? start + Self.newcomersTime : start
    defer {
      isIdle = false
      isNew = false
      waitingSince = nil
    }
    while !stream.mayReceive {
      waiter.watch(stream.channel, stream.receiveInterest)
      switch await waiter.wait(until: endOfWait(since: start, atMost: limits.idle)) {
      // What has arrived is answered even if the loop has not heard of it yet.
      case .timedOut: return stream.channel.looksOnceMore()
      case .signalled: if mustEnd { return stream.channel.looksOnceMore() }
      // TLS may be ready for something that is no request yet: only trying tells.
      case .ready: if stream.receiveInterest != .read { return true }
      }
    }
    return true
  }

  // MARK: Generations

  /// Learns that another generation is current. A request that is being served goes on with the one it began with.
  func generationChanged() {
    if let context = home.current.contexts[ObjectIdentifier(place)] {
      if !self.context.suffices(for: context) { standing = .distrusted }
    } else if case .welcome = standing {
      standing = .leaving(since: state.loop.now)
    }
    if !isIdle { return }
    if isEnding { waiter.signal() } else { _ = follow() }
  }

  /// Goes over to the current generation and its rules for callers, between two requests. False: the connection is to
  /// be closed.
  func follow() -> Bool {
    if case .distrusted = standing { return false }
    // Where the listener is gone, the last request is answered by the generation that knew it.
    guard let context = home.current.contexts[ObjectIdentifier(place)] else { return true }
    state = home.current
    self.context = context
    ingress = Ingress(peer: ingress.peer, isTLS: ingress.isTLS, rules: context.callers.rules)
    boundUpstreams.closeRetired()
    judge()
    return true
  }

  /// Ends the wait for a handshake or a request, in favour of another caller.
  func makeRoom() {
    if case .distrusted = standing {} else { standing = .evicted }
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

  /// Whether the connection is one of those that make room for others where connections run out: since now, or no
  /// longer.
  func makesRoom(_ makesRoom: Bool) { waitingSince = makesRoom ? state.loop.now : nil }

  /// Shortens the wait for a handshake or a request, if that is what is going on.
  func drain() {
    if isIdle { waiter.signal() }
  }

  func takeAttempt() -> UpstreamAttempt { home.takeAttempt() }
  func giveBack(_ attempt: consuming UpstreamAttempt) { home.giveBack(attempt) }

  /// Gives up the descriptor of another connection, of this loop or else of another. False: none can be spared now.
  func giveUpDescriptor() async -> Bool {
    if case .made = await home.others.makeRoom(home, { $0.giveUpDescriptor() }) { true } else { false }
  }

  /// Ends whatever is going on. Only a tunnel has a way to tell its sides so.
  func abandon() {
    isCutOff = true
    if !isTunnel { stream.reset() }
    waiter.signal()
  }
}
