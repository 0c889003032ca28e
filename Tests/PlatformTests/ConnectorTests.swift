import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct ConnectorTests {
  // Families by their number.
  @Test(arguments: [
    ("", ""), ("4a", "4a"), ("6a 6b 4a 4b", "6a 4a 6b 4b"), ("4a 6a 6b 6c", "4a 6a 6b 6c"),
    ("4a 4b 4c 6a", "4a 6a 4b 4c"), ("6a 6b", "6a 6b"),
  ])
  func `families take turns, and each keeps its order`(given: String, expected: String) {
    func addresses(_ text: String) -> [SocketAddress] {
      text.split(separator: " ").map { word in
        let number = UInt8(word.utf8.last ?? 0)
        return word.first == "4"
          ? SocketAddress(.ipv4(UInt32(number), port: 1))
          : SocketAddress(.ipv6(Array(repeating: 0, count: 15) + [number], port: 1, zone: 0))
      }
    }
    #expect(Connector.interleaved(addresses(given)) == addresses(expected))
  }

  @Test func `an address that refuses is passed over for one that answers, without a pause`() async throws {
    let port = UInt16(try freePort())
    try await onLoop { loop in
      let server = try LoopServer(on: loop) { _, _ in }
      let waiter = Waiter(loop)
      // The delay between attempts is for addresses that do not answer: two of them would take half a second each time.
      var quickest = TimeSpan.seconds(60)
      for _ in 0..<20 where quickest >= .milliseconds(200) {
        let start = MonotonicTime.now
        let channel = try await Connector.connect(
          to: [
            SocketAddress(.ipv4(0x7F00_0001, port: port)), SocketAddress(.ipv4(0x7F00_0002, port: port)),
            server.address,
          ], waiter: waiter, until: .now + .seconds(30))
        quickest = min(quickest, MonotonicTime.now - start)
        channel.close()
      }
      #expect(quickest < .milliseconds(200))
      waiter.close()
    }
  }

  @Test func `if no address answers the last reason is given, and no descriptor stays open`() async throws {
    let port = UInt16(try freePort())
    try await onLoop { loop in
      let waiter = Waiter(loop)
      // A channel that is dropped without being closed traps.
      for _ in 0..<20 {
        let addresses = (1...3).map { SocketAddress(.ipv4(0x7F00_0000 + $0, port: port)) }
        #expect(await Self.failure(addresses, waiter, .seconds(5)) == .refused(SystemError("connect", ECONNREFUSED)))
      }
      #expect(await Self.failure([], waiter, .seconds(5)) == .refused(SystemError("connect", ENETUNREACH)))
      waiter.close()
    }
  }

  @Test func `an address that does not answer holds the next one up for the attempt delay only`() async throws {
    let blackHole = try BlackHole()
    let silent = blackHole.address
    try await onLoop { loop in
      let server = try LoopServer(on: loop) { _, _ in }
      let waiter = Waiter(loop)
      // The loop's own time, which the delay is added to.
      let start = loop.now
      let channel = try await Connector.connect(
        to: [silent, server.address], waiter: waiter, until: .now + .seconds(30))
      #expect(loop.now - start >= .milliseconds(250))
      channel.close()
      // Alone, it takes all the time.
      #expect(await Self.failure([silent], waiter, .milliseconds(50)) == .timedOut)
      waiter.close()
    }
    withExtendedLifetime(blackHole) {}
  }

  private static func failure(
    _ addresses: [SocketAddress], _ waiter: Waiter, _ limit: TimeSpan
  ) async -> ConnectError? {
    do throws(ConnectError) {
      try await Connector.connect(to: addresses, waiter: waiter, until: .now + limit).close()
      return nil
    } catch {
      return error
    }
  }
}

/// A listener with a full queue that never accepts: the kernel drops further connections.
private final class BlackHole {
  let address: SocketAddress
  private var descriptors: [Int32] = []

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptors.append(listener)
    let any = SocketAddress(.ipv4(0x7F00_0001, port: 0))
    try #require(any.withSockaddr { Glibc.bind(listener, $0, $1) } == 0)
    try #require(Glibc.listen(listener, 0) == 0)
    address = try #require(BoundSocket.localAddress(listener))
    for _ in 0..<8 {
      let caller = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
      descriptors.append(caller)
      _ = address.withSockaddr { Glibc.connect(caller, $0, $1) }
    }
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }
}
