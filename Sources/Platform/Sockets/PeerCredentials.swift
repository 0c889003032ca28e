package import Bytes
internal import CSystem
internal import Glibc

/// The process that connected a unix socket, at that moment (unix(7), `SO_PEERCRED`).
package struct PeerCredentials: Sendable, Hashable {
  package let user: UInt32
  package let group: UInt32

  package static var own: PeerCredentials { PeerCredentials(user: geteuid(), group: getegid()) }

  package init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// The peer's credentials; nil if the socket is no unix socket.
  package init?(of channel: Channel) {
    var (user, group, process): (UInt32, UInt32, Int32) = (0, 0, 0)
    guard csystem_peer_credentials(channel.descriptor, &user, &group, &process) == 0 else { return nil }
    // The kernel's answer for other sockets.
    if user == .max { return nil }
    self.init(user: user, group: group)
  }
}

/// The process at the other end of a connection that may come from this machine.
package struct LocalPeer: Sendable {
  private let credentials: PeerCredentials?
  private let ends: (peer: SocketAddress, own: SocketAddress)?

  private static let queue = FileQueue("peers")

  /// Examines the connection, not yet the kernel's list.
  package init(of channel: Channel) {
    credentials = PeerCredentials(of: channel)
    ends = SocketAddress.ends(of: channel).flatMap { ends in
      IPAddress(ends.peer.host)?.unmapped.isLoopback == true ? ends : nil
    }
  }

  /// Its user; nil if it is on another machine, or not known. Waits for the kernel's list, but on no loop.
  package func user() async -> UInt32? {
    if let credentials { return credentials.user }
    guard let ends else { return nil }
    let peer = await Self.queue.run { LoopbackPeer(of: ends.peer, to: ends.own) }
    if case .user(let user) = peer { return user }
    return nil
  }
}

/// The process at the other end of a loopback connection, by the kernel's list.
package enum LoopbackPeer: Sendable, Hashable {
  case user(UInt32)
  /// The kernel lists no such connection: it is closed already, or comes from another network namespace.
  case unlisted
  /// The kernel's list cannot be read.
  case unknown

  package init(of peer: SocketAddress, to own: SocketAddress) {
    let lists = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(Self.contents)
    guard let from = Self.written(peer), let to = Self.written(own), !lists.isEmpty else {
      self = .unknown
      return
    }
    let user = lists.lazy.compactMap { Self.user(from: from, to: to, in: $0) }.first
    self = user.map { .user($0) } ?? .unlisted
  }

  /// Finds the established connection in the kernel's list (proc_pid_net(5)). A connection that its process has closed
  /// belongs to no user, and does not count. In the list of IPv6, an IPv4 address is the end of a longer one.
  static func user(from: String, to: String, in list: String) -> UInt32? {
    for line in list.split(separator: "\n").dropFirst() {
      let words = line.split(separator: " ")
      guard words.count > 7, words[1].hasSuffix(from), words[2].hasSuffix(to), words[3] == "01" else { continue }
      return UInt32(words[7])
    }
    return nil
  }

  /// An address in the list's form: the bytes in the machine's order, hexadecimal.
  static func written(_ address: SocketAddress) -> String? {
    switch address.kind {
    case .ipv4(let host, let port):
      return hexadecimal(UInt64(host.bigEndian), digits: 8) + ":" + hexadecimal(UInt64(port), digits: 4)
    case .ipv6(let bytes, let port, _):
      let words = stride(from: 0, to: bytes.count, by: 4).map { start in
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
      }
      return words.map { hexadecimal(UInt64($0), digits: 8) }.joined() + ":" + hexadecimal(UInt64(port), digits: 4)
    case .unix: return nil
    }
  }

  private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }

  private static func contents(of path: String) -> String? {
    do throws(FileError) {
      return String(decoding: try ReadableFile.contents(of: path, limit: 64 << 20), as: UTF8.self)
    } catch {
      return nil
    }
  }
}
