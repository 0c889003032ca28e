// One exchange after the other on a caller's connection. Exchange serves the request.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Platform
internal import Routing

extension DownstreamConnection {
  /// Bytes read in one turn from a caller that is still sending after its last answer.
  private static let lingeringTurn = 1024 * 1024

  /// Serves the connection to its end.
  func serve() async {
    home.opened(self)
    if await shakeHands() {
      if stream.tls?.isHTTP2 == true {
        await serveStreams(home.lent.buffers.take(limits.head))
      } else {
        await serveRequests()
      }
    }
    stream.close()
    boundUpstreams.close()
    waiter.close()
    home.closed(self)
  }

  private func serveRequests() async {
    var isFirst = facts.listener.speaksHTTP2 && stream.tls == nil
    while await awaitFirstByte() {
      let buffers = home.lent.buffers.take(limits.head)
      var next = Next.request
      repeat {
        let request = home.lent.requests.take(limits.head)
        next = await serveRequest(buffers, request, mayBeHTTP2: isFirst)
        home.lent.requests.giveBack(request)
        isFirst = false
      } while next == .request && (!buffers.input.isEmpty || stream.mayReceive)
      if next == .streams { return await serveStreams(buffers) }
      if next == .endInOrder { await lingerBeforeClose(buffers) }
      home.lent.buffers.giveBack(buffers)
      if next != .request { return }
    }
  }

  private enum Next {
    case request
    /// HTTP/2, whose preface has begun to arrive.
    case streams
    /// The end, behind an answer that is to arrive before it.
    case endInOrder
    case end
  }

  /// Reads one head and answers it.
  private func serveRequest(
    _ buffers: CallerBuffers, _ request: RequestContext, mayBeHTTP2: Bool
  ) async -> Next {
    if facts.state !== home.current, !follow() { return .end }
    request.start = home.loop.now
    let deadline = request.start + limits.requestHead
    while true {
      if !buffers.input.isEmpty {
        switch buffers.input.withBytes({ request.parser.parse($0, into: &request.head, limits: limits.head) }) {
        case .complete(let byteCount):
          request.takeHead(byteCount, from: &buffers.input)
          let exchange = Exchange(self, facts, buffers, request)
          return await exchange.run() ? .request : .endInOrder
        case .invalid(let error):
          if mayBeHTTP2, buffers.input.withBytes({ ConnectionPreface.begins($0) }) { return .streams }
          return await refuse(.head(error), buffers, request)
        case .needsMore:
          break
        }
      }
      buffers.input.reserve(1)
      switch buffers.input.receive(from: stream) {
      case .moved: continue
      case .endOfStream, .failed: return .end
      case .wouldBlock:
        // An idle connection that was woken for nothing returns to waiting without buffers.
        if buffers.input.isEmpty { return .request }
        waiter.watch(stream.channel, stream.receiveInterest)
        beginsUnfinished(since: request.start)
        let wake = await waiter.wait(until: deadline)
        endsUnfinished()
        switch wake {
        case .ready: continue
        case .signalled: if mustEnd { return .end }
        case .timedOut: return await refuse(.headStalled, buffers, request)
        }
      }
    }
  }

  /// Answers bytes that never became a request. Outlined, like the end after the last answer, to keep the frame of a
  /// waiting connection small.
  @inline(never)
  private func refuse(
    _ failure: ExchangeFailure, _ buffers: CallerBuffers, _ request: RequestContext
  ) async -> Next {
    let exchange = Exchange(self, facts, buffers, request)
    await exchange.answer(failure)
    return .endInOrder
  }

  /// Ends our direction, then reads the rest that the caller sends, so that it gets the answer before the connection
  /// ends. If another connection needs the place, only the bytes that have arrived are read: while this one kept it, a
  /// newcomer would end one waiting caller after the other.
  @inline(never)
  func lingerBeforeClose(_ buffers: CallerBuffers) async {
    stream.closeWrite()
    makesRoom = true
    var lingering = Lingering(at: home.loop.now)
    var turn = Self.lingeringTurn
    while stream.channel.descriptor >= 0 {
      buffers.input.removeAll()
      switch buffers.input.receive(from: stream) {
      case .moved(let count):
        lingering.received(count)
        turn -= count
        if turn > 0 { continue }
        turn = Self.lingeringTurn
        if isEvicted || lingering.deadline(at: home.loop.now) == nil { return }
        await Task.yield()
      case .endOfStream, .failed: return
      case .wouldBlock:
        guard !isEvicted, let deadline = lingering.deadline(at: home.loop.now) else { return }
        waiter.watch(stream.channel, stream.receiveInterest)
        _ = await waiter.wait(until: deadline)
      }
    }
  }
}
