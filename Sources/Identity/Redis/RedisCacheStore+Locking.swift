// Owns that one replica at a time asks a provider for the same thing: a lease on the server, taken, lengthened and given back by a
// word that only its holder knows.

public import Network

extension RedisCacheStore {
  /// How long a lease holds without being lengthened: so long a replica that died keeps the others waiting, at most.
  private static let leaseMilliseconds = 6000
  /// How often it is lengthened: an exchange with a provider may last longer than a lease.
  private static let renewPause = Duration.seconds(2)

  /// Runs `body` alone among all replicas that use the same key, after a look at what they left.
  public func withRefreshLock<Result: Sendable>(
    _ key: String, within limit: TimeSpan, _ body: @Sendable () async -> Result
  ) async -> Result {
    let name = keys.lease(key)
    let word = String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
    let began = MonotonicTime.now
    let isHeld = await take(name, word, within: limit)
    observe(.waited(.refresh, Duration(MonotonicTime.now - began)))
    _ = client.pausing == nil ? await reread() : nil
    let renewal = isHeld ? Task { await lengthen(name, word) } : nil
    let result = await body()
    renewal?.cancel()
    if isHeld { await perform(RedisCommand.release, name, [word]) }
    return result
  }

  /// Takes a lease that nobody waits for and gives it back.
  public func tryLock() async throws(CacheStoreError) {
    let word = String(UInt64.random(in: 0 ... .max), radix: 16)
    let name = keys.lease("trial \(word)")
    do throws(RedisFailure) {
      _ = try await client.perform(RedisCommand("SET", name, word, "NX", "PX", "\(Self.leaseMilliseconds)"))
      _ = try await client.perform([.script(RedisCommand.release, keys: [name], arguments: [Array(word.utf8)])])
    } catch {
      throw .server(error)
    }
  }

  /// Whether the lease is ours. Where the server is away, or the wait was long enough, it goes without: two token requests are better than
  /// none.
  private func take(_ name: String, _ word: String, within limit: TimeSpan) async -> Bool {
    let end = MonotonicTime.now + limit
    var pause = 20.0
    while true {
      do throws(RedisFailure) {
        let reply = try await client.perform(
          RedisCommand("SET", name, word, "NX", "PX", "\(Self.leaseMilliseconds)"))
        if reply == .text(Array("OK".utf8)) { return true }
      } catch {
        return false
      }
      guard MonotonicTime.now < end else { return false }
      do { try await Task.sleep(for: .milliseconds(pause * Double.random(in: 0.75...1.25))) } catch { return false }
      pause = min(pause * 1.5, 150)
    }
  }

  private func lengthen(_ name: String, _ word: String) async {
    while true {
      await leasePause(Self.renewPause)
      guard !Task.isCancelled else { return }
      await perform(RedisCommand.renew, name, [word, "\(Self.leaseMilliseconds)"])
    }
  }

  /// A lease that cannot be lengthened or given back ends by itself.
  private func perform(_ script: String, _ name: String, _ arguments: [String]) async {
    do throws(RedisFailure) {
      _ = try await client.perform([.script(script, keys: [name], arguments: arguments.map { Array($0.utf8) })])
    } catch {}
  }
}
