// The conditions of a sign of life.

import Glibc
import Platform
import TestSupport
import Testing

@testable import bearer_proxy

@Suite(.timeLimit(.minutes(5)))
struct WatchdogTests {
  @Test func `a blocked loop gives no sign of life, and other loops give none for it`() async throws {
    let directory = try TemporaryDirectory()
    let manager = try ServiceManagerSocket(directory.file("notify"))
    let notifier = try #require(
      ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"]))
    let loops = [try EventLoop(index: 0), try EventLoop(index: 1)]
    let watchdog = Task { await notifier.proveLife(of: loops) }
    #expect(try await manager.next(saying: "WATCHDOG") != nil)
    let stuck = Tally()
    let gate = Gate()
    Task(executorPreference: loops[1]) {
      stuck.signal()
      gate.wait()
    }
    await stuck.wait(for: 1)
    // One may have been on its way.
    while try await manager.next(within: 1) != nil {}
    #expect(try await manager.next(within: 1) == nil)
    gate.open()
    #expect(try await manager.next(saying: "WATCHDOG") != nil)
    watchdog.cancel()
    for loop in loops { loop.shutDown() }
  }
}
