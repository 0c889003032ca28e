// The side of a service manager: the socket behind NOTIFY_SOCKET, played by a plain datagram socket.

import Glibc

/// A datagram socket that keeps what services say. Its name is a path, or abstract behind `@`.
package final class ServiceManagerSocket: Sendable {
  /// The value of `NOTIFY_SOCKET`.
  package let name: String
  private let descriptor: Int32

  package init(_ name: String) throws {
    self.name = name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var path = Array(name.utf8)
    if path.first == UInt8(ascii: "@") { path[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    // Of an abstract name every byte counts.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (path[0] == 0 ? 0 : 1))
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard status == 0 else { throw TestSupportError("cannot bind \(name): \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  /// The next message, as a dictionary of its lines; nil if none comes in ten seconds.
  package func next(within seconds: Int = 10) async throws -> [String: String]? {
    try await onOwnThread { [descriptor] in
      var limit = timeval(tv_sec: seconds, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
      return Dictionary(
        lines.map { line in
          let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
          return (parts[0], parts.count > 1 ? parts[1] : "")
        }
      ) { $1 }
    }
  }

  /// The next message that says something of this name.
  package func next(saying name: String) async throws -> [String: String]? {
    while let message = try await next() { if message[name] != nil { return message } }
    return nil
  }
}
