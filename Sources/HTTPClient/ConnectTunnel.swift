internal import Bytes
internal import HTTP
internal import Platform

enum ConnectTunnel {
  /// Makes `channel`, which is connected to `proxy`, lead to an origin.
  static func open(
    _ channel: Channel, through proxy: ProxyAddress, to host: String, _ port: UInt16, _ waiter: Waiter,
    until deadline: MonotonicTime
  ) async throws(UpstreamError) {
    let stream = try mapping({ (_: StreamError) in UpstreamError.proxy(.closed) }, ByteStream(channel))
    let exchange = RequestExchange(stream, host: proxy.host, waiter, until: deadline)
    let byteCount: Int
    do throws(FetchError) {
      try await exchange.send(head(of: proxy, host, port))
      byteCount = try await exchange.receiveHead()
    } catch .timedOut {
      throw .timedOut
    } catch .closed {
      throw .proxy(.closed)
    } catch {
      throw .proxy(.malformed)
    }
    switch exchange.head.status {
    case 200...299:
      // The origin does not send before we do: bytes that follow are the outbound proxy's.
      guard exchange.input.count == byteCount else { throw .proxy(.malformed) }
    case 407: throw .proxy(.credentials)
    case let status: throw .proxy(.status(status))
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
}
