internal import Bytes
internal import Platform

/// Leases on a Redis server: one process at a time holds a key, and no longer than its life without renewal.
struct RedisLeases: Sendable {
  /// Interval of a lease's renewals: an exchange with a provider may last longer than a lease.
  private static let renewPause = Duration.seconds(2)

  let client: any RedisTransport
  let keys: RedisKeys
  let timing: RedisTiming
  let surroundings: StoreSurroundings
  let replicas: Locked<ReplicaWait>

  /// The life of a lease. It outlasts a failover, in which it can neither be renewed nor released.
  private var life: String {
    "\((client.isReplicated ? timing.failover : timing.lease).nanoseconds / 1_000_000)"
  }

  /// Takes a lease that no other process waits for and releases it.
  func tryOne() async throws(RedisFailure) {
    let holder = String(surroundings.random(), radix: 16)
    let (name, cell) = keys.lease("trial \(holder)")
    _ = try await client.perform(RedisCommand("SET", name, holder, "NX", "PX", life).about(cell))
    _ = try await run(RedisCommand.release, name, cell, holder)
  }

  func take(_ key: String, within limit: TimeSpan) async -> CacheLease? {
    let (name, cell) = keys.lease(key)
    // Only its holder knows the value, so that no other can renew or release the lease.
    let holder = String(surroundings.random(), radix: 16) + String(surroundings.random(), radix: 16)
    guard await take(name, cell, holder, within: limit) else { return nil }
    let renewal = Task { await renew(name, cell, holder) }
    return CacheLease(outlastsFailures: true) {
      renewal.cancel()
      // If it cannot be released, it ends by itself.
      do throws(RedisFailure) { _ = try await run(RedisCommand.release, name, cell, holder) } catch {}
    }
  }

  /// True if the lease was taken. False also if the server is away, and no other one replaces it in time.
  private func take(_ name: String, _ cell: Int, _ holder: String, within limit: TimeSpan) async -> Bool {
    let end = surroundings.now() + limit
    let attempt = RedisCommand("SET", name, holder, "NX", "PX", life).about(cell)
    var (pause, wasLost) = (20.0, false)
    while true {
      do throws(RedisFailure) {
        // The reply that did not arrive may have been OK.
        if wasLost, try await run(RedisCommand.renew, name, cell, holder, life) == 1 { return true }
        wasLost = false
        if try await client.perform(attempt) == .text(Array("OK".utf8)) {
          // A server that takes over must know the lease.
          if client.isReplicated { _ = try await replicas.run(on: client, cell, surroundings.now) }
          return true
        }
      } catch {
        guard client.isReplicated, let since = client.failingSince, surroundings.now() - since < timing.failover else {
          return false
        }
        (pause, wasLost) = (max(pause, 100), true)
      }
      guard surroundings.now() < end else { return false }
      await surroundings.sleep(.milliseconds(pause * (0.75 + surroundings.fraction() / 2)))
      if Task.isCancelled { return false }
      pause = min(pause * 1.5, 150)
    }
  }

  private func renew(_ name: String, _ cell: Int, _ holder: String) async {
    while true {
      await (timing.leasePause ?? surroundings.sleep)(Self.renewPause)
      guard !Task.isCancelled else { return }
      do throws(RedisFailure) { _ = try await run(RedisCommand.renew, name, cell, holder, life) } catch {}
    }
  }

  /// The number that a script about a lease returns: 1 if it is this holder's.
  private func run(
    _ script: String, _ name: String, _ cell: Int, _ arguments: String...
  ) async throws(RedisFailure) -> Int64? {
    try await client.perform(
      .script(script, keys: [name], arguments: arguments.map { Array($0.utf8) }).about(cell)
    ).number
  }
}
