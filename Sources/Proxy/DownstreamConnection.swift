// Owns one caller's connection: handshake, waiting for requests, one exchange after the other, and how it ends. What is
// done with a request is the Exchange's.

internal import HTTP
internal import Network
internal import Telemetry

/// What connections of one listener have in common.
struct ListenerContext: Sendable {
  var callers: CallerCheck
  var tls: TLSContext?
}

/// A caller's connection. Confined to its loop.
final class DownstreamConnection {
  let state: LoopState
  let stream: ByteStream
  let waiter: Waiter
  let context: ListenerContext
  let ingress: Ingress
  /// Why the connection's requests are refused, whatever they say.
  @exclusivity(unchecked) private(set) var refusal: CallerRefusal?
  @exclusivity(unchecked) private var isIdle = false

  /// How long, and how many bytes, a caller that is still sending is read after an answer, so that the answer reaches it
  /// before the connection's end does.
  private static let lingering = (time: TimeSpan.seconds(2), bytes: 1024 * 1024)

  init(_ channel: Channel, peer: SocketAddress, context: ListenerContext, state: LoopState) throws(StreamError) {
    stream = try ByteStream(channel, tls: context.tls)
    waiter = Waiter(channel.loop)
    self.state = state
    self.context = context
    let host = if case .unix = peer.kind { "" } else { peer.host }
    ingress = Ingress(peer: Array(host.utf8), isTLS: context.tls != nil, rules: context.callers.rules)
  }

  private var limits: ServiceLimits { state.service.limits }

  /// Serves the connection to its end.
  func serve() async {
    state.opened(self)
    if await shakeHands() {
      // The certificate is known only now.
      refusal = context.callers.rules.judge(
        peer: PeerCredentials(of: stream.channel), certificateNames: stream.tls?.peerNames ?? [])
      await serveRequests()
    }
    stream.close()
    waiter.close()
    state.closed(self)
  }

  private func shakeHands() async -> Bool {
    guard context.tls != nil else { return true }
    if state.isDraining { return false }
    isIdle = true
    defer { isIdle = false }
    do throws(StreamError) {
      return try await stream.handshake(waiter, until: state.loop.now + limits.requestHead) == .ready
    } catch {
      // A caller that does not trust the certificate, a scanner, a plain HTTP client: theirs to fix, hence not a warning.
      state.service.log.debug(
        "TLS handshake failed", ["caller": .string(String(decoding: ingress.peer, as: UTF8.self))])
      return false
    }
  }

  private func serveRequests() async {
    while await awaitFirstByte() {
      let scratch = state.takeScratch()
      var goesOn = true
      repeat {
        goesOn = await serveRequest(scratch)
      } while goesOn && (!scratch.requestInput.isEmpty || stream.mayReceive)
      state.giveBack(scratch)
      if !goesOn { return }
    }
  }

  /// Waits, without holding any buffer, until there may be something to read. False: the connection is to be closed.
  private func awaitFirstByte() async -> Bool {
    isIdle = true
    defer { isIdle = false }
    let deadline = state.loop.now + limits.idle
    while !stream.mayReceive {
      if state.isDraining { return false }
      waiter.watch(stream.channel, stream.receiveInterest)
      if await waiter.wait(until: deadline) == .timedOut { return false }
      // TLS may be ready for something that is no request yet: only trying tells.
      if stream.receiveInterest != .read { return true }
    }
    return true
  }

  /// Reads one head and answers it. False: nothing more is to be read from this connection.
  private func serveRequest(_ scratch: Scratch) async -> Bool {
    let start = state.loop.now
    let deadline = start + limits.requestHead
    scratch.requestParser.reset()
    scratch.reader.removeAll()
    while true {
      if !scratch.requestInput.isEmpty {
        switch scratch.requestInput.withBytes({ scratch.requestParser.parse($0, limits: limits.head) }) {
        case .complete(let byteCount):
          var exchange = Exchange(start: start, headBytes: byteCount)
          let goesOn = await exchange.run(self, scratch)
          if !goesOn { await lingerBeforeClose(scratch) }
          return goesOn
        case .invalid(let error):
          return await refuse(.head(error), scratch, start)
        case .needsMore:
          break
        }
      }
      scratch.requestInput.reserve(1)
      switch scratch.requestInput.receive(from: stream) {
      case .moved: continue
      case .endOfStream, .failed: return false
      case .wouldBlock:
        // An idle connection that was woken for nothing goes back to waiting without buffers.
        if scratch.requestInput.isEmpty { return true }
        waiter.watch(stream.channel, stream.receiveInterest)
        switch await waiter.wait(until: deadline) {
        case .ready: continue
        case .signalled: continue
        case .timedOut: return await refuse(.headStalled, scratch, start)
        }
      }
    }
  }

  /// Answers what never became a request.
  private func refuse(_ failure: ExchangeFailure, _ scratch: Scratch, _ start: MonotonicTime) async -> Bool {
    var exchange = Exchange(start: start, headBytes: 0)
    await exchange.answer(failure, self, scratch)
    await lingerBeforeClose(scratch)
    return false
  }

  /// Ends our direction, then reads what the caller still sends for a moment: closing at once would make the kernel send
  /// a reset, and that can overtake the answer.
  private func lingerBeforeClose(_ scratch: Scratch) async {
    guard stream.channel.descriptor >= 0 else { return }
    stream.closeWrite()
    let deadline = state.loop.now + Self.lingering.time
    var left = Self.lingering.bytes
    while left > 0 {
      scratch.requestInput.removeAll()
      switch scratch.requestInput.receive(from: stream) {
      case .moved(let count): left -= count
      case .endOfStream, .failed: return
      case .wouldBlock:
        waiter.watch(stream.channel, stream.receiveInterest)
        if await waiter.wait(until: deadline) == .timedOut { return }
      }
    }
  }

  /// Ends the wait for a handshake or a request, if that is what is going on.
  func drain() {
    if isIdle { waiter.signal() }
  }

  /// Ends whatever is going on.
  func abandon() {
    stream.reset()
    waiter.signal()
  }
}
