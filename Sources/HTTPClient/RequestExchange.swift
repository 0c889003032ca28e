internal import Bytes
internal import HTTP
internal import Platform

/// A request of the proxy's own on a connection, and the head of its answer. Confined to its loop.
final class RequestExchange {
  var input = ByteBuffer(capacity: 16 * 1024)
  private(set) var head = ResponseHead()
  var deadline: MonotonicTime
  private let stream: ByteStream
  private let host: String
  private let waiter: Waiter
  private var parser = ResponseHeadParser()

  static let limits = HeadLimits(headBytes: 64 * 1024)
  /// Interim responses at most.
  private static let interimLimit = 32

  init(_ stream: ByteStream, host: String, _ waiter: Waiter, until deadline: MonotonicTime) {
    (self.stream, self.host, self.waiter, self.deadline) = (stream, host, waiter, deadline)
  }

  func send(_ request: consuming ByteBuffer) async throws(FetchError) {
    while !request.isEmpty {
      switch request.send(to: stream) {
      case .moved: continue
      case .wouldBlock: try await wait(stream.sendInterest)
      case .endOfStream, .failed: throw .closed(host: host)
      }
    }
  }

  /// Receives the final head; returns the number of its bytes, which are the first of `input`.
  func receiveHead() async throws(FetchError) -> Int {
    var interimHeads = 0
    while true {
      switch input.withBytes({ parser.parse($0, into: &head, limits: Self.limits) }) {
      case .invalid:
        // The type of a TLS alert (RFC 8446 §5.1), with which a TLS server answers anything else.
        throw input.withBytes { $0[0] } == 0x15 ? .answeredWithTLS(host: host) : .malformed(host: host)
      case .needsMore: guard try await receive() else { throw .closed(host: host) }
      case .complete(let byteCount):
        if !head.isInterim { return byteCount }
        interimHeads += 1
        if interimHeads > Self.interimLimit { throw .malformed(host: host) }
        input.consume(byteCount)
      }
    }
  }

  /// Receives something. False: the peer has ended its direction in order.
  func receive() async throws(FetchError) -> Bool {
    input.reserve(4096)
    while true {
      switch input.receive(from: stream) {
      case .moved:
        // A peer that sends as fast as it is read must not keep others from their turn, nor pass the deadline.
        await Task.yield()
        if waiter.loop.now >= deadline { throw .timedOut(host: host) }
        return true
      case .endOfStream: return false
      case .failed: throw .closed(host: host)
      case .wouldBlock: try await wait(stream.receiveInterest)
      }
    }
  }

  /// A signal is for the task that waits for the caller: then it is only tried again.
  private func wait(_ interest: Readiness) async throws(FetchError) {
    waiter.watch(stream.channel, interest)
    if await waiter.wait(until: deadline) == .timedOut { throw .timedOut(host: host) }
  }
}
