// The waits for a replica: one that does not answer is waited for once in ten seconds, not with each command.

import Bytes
import Platform
import Testing

@testable import Identity

@Suite struct ReplicaWaitTests {
  private static func command(_ milliseconds: Int) -> [UInt8] {
    RedisCommand("WAIT", "1", "\(milliseconds)").bytes
  }

  @Test(
    arguments: [
      // Replicas that had the last write, seconds since then, milliseconds to wait.
      (nil, 0, 300), (0, 0, 1), (0, 9, 1), (0, 10, 300), (1, 0, 300), (2, 5, 300),
    ] as [(Int64?, UInt64, Int)])
  func `a replica that did not answer is not waited for again at once`(
    replicas: Int64?, seconds: UInt64, milliseconds: Int
  ) {
    var wait = ReplicaWait()
    let then = MonotonicTime(nanoseconds: 1_000_000_000)
    if let replicas { wait.ended(3, replicas: replicas, at: then) }
    let now = then + .seconds(seconds)
    #expect(wait.command(3, at: now).bytes == Self.command(milliseconds))
    #expect(wait.command(3, at: now).cell == 3)
    // Another part of a cluster has replicas of its own.
    #expect(wait.command(4, at: now).bytes == Self.command(300))
  }

  @Test func `a replica that answers again is waited for`() {
    var wait = ReplicaWait()
    let then = MonotonicTime(nanoseconds: 1_000_000_000)
    wait.ended(0, replicas: 0, at: then)
    wait.ended(0, replicas: 1, at: then + .seconds(1))
    #expect(wait.command(0, at: then + .seconds(1)).bytes == Self.command(300))
  }
}
