// Ports for peers that must be told one. Peers that can bind port 0 do, and are asked.

import Glibc
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
  var address = loopback(port)
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}

/// 127.0.0.1 with `port`.
func loopback(_ port: Int) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
  return address
}

/// A new TCP socket that no child process inherits.
func tcpSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
