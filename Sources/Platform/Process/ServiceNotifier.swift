// Reports the state of the process to the service manager (sd_notify(3)): datagrams of `NAME=value` lines to the socket
// that it named.

package import Bytes
internal import Glibc

/// The connection to the service manager that started this process.
/// `@unchecked Sendable`: both parts are set in `init` and never change; sending a datagram needs no order.
package final class ServiceNotifier: @unchecked Sendable {
  private let descriptor: Int32
  private let address: [UInt8]
  /// The interval in which the service manager expects `alive`; nil if it expects none.
  package let watchdog: TimeSpan?

  /// The socket that the environment names; nil if there is none.
  package init?(environment: [String: String]) {
    guard let name = environment["NOTIFY_SOCKET"], let address = Self.address(name) else { return nil }
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
    let microseconds = isMeant ? environment["WATCHDOG_USEC"].flatMap { UInt64($0) } ?? 0 : 0
    watchdog = microseconds > 0 && microseconds < .max / 1000 ? TimeSpan(nanoseconds: microseconds * 1000) : nil
  }

  deinit {
    close(descriptor)
  }

  /// The kernel's form of a path, or of an abstract name behind `@`, without trailing bytes: they would count.
  static func address(_ name: String) -> [UInt8]? {
    var path = Array(name.utf8)
    guard path.first == UInt8(ascii: "/") || path.first == UInt8(ascii: "@"), path.count > 1,
      path.count <= SocketAddress.unixPathLimit
    else { return nil }
    let isAbstract = path[0] == UInt8(ascii: "@")
    if isAbstract { path[0] = 0 }
    let family = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) }
    return family + path + (isAbstract ? [] : [0])
  }

  // MARK: Messages

  package func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }

  /// The configuration is being read again. `ready` ends that.
  package func reloading() {
    send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now.nanoseconds / 1000)\nSTATUS=reading the configuration again")
  }

  package func stopping() { send("STOPPING=1\nSTATUS=finishing what is in flight") }

  package func alive() { send("WATCHDOG=1") }

  /// Sends one datagram. If the queue is full it waits a moment, then gives up.
  private func send(_ text: String) {
    let bytes = Array(text.utf8)
    for _ in 0..<2 {
      let count = address.withUnsafeBytes { raw in
        raw.withMemoryRebound(to: sockaddr.self) {
          sendto(
            descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0.baseAddress,
            socklen_t(address.count))
        }
      }
      if count >= 0 || errno != EAGAIN { return }
      var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&item, 1, 1000)
    }
  }
}
