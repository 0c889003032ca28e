internal import CSystem
internal import Glibc

/// The bytes of a stream that shares a connection with others, as one of HTTP/2 does.
package protocol StreamCarrier: AnyObject {
  /// Moves bytes that have arrived into `buffer`. After `wouldBlock`, `ByteStream.announce` tells when to try again.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome
  /// Takes bytes to be sent, likewise.
  func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome
  /// Records that no bytes to be sent follow. A message with an end of its own does not need it.
  func end()
  /// Ends the stream so that the peer does not take a part of a message for the whole.
  func reset()
}

/// A connected stream socket, optionally with TLS, tried without blocking; or a stream that a connection carries.
/// `@unchecked Sendable`: confined to its channel's loop.
public final class ByteStream: @unchecked Sendable {
  /// The socket's registration.
  public let channel: Channel
  /// The TLS session if there is one.
  public let tls: TLSSession?
  // For a stream without a socket of its own.
  private let carrier: (any StreamCarrier)?
  private var isWriteClosed = false
  /// True if sending found that the peer reset the connection.
  private var wasReset = false

  /// A stream over a connected socket. Call on the loop; with `tls`, make the handshake next.
  public convenience init(
    _ channel: Channel, tls: TLSContext? = nil, serverName: String? = nil, resuming: TLSResumption? = nil
  ) throws(StreamError) {
    try self.init(channel, tls: tls, serverName: serverName, resuming: resuming, offering: .http11)
  }

  /// The same, with the protocols that a client offers.
  package init(
    _ channel: Channel, tls: TLSContext?, serverName: String?, resuming: TLSResumption?,
    offering offer: OfferedProtocols
  ) throws(StreamError) {
    self.channel = channel
    carrier = nil
    if let tls {
      do throws(TLSFailure) {
        self.tls = try TLSSession(
          tls, channel: channel, serverName: serverName, resuming: resuming, offering: offer)
      } catch {
        channel.close()
        throw .tls(error)
      }
    } else {
      self.tls = nil
    }
  }

  /// A stream that a connection carries. Call on the loop.
  package init(carriedBy carrier: any StreamCarrier, loop: EventLoop) {
    channel = Channel(carriedOn: loop)
    tls = nil
    self.carrier = carrier
  }

  /// Begins another carried stream in the place of one that is over.
  package func renew() { channel.ready = [.read, .write] }

  /// Makes it known that a carried stream may be tried again.
  package func announce(_ readiness: Readiness) { channel.post(readiness) }

  /// The interest to watch for after `receive` would have blocked.
  @inline(__always)
  public var receiveInterest: Readiness { tls?.receiveInterest ?? .read }
  /// The interest to watch for after `send` would have blocked.
  @inline(__always)
  public var sendInterest: Readiness { tls?.sendInterest ?? .write }

  /// True if bytes may be at hand without another event.
  @inline(__always)
  public var mayReceive: Bool { channel.ready.contains(.read) || tls?.hasBufferedBytes == true }

  /// True if an idle connection can no longer be used: the peer closed it or sent unexpected bytes.
  public var isStale: Bool {
    guard let tls else { return channel.isStale }
    // TLS 1.3 peers send session tickets after the handshake, so readable alone does not mean stale: process the
    // records; only application data or an end makes the connection useless.
    if channel.descriptor < 0 || !channel.ready.isDisjoint(with: [.readClosed, .hangUp]) { return true }
    return !tls.isQuiet()
  }

