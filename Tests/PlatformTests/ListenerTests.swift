import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct ListenerTests {
  private static func address(_ path: String) -> SocketAddress { SocketAddress(.unix(path: path)) }

  @Test func `a unix socket file without a listener is replaced, one in use is not`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.sock")
    let first = try #require(try BoundSocket.bind(Self.address(path), count: 3).first)
    #expect(throws: SystemError("bind", EADDRINUSE)) { try BoundSocket.bind(Self.address(path), count: 1) }
    // The process ends without removing the file.
    first.close()
    #expect(access(path, F_OK) == 0)
    let second = try #require(try BoundSocket.bind(Self.address(path), count: 1).first)
    #expect(throws: SystemError("bind", EADDRINUSE)) { try BoundSocket.bind(Self.address(path), count: 1) }
    second.close()
    second.removeSocketFile()
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a listener whose queue is full is in use`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.sock")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let caller = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    defer {
      close(listener)
      close(caller)
    }
    try #require(Self.address(path).withSockaddr { Glibc.bind(listener, $0, $1) } == 0)
    try #require(Glibc.listen(listener, 0) == 0)
    _ = Self.address(path).withSockaddr { connect(caller, $0, $1) }
    // A start that waited for this listener would wait for ever.
    _ = try await onOwnThread {
      #expect(throws: SystemError("bind", EADDRINUSE)) { try BoundSocket.bind(Self.address(path), count: 1) }
    }
  }

  @Test func `a file that is no socket is left alone`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("precious", to: "a.sock")
    #expect(throws: SystemError("bind", EADDRINUSE)) { try BoundSocket.bind(Self.address(path), count: 1) }
    #expect(directory.read("a.sock") == "precious")
  }

  @Test func `several loops take one unix socket, and serve every caller`() async throws {
    let directory = try TemporaryDirectory()
    let sockets = try BoundSocket.bind(Self.address(directory.file("a.sock")), count: 2)
    #expect(sockets.count == 1)
    let socket = try #require(sockets.first)
    let count = Tally()
    let loops = [try EventLoop(index: 0), try EventLoop(index: 1)]
    for loop in loops {
      Task(executorPreference: loop) {
        let listener = try Listener(socket, loop: loop)
        let waiter = Waiter(loop)
        while let (channel, peer) = await listener.nextConnection(waiter) {
          #expect(peer == Self.address(""))
          count.signal()
          channel.close()
        }
      }
    }
    try await onLoop { loop in
      let waiter = Waiter(loop)
      for _ in 0..<50 {
        let channel = try await Connector.connect(to: [socket.address], waiter: waiter, until: .now + .seconds(5))
        waiter.watch(channel, .readClosed)
        #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
        channel.close()
      }
      waiter.close()
    }
    #expect(count.count == 50)
    socket.close()
  }

  @Test(arguments: ["127.0.0.1", "::1", "unix"])
  func `a listener that stops queues nothing more, and loses nothing that is queued`(_ place: String) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.sock")
    let address = try place == "unix" ? Self.address(path) : #require(SocketAddress(literal: place, port: 0))
    let socket: BoundSocket
    do {
      socket = try #require(try BoundSocket.bind(address, count: 1).first)
    } catch let error as SystemError where error.number == EADDRNOTAVAIL {
      // A machine without IPv6 on loopback.
      return
    }
    let accepted = try await onLoop { loop in
      let listener = try Listener(socket, loop: loop)
      let waiter = Waiter(loop)
      var callers: [Channel] = []
      for _ in 1...5 {
        callers.append(try await Connector.connect(to: [socket.address], waiter: waiter, until: .now + .seconds(30)))
      }
      socket.stopQueueing()
      // At once, though the socket is still open; a user who may attach no filter to it needs that.
      do throws(ConnectError) {
        try await Connector.connect(to: [socket.address], waiter: waiter, until: .now + .seconds(30)).close()
        Issue.record("a connection was made")
      } catch {
        guard case .refused = error else { throw error }
      }
      var accepted = 0
      await listener.emptyQueue(waiter, onExhaustion: {}) { channel, _ in
        accepted += 1
        channel.close()
      }
      for caller in callers { caller.close() }
      listener.close()
      waiter.close()
      return accepted
    }
    socket.close()
    #expect(accepted == 5)
    #expect(access(path, F_OK) != 0)
  }

  @Test func `IPv6 listens on IPv6 alone`() throws {
    let six: [SocketAddress]
    do {
      six = try BoundSocket.bind(try #require(SocketAddress(literal: "::1", port: 0)), count: 1).map { socket in
        socket.close()
        return socket.address
      }
    } catch let error as SystemError where error.number == EADDRNOTAVAIL {
      // A machine without IPv6 on loopback.
      return
    }
    #expect(six.first?.isLoopback == true)
  }

  @Test func `an address of another machine cannot be bound`() throws {
    #expect(throws: SystemError("bind", EADDRNOTAVAIL)) {
      try BoundSocket.bind(SocketAddress(.ipv4(0xC000_0201, port: 0)), count: 1)
    }
  }
}
