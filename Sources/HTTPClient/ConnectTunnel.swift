internal import Bytes
internal import HTTP
internal import Platform

enum ConnectTunnel {
  private static let limits = HeadLimits(headBytes: 16 * 1024)

  /// Makes `channel`, which is connected to `proxy`, lead to an origin. False: not until `deadline`.
  static func open(
    _ channel: Channel, through proxy: ProxyAddress, to host: String, _ port: UInt16, _ waiter: Waiter,
    until deadline: MonotonicTime
  ) async throws(ProxyRefusal) -> Bool {
    let stream: ByteStream
    do throws(StreamError) { stream = try ByteStream(channel) } catch { throw .closed }
    var output = head(of: proxy, host, port)
    while !output.isEmpty {
      switch output.send(to: stream) {
      case .moved: continue
      case .wouldBlock: guard await wait(stream, stream.sendInterest, waiter, deadline) else { return false }
      case .endOfStream, .failed: throw .closed
      }
    }
    var input = ByteBuffer(capacity: 4096)
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    var interimHeads = 0
    while true {
      switch input.withBytes({ parser.parse($0, into: &head, limits: limits) }) {
      case .invalid: throw .malformed
      case .complete(let count):
        if head.isInterim {
          interimHeads += 1
          if interimHeads > FetchExchange.interimLimit { throw .malformed }
          input.consume(count)
          continue
        }
        switch head.status {
        case 200...299:
          // The origin does not send before we do: bytes that follow are the outbound proxy's.
          guard input.count == count else { throw .malformed }
          return true
        case 407: throw .credentials
        default: throw .status(head.status)
        }
      case .needsMore: break
      }
      guard try await receive(stream, &input, waiter, deadline) else { return false }
    }
  }

  private static func head(of proxy: ProxyAddress, _ host: String, _ port: UInt16) -> ByteBuffer {
    let authority = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    var output = ByteBuffer(capacity: 512)
    output.append(Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n".utf8))
    if let credential = proxy.credential {
      output.append(Array("Proxy-Authorization: Basic \(Base64.encode(credential.bytes.array))\r\n".utf8))
    }
    output.append("User-Agent: bearer-proxy\r\n\r\n")
    return output
  }

  private static func receive(
    _ stream: ByteStream, _ input: inout ByteBuffer, _ waiter: Waiter, _ deadline: MonotonicTime
  ) async throws(ProxyRefusal) -> Bool {
    input.reserve(2048)
    while true {
      switch input.receive(from: stream) {
      case .moved: return true
      case .endOfStream, .failed: throw .closed
      case .wouldBlock: guard await wait(stream, stream.receiveInterest, waiter, deadline) else { return false }
      }
    }
  }

  /// True if it is not too late. A signal is for the task that waits for the caller.
  private static func wait(
    _ stream: ByteStream, _ interest: Readiness, _ waiter: Waiter, _ deadline: MonotonicTime
  ) async -> Bool {
    while true {
      waiter.watch(stream.channel, interest)
      switch await waiter.wait(until: deadline) {
      case .ready: return true
      case .timedOut: return false
      case .signalled: continue
      }
    }
  }
}
