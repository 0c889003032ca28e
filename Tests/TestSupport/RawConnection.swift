// A socket that sends exactly the bytes it is given: for requests no well-behaved client would make.

import Glibc

/// A TCP connection to the proxy. Every wait ends after ten seconds, or the patience of a test that knows no silence.
package final class RawConnection: Sendable {
  private let descriptor: Int32

  /// Connects to 127.0.0.1:`port`.
  /// - Parameter patience: seconds that each wait lasts at most.
  package init(port: Int, patience: Int = 10) throws {
    descriptor = tcpSocket()
    let status = onLoopback(port) { [descriptor] in connect(descriptor, $0, $1) }
    guard status == 0 else {
      throw TestSupportError("cannot connect to port \(port): \(String(cString: strerror(errno)))")
    }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Sends `text` unchanged; true if all of it went out.
  @discardableResult
  package func send(_ text: String) async throws -> Bool {
    try await onOwnThread { [descriptor] in
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let sent = bytes.withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent <= 0 { return false }
        bytes = bytes.dropFirst(sent)
      }
      return true
    }
  }

  /// Tells the peer that nothing more will be sent, and stays ready to receive.
  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives until the peer closes, or `enough` says so of everything received by this call, or a wait without a byte.
  package func receive(until enough: @escaping @Sendable (String) -> Bool = { _ in false }) async throws -> String {
    try await onOwnThread { [descriptor] in
      var received: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while !enough(String(decoding: received, as: UTF8.self)) {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count <= 0 { break }
        received += buffer[..<count]
      }
      return String(decoding: received, as: UTF8.self)
    }
  }

  /// True if the peer closes the connection in time, whatever it sends before.
  package func isClosedByPeer() async throws -> Bool {
    try await onOwnThread { [descriptor] in
      var buffer = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
        if count < 0 { return false }
      }
    }
  }
}

/// The text of a raw connection, split into one answer: the status, and if its head names `field`.
package func statusOf(_ text: String) -> Int { parseHead(String(text.prefix { $0 != "\r\n" })).0 }
