import Bytes
import Glibc
import Platform
import Testing

@testable import bearer_proxy

struct ListenFailureTests {
  static let permission =
    "Permission denied; a port below 1024 needs CAP_NET_BIND_SERVICE at the start, or a socket unit of systemd"

  @Test(arguments: [
    ("127.0.0.1", 80, EACCES, "cannot listen on 127.0.0.1:80: " + permission),
    ("::1", 1023, EACCES, "cannot listen on [::1]:1023: " + permission),
    ("127.0.0.1", 1024, EACCES, "cannot listen on 127.0.0.1:1024: Permission denied"),
    ("127.0.0.1", 80, EADDRINUSE, "cannot listen on 127.0.0.1:80: Address already in use"),
  ])
  func `a refused port below 1024 comes with its cure`(host: String, port: UInt16, number: Int32, message: String)
    throws
  {
    let address = try #require(SocketAddress(literal: host, port: port))
    #expect(listenFailure(SystemError("bind", number), at: address) == message)
  }

  @Test func `a refused socket file has no port`() {
    let message = listenFailure(SystemError("bind", EACCES), at: SocketAddress(.unix(path: "/run/proxy.sock")))
    #expect(message == "cannot listen on unix:/run/proxy.sock: Permission denied")
  }
}