  /// Receives available bytes, at most `buffer.count`.
  public func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    if let tls { return tls.receive(into: buffer) }
    if !channel.ready.contains(.read) { return .wouldBlock }
    return receivePlain(into: buffer)
  }

  @inline(never)
  private func receivePlain(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    if let carrier {
      let outcome = carrier.receive(into: buffer)
      if case .wouldBlock = outcome { channel.ready.remove(.read) }
      return outcome
    }
    while true {
      let count = Int(csystem_receive(channel.descriptor, buffer.baseAddress, UInt64(buffer.count)))
      if count > 0 {
        if count < buffer.count { channel.nothingMoreToRead() }
        return .moved(count)
      }
      if count == 0 { return buffer.isEmpty ? .wouldBlock : wasReset ? .failed(.reset) : .endOfStream }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        channel.ready.remove(.read)
        return .wouldBlock
      default: return .failed(StreamError(errno: errno, call: "recv"))
      }
    }
  }

  /// Sends as much of `bytes` as fits; `endOfStream` does not occur.
  public func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome {
    if bytes.isEmpty { return .moved(0) }
    if let tls { return tls.send(bytes) }
    if !channel.ready.contains(.write) { return .wouldBlock }
    return sendPlain(bytes)
  }

  @inline(never)
  private func sendPlain(_ bytes: UnsafeRawBufferPointer) -> IOOutcome {
    if let carrier {
      let outcome = carrier.send(bytes)
      if case .wouldBlock = outcome { channel.ready.remove(.write) }
      return outcome
    }
    while true {
      let count = Int(csystem_send(channel.descriptor, bytes.baseAddress, UInt64(bytes.count)))
      if count >= 0 {
        if count < bytes.count { channel.ready.remove(.write) }
        return .moved(count)
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        channel.ready.remove(.write)
        return .wouldBlock
      default:
        // The kernel reports it once, to the first call; the next `recv` would find an orderly end. After the peer's
        // own end it is EPIPE, and that end was orderly.
        if errno == ECONNRESET { wasReset = true }
        return .failed(StreamError(errno: errno, call: "send"))
      }
    }
  }

  /// True if the peer has begun the TLS handshake.
  public var hasBegunHandshake: Bool { tls?.hasReceived == true }

  /// Makes the TLS handshake, if this stream has one to make.
  public func handshake(_ waiter: Waiter, until deadline: MonotonicTime) async throws(StreamError) -> Waiter.Wake {
    guard let tls else { return .ready }
    while true {
      switch tls.handshake() {
      case .moved: return .ready
      case .endOfStream: throw .truncated
      case .failed(let error): throw error
      case .wouldBlock:
        waiter.watch(channel, tls.receiveInterest)
        let wake = await waiter.wait(until: deadline)
        if wake != .ready { return wake }
      }
    }
  }

  /// Half-closes: no more bytes follow. Bytes of the peer can still be received.
  public func closeWrite() {
    if let carrier { return carrier.end() }
    guard !isWriteClosed, channel.descriptor >= 0 else { return }
    isWriteClosed = true
    tls?.closeNotify()
    shutdown(channel.descriptor, Int32(SHUT_WR))
  }

  /// Closes in order: first TLS's close_notify, then the descriptor.
  public func close() {
    guard channel.descriptor >= 0 else { return }
    if !isWriteClosed { tls?.closeNotify() }
    channel.close()
  }

  /// Closes so that the peer sees a reset instead of an end: its message, or ours, was cut short.
  public func reset() {
    if let carrier { return carrier.reset() }
    guard channel.descriptor >= 0 else { return }
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(channel.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    channel.close()
  }
}

/// The outcome of one non-blocking attempt to receive or send.
public enum IOOutcome {
  /// The number of bytes, at least one.
  case moved(Int)
  /// Watch the stream and try again.
  case wouldBlock
  /// The peer has ended its direction in order.
  case endOfStream
  case failed(StreamError)
}

/// The reason why a stream is broken.
public enum StreamError: Error, Sendable, Hashable {
  /// The peer reset the connection, or closed it while we were sending.
  case reset
  /// TLS: the peer ended the connection without a close_notify, so the bytes before may be incomplete.
  case truncated
  /// TLS: an alert, a record that does not verify, a handshake that failed.
  case tls(TLSFailure)
  /// Anything else the kernel reports.
  case system(SystemError)

  init(errno number: Int32, call: StaticString) {
    self = number == ECONNRESET || number == EPIPE ? .reset : .system(SystemError(call, number))
  }
}

internal import Glibc
