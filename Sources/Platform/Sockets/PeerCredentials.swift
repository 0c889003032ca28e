// Who is at the other end of a unix socket.

package import Bytes
internal import CSystem
internal import Glibc

/// The process that connected a unix socket, as it was when it did (unix(7), `SO_PEERCRED`).
package struct PeerCredentials: Sendable, Hashable {
  /// Its effective user id.
  package let user: UInt32
  /// Its effective group id.
  package let group: UInt32

  /// This process's own.
  package static var own: PeerCredentials { PeerCredentials(user: geteuid(), group: getegid()) }

  /// Credentials of these ids.
  package init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// Who connected; nil where the socket is no unix socket.
  package init?(of channel: Channel) {
    var (user, group, process): (UInt32, UInt32, Int32) = (0, 0, 0)
    guard csystem_peer_credentials(channel.descriptor, &user, &group, &process) == 0 else { return nil }
    self.init(user: user, group: group)
  }
}

/// The process at the other end of a loopback connection, as far as the kernel tells.
package enum LoopbackPeer: Sendable, Hashable {
  /// A process of this user.
  case user(UInt32)
  /// The kernel lists no such connection: it is closed already, or comes from another network namespace.
  case unlisted
  /// The kernel's list cannot be read.
  case unknown

  /// Looks a connection up that `peer` made to `own`, both IPv4.
  package init(of peer: SocketAddress, to own: SocketAddress) {
    guard let from = Self.written(peer), let to = Self.written(own) else {
      self = .unknown
      return
    }
    let lists = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(Self.contents)
    guard !lists.isEmpty else {
      self = .unknown
      return
    }
    for list in lists {
      if let user = Self.user(from: from, to: to, in: list) {
        self = .user(user)
        return
      }
    }
    self = .unlisted
  }

  /// Finds the established connection in the kernel's list (proc_pid_net(5)). One whose process has closed it belongs
  /// to no user any more, and counts as none. In the list of IPv6, an IPv4 address is the end of a longer one.
  static func user(from: String, to: String, in list: String) -> UInt32? {
    for line in list.split(separator: "\n").dropFirst() {
      let words = line.split(separator: " ")
      guard words.count > 7, words[1].hasSuffix(from), words[2].hasSuffix(to), words[3] == "01" else { continue }
      return UInt32(words[7])
    }
    return nil
  }

  /// An address as the list has it: the bytes in the machine's order, hexadecimal.
  static func written(_ address: SocketAddress) -> String? {
    guard case .ipv4(let host, let port) = address.kind else { return nil }
    return hexadecimal(UInt64(host.bigEndian), digits: 8) + ":" + hexadecimal(UInt64(port), digits: 4)
  }

  private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }

  private static func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count < 64 << 20 {
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else { return nil }
      bytes += chunk[0..<count]
    }
    return nil
  }
}
