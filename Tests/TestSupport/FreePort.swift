// Ports for peers that must be told one. Peers that can bind port 0 do, and are asked.

package import Glibc
import Synchronization

private let nextPort = Atomic<Int>(Int.random(in: 18_000..<28_000))

/// A free TCP port of 127.0.0.1, handed out once per process, below the range the kernel gives to clients.
package func freePort() throws -> Int {
  for _ in 0..<1000 {
    let port = nextPort.add(1, ordering: .relaxed).newValue
    guard port < 32_000 else {
      nextPort.store(18_000, ordering: .relaxed)
      continue
    }
    if isFree(port) { return port }
  }
  throw TestSupportError("no free port between 18000 and 32000")
}

private func isFree(_ port: Int) -> Bool {
  let descriptor = tcpSocket()
  defer { close(descriptor) }
  return onLoopback(port) { bind(descriptor, $0, $1) } == 0
}

/// True if a process accepts connections on 127.0.0.1:`port`.
package func accepts(_ port: Int) -> Bool {
  let descriptor = tcpSocket()
  defer { close(descriptor) }
  return onLoopback(port) { connect(descriptor, $0, $1) } == 0
}

/// Calls a function of the system with 127.0.0.1 and a port.
package func onLoopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}

/// A new TCP socket that no child process inherits.
package func tcpSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }

/// The columns of those TCP sockets of this machine that are meant (proc_net_tcp(5)).
package func kernelSockets(_ isMeant: ([Substring]) -> Bool) -> [[Substring]] {
  textOfFile("/proc/net/tcp").split(separator: "\n").map { $0.split(separator: " ") }
    .filter { $0.count > 9 && isMeant($0) }
}

/// A port of 127.0.0.1 as those columns have it.
package func kernelAddress(_ port: Int) -> Substring {
  let hexadecimal = String(port, radix: 16, uppercase: true)
  return "0100007F:" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
}
