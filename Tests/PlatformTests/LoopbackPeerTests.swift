import Bytes
import Testing

@testable import Platform

@Suite struct LoopbackPeerTests {
  private static let list = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
       1: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
       2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000    33        0 3 1 0 20 4 30 10 -1
       3: 0100007F:D432 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
       4: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 \
    00000000  1001 0 4
    """

  @Test(
    arguments: [
      ("0100007F:D431", "0100007F:1F90", 1000), ("0100007F:1F90", "0100007F:D431", 33),
      ("0100007F:D433", "0100007F:1F90", 1001),
      // Its process has closed it: the kernel knows no owner any more, and lists root's number.
      ("0100007F:D432", "0100007F:1F90", nil), ("0100007F:D434", "0100007F:1F90", nil),
    ] as [(String, String, UInt32?)]) func `an established connection has its owner`(
      from: String, to: String, user: UInt32?
    )
  {
    #expect(LoopbackPeer.user(from: from, to: to, in: Self.list) == user)
  }

  @Test func `addresses are written as the kernel does`() {
    #expect(LoopbackPeer.written(SocketAddress(.ipv4(0x7F00_0001, port: 8080))) == "0100007F:1F90")
    let loopback = [UInt8](repeating: 0, count: 15) + [1]
    #expect(
      LoopbackPeer.written(SocketAddress(.ipv6(loopback, port: 8080, zone: 0)))
        == "00000000000000000000000001000000:1F90")
    #expect(LoopbackPeer.written(SocketAddress(.unix(path: "/x"))) == nil)
  }
}
