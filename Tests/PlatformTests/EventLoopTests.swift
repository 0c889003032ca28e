import Bytes
import Dispatch
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct EventLoopTests {
  private static let loopback = SocketAddress(.ipv4(0x7F00_0001, port: 0))

  @Test func `a task that prefers the loop runs on it, and returns to it after leaving`() async throws {
    let loop = try EventLoop()
    let places = await Task(executorPreference: loop) {
      let before = loop.isRunningHere
      await Task(executorPreference: globalConcurrentExecutor) {}.value
      return [before, loop.isRunningHere]
    }.value
    #expect(places == [true, true])
    #expect(!loop.isRunningHere)
    loop.shutDown()
  }

  @Test func `a batch that takes long is told with its time`() async throws {
    let loop = try EventLoop()
    let longest = Locked<UInt64>(0)
    await Task(executorPreference: loop) {
      loop.afterTurn { nanoseconds in longest.withLock { $0 = max($0, nanoseconds) } }
    }.value
    await Task(executorPreference: loop) {
      let end = MonotonicTime.now + .milliseconds(20)
      while MonotonicTime.now < end {}
    }.value
    // The batch ends after its tasks do.
    await Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      _ = await waiter.wait(until: MonotonicTime.now + .milliseconds(1))
      waiter.close()
    }.value
    #expect(longest.withLock { $0 } >= 20_000_000)
    loop.shutDown()
  }

  @Test func `a wait without a channel ends at its deadline and not before`() async throws {
    let loop = try EventLoop()
    let (wake, elapsed) = await Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      let start = MonotonicTime.now
      let wake = await waiter.wait(until: start + .milliseconds(30))
      waiter.close()
      return (wake, MonotonicTime.now - start)
    }.value
    #expect(wake == .timedOut)
    #expect(elapsed >= .milliseconds(30))
    loop.shutDown()
  }

  @Test func `deadlines that move later, earlier or away wake in their final order`() async throws {
    let loop = try EventLoop()
    let order = Locked<[Int]>([])
    await withTaskGroup { group in
      for (index, delays) in [[5, 60], [80, 20], [10, 40], [70, 5, 80]].enumerated() {
        group.addTask(executorPreference: loop) {
          let waiter = Waiter(loop)
          for (step, delay) in delays.enumerated() {
            if step < delays.count - 1 {
              // Signalled first, so that the deadline moves without having passed.
              waiter.signal()
            }
            _ = await waiter.wait(until: MonotonicTime.now + .milliseconds(UInt64(delay)))
          }
          order.withLock { $0.append(index) }
          waiter.close()
        }
      }
    }
    #expect(order.withLock { $0 } == [1, 2, 0, 3])
    loop.shutDown()
  }

  @Test func `bytes sent over loopback come back whole and in order, with backpressure, then the end`() async throws {
    let loop = try EventLoop()
    let socket = try #require(try BoundSocket.bind(Self.loopback, count: 1).first)
    let server = Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      let listener = try Listener(socket, loop: loop)
      guard let (channel, _) = await listener.nextConnection(waiter) else { return 0 }
      let stream = try ByteStream(channel)
      var total = 0
      let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
      defer { storage.deallocate() }
      receiving: while true {
        switch stream.receive(into: storage) {
        case .moved(let count):
          for index in 0..<count {
            #expect(storage[index] == UInt8(truncatingIfNeeded: total + index))
          }
          total += count
        case .wouldBlock:
          waiter.watch(channel, stream.receiveInterest)
          _ = await waiter.wait(until: .distantFuture)
        case .endOfStream, .failed: break receiving
        }
      }
      stream.close()
      listener.close()
      return total
    }
    let sent = try await Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      let channel = try await Connector.connect(
        to: [socket.address], waiter: waiter, until: MonotonicTime.now + .seconds(5))
      let stream = try ByteStream(channel)
      let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }
      var offset = 0
      while offset < bytes.count {
        let outcome = bytes.withUnsafeBytes { stream.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
        switch outcome {
        case .moved(let count): offset += count
        case .wouldBlock:
          waiter.watch(channel, stream.sendInterest)
          _ = await waiter.wait(until: .distantFuture)
        case .endOfStream, .failed: throw SystemError("send")
        }
      }
      stream.close()
      return offset
    }.value
    #expect(try await server.value == sent)
    loop.shutDown()
  }

  @Test func `lingering loops leave Dispatch and Swift concurrency their threads`() async throws {
    // Two loops kept busy by timers that are always due soon, so that neither returns its thread.
    let loops = [try EventLoop(index: 0), try EventLoop(index: 1)]
    let isOver = Tally()
    await withTaskGroup { group in
      for loop in loops {
        group.addTask(executorPreference: loop) {
          let waiter = Waiter(loop)
          while isOver.count == 0 { _ = await waiter.wait(until: loop.now + .milliseconds(1)) }
          waiter.close()
        }
      }
      // A neighbour without a thread would never be resumed, and the suite's time limit would end the test.
      for _ in 0..<200 {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }
        }
        await Task(executorPreference: globalConcurrentExecutor) { await Task.yield() }.value
      }
      isOver.signal()
    }
    for loop in loops { loop.shutDown() }
  }

  @Test func `an address in use cannot be bound, although loops share theirs`() throws {
    let sockets = try BoundSocket.bind(Self.loopback, count: 2)
    #expect(Set(sockets.map(\.address)).count == 1)
    #expect(throws: SystemError("bind", 98)) { try BoundSocket.bind(sockets[0].address, count: 2) }
    for socket in sockets { socket.close() }
  }
}
