package import Bytes
internal import Glibc

/// Listening sockets that the process was started with: systemd's socket activation (sd_listen_fds(3)).
package struct InheritedSockets: Sendable {
  package struct Entry: Sendable {
    /// The name of its unit, or of `FileDescriptorName=`.
    package let name: String
    package let socket: BoundSocket
  }

  /// Sockets that have not been taken yet.
  package private(set) var left: [Entry] = []
  /// The names of those that are no listening stream sockets.
  package private(set) var unusable: [String] = []

  /// The first descriptor that is handed over.
  private static let first: Int32 = 3

  package init() {}

  /// The sockets in the environment, if it addresses this process. Call it once: the descriptors are taken over.
  package init(environment: [String: String]) {
    guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
      let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...1024).contains(count)
    else { return }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    for index in 0..<count {
      let descriptor = Self.first + index
      let name = Int(index) < names.count ? String(names[Int(index)]) : "unknown"
      // Programs that this process starts must not get it.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      guard Self.option(SO_ACCEPTCONN, descriptor) == 1,
        Self.option(SO_TYPE, descriptor) == Int32(SOCK_STREAM.rawValue),
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
        let address = BoundSocket.localAddress(descriptor)
      else {
        unusable.append(name)
        continue
      }
      left.append(Entry(name: name, socket: BoundSocket(address: address, descriptor: descriptor, isInherited: true)))
    }
  }

  /// Adds a socket that this process has bound itself.
  package mutating func add(_ socket: BoundSocket) {
    left.append(Entry(name: "", socket: socket))
  }

  package mutating func take(_ address: SocketAddress) -> BoundSocket? {
    guard let index = left.firstIndex(where: { $0.socket.address == address }) else { return nil }
    return left.remove(at: index).socket
  }

  private static func option(_ name: Int32, _ descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }
}
