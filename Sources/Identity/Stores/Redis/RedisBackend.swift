internal import Bytes
internal import HTTPClient
package import Platform
package import Tokens

extension CacheStore {
  /// The cache on a Redis server, one key for each person and host and one for each application's own tokens. If the
  /// server cannot be used, the cache is empty until it can.
  /// - Parameters:
  ///   - tokens: tokens in the place of the server's password.
  ///   - tls: trust, and our certificate if the server asks for one; nil is plain TCP.
  package static func redis(
    _ server: RedisServer, tokens: RedisTokens? = nil, tls: TLSContext? = nil, loop: EventLoop, resolver: Resolver,
    timing: RedisTiming = RedisTiming(),
    observe: @escaping @Sendable (CacheStoreEvent) -> Void = { _ in }
  ) async -> CacheStore {
    let client = RedisClient(
      server, tokens: tokens, tls: tls, loop: loop, resolver: resolver, timing: timing, observe: observe)
    return await redis(over: client, prefix: server.keyPrefix, timing: timing, observe: observe)
  }

  /// The same over another way to a server.
  package static func redis(
    over transport: any RedisTransport, prefix: String, timing: RedisTiming = RedisTiming(),
    surroundings: StoreSurroundings = StoreSurroundings(), observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> CacheStore {
    await open(
      RedisBackend(transport, prefix: prefix, timing: timing, surroundings: surroundings),
      surroundings: surroundings, observe: observe)
  }
}

/// Time limits of a Redis server's answers, and the life of leases.
package struct RedisTiming: Sendable {
  /// To connect and authenticate.
  package var connect = TimeSpan.seconds(2)
  /// For the answers to commands that were sent together.
  package var command = TimeSpan.seconds(5)
  /// Interval of polls for changes: those of others are seen within a second.
  package var look = Duration.milliseconds(500)
  /// Life of a lease without renewal: after a replica died, the longest wait of the others.
  package var lease = TimeSpan.seconds(6)
  /// Waits between two renewals of a lease; nil: as every other pause.
  package var leasePause: StoreSurroundings.Pause?

  package init() {}
}

/// A cache on a Redis server, divided into shards that have versions.
///
/// Changes are polled: the counter often, a shard when it changed, all names after a new connection. The server does
/// not push them: an ACL user has no channels unless an operator adds them, a half-open connection shows at the next
/// poll, and no change can be missed.
final class RedisBackend: CacheBackend {
  private struct State {
    /// The server's contents, as last seen.
    var cache = ShardedCache()
    /// The server's counter at the last complete reading.
    var counter: Int64 = 0
    /// The highest version ever seen here.
    var highest: Int64 = 0
    /// The connection of that reading; 0: none.
    var connection: UInt64 = 0
  }

  /// The names of the keys under one prefix.
  private struct Keys {
    let prefix: String

    /// The number of writes so far.
    var counter: String { prefix + "version" }
    /// That number at the last write that removed a shard.
    var removal: String { prefix + "removed" }
    /// The names of the shards, sorted by the write that made them.
    var index: String { prefix + "index" }
    /// A shard: its version and its entries.
    func shard(_ name: String) -> String { prefix + name }
    func text(_ name: SharedTextName) -> String { prefix + name.rawValue }
    func lease(_ key: String) -> String { prefix + "lock:" + String(LeaseDigest(key).value, radix: 16) }
  }

  /// Shards read in one go.
  private static let readBatch = 100
  /// Versions left out when a server's counter is restored: those that other replicas may have seen and this one not.
  private static let restoreGap: Int64 = 1000
  /// Interval of a lease's renewals: an exchange with a provider may last longer than a lease.
  private static let renewPause = Duration.seconds(2)

  var retryPause: Duration { timing.look }
  private let client: any RedisTransport
  private let keys: Keys
  private let timing: RedisTiming
  private let surroundings: StoreSurroundings
  private let state = Locked(State())

  init(_ transport: any RedisTransport, prefix: String, timing: RedisTiming, surroundings: StoreSurroundings) {
    client = transport
    keys = Keys(prefix: prefix)
    self.timing = timing
    self.surroundings = surroundings
  }

  var isPaused: Bool { client.pausing != nil }

  private var leaseMilliseconds: String { "\(timing.lease.nanoseconds / 1_000_000)" }

  func watch(_ look: @escaping @Sendable () async -> Bool) {
    Task { [sleep = surroundings.sleep, pause = timing.look] in
      repeat { await sleep(pause) } while await look()
    }
  }

  func text(_ name: SharedTextName) -> any SharedText {
    RedisText(client: client, key: keys.text(name), lifetime: name.lifetime, sleep: surroundings.sleep)
  }

  // MARK: Reading

  func read() async throws(CacheStoreError) -> CacheDocument? {
    do throws(RedisFailure) {
      return try await pull()
    } catch {
      throw .server(error)
    }
  }

  /// Updates the known shards from the server; nil if nothing changed.
  private func pull() async throws(RedisFailure) -> CacheDocument? {
    let answer = try await client.perform([RedisCommand("MGET", keys.counter, keys.removal)])
    let counts = answer.replies[0].elements?.map { $0.number ?? 0 } ?? []
    guard counts.count == 2 else { throw .malformed }
    let (before, isSameConnection) = state.withLock { ($0.counter, $0.connection == answer.connection) }
    if isSameConnection, counts[0] == before { return nil }
    let isWhole = !isSameConnection || counts[0] < before || counts[1] > before
    let listing = try await self.listing(after: isWhole ? nil : before)
    var cache = state.withLock { $0.cache }
    let changed = listing.filter { cache.version(of: $0.key) < $0.value }.keys.sorted()
    var isDifferent = try await read(changed, into: &cache)
    if isWhole {
      for name in cache.names where listing[name] == nil && cache.version(of: name) <= counts[0] {
        cache.remove(name)
        isDifferent = true
      }
    }
    if counts[0] < before { try await restore(&cache, after: counts[0], held: listing) }
    state.withLock { [cache] state in
      state.cache = cache
      state.counter = counts[0]
      state.highest = max(state.highest, counts[0])
      state.connection = answer.connection
    }
    return isDifferent ? cache.document : nil
  }

  /// The shards and their versions: all, or those of later writes.
  private func listing(after version: Int64?) async throws(RedisFailure) -> [String: Int64] {
    let reply = try await client.perform(
      RedisCommand("ZRANGEBYSCORE", keys.index, version.map { "(\($0)" } ?? "-inf", "+inf", "WITHSCORES"))
    guard let elements = reply.elements, elements.count % 2 == 0 else { throw .malformed }
    var listing: [String: Int64] = [:]
    for index in stride(from: 0, to: elements.count, by: 2) {
      guard let name = elements[index].string, let version = elements[index + 1].number else { throw .malformed }
      listing[name] = version
    }
    return listing
  }

  /// Reads shards; returns whether there were any.
  private func read(_ names: [String], into cache: inout ShardedCache) async throws(RedisFailure) -> Bool {
    for start in stride(from: 0, to: names.count, by: Self.readBatch) {
      let batch = names[start..<min(start + Self.readBatch, names.count)]
      let replies = try await client.perform(
        batch.map { RedisCommand("HMGET", keys.shard($0), "version", "entries") }
      ).replies
      for (name, reply) in zip(batch, replies) {
        guard let fields = reply.elements, fields.count == 2 else { throw .malformed }
        guard case .text(let text) = fields[1], let version = fields[0].number else {
          // Removed since it was listed.
          cache.remove(name)
          continue
        }
        do throws(CacheDocumentError) {
          try cache.take(name, version: version, text: text)
        } catch {
          throw .damaged(shard: name, error)
        }
      }
    }
    return !names.isEmpty
  }

  /// Restores data that a server has lost, as its counter shows: it was restarted without its data, or a replica that
  /// was behind took over. Other processes may be faster.
  private func restore(
    _ cache: inout ShardedCache, after version: Int64, held: [String: Int64]
  ) async throws(RedisFailure) {
    let floor = state.withLock { $0.highest } + Self.restoreGap
    for write in cache.restoring(after: version, held: held) {
      // One at a time: a process that was faster with one shard need not have been with the next. That one is read with
      // the next look.
      let version = try await send([write], floor: floor)
      cache.settle([write], version: version)
    }
  }

  // MARK: Writing

  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement? {
    let (cache, floor) = state.withLock { ($0.cache, $0.highest) }
    let (writes, document) = cache.writes(for: change)
    var version: Int64 = 0
    if !writes.isEmpty {
      do throws(RedisFailure) {
        version = try await send(writes, floor: floor)
      } catch {
        throw .server(error)
      }
      guard version > 0 else { return nil }
    }
    // The counter stays: others may have written between the look and this.
    state.withLock { [version] in $0.cache.commit(writes, document, version: version) }
    return CacheReplacement(document: document, bytes: writes.reduce(0) { $0 + $1.text.count })
  }

  /// Sends writes; returns the new version, or 0 if another process was faster.
  private func send(_ writes: [ShardWrite], floor: Int64) async throws(RedisFailure) -> Int64 {
    let arguments =
      [Array("\(floor)".utf8)]
      + writes.flatMap { [Array($0.name.utf8), Array("\($0.expected)".utf8), $0.text] }
    let reply = try await client.perform(
      .script(
        RedisCommand.write,
        keys: [keys.counter, keys.removal, keys.index] + writes.map { keys.shard($0.name) }, arguments: arguments))
    guard let version = reply.number else { throw .malformed }
    state.withLock { $0.highest = max($0.highest, version) }
    return version
  }

  // MARK: Leases

  /// Shards have versions, which the server compares.
  func lock() async throws(CacheStoreError) -> CacheLease? { nil }

  /// Takes a lease that no other process waits for and releases it.
  func tryLock() async throws(CacheStoreError) {
    let holder = String(surroundings.random(), radix: 16)
    let name = keys.lease("trial \(holder)")
    do throws(RedisFailure) {
      _ = try await client.perform(RedisCommand("SET", name, holder, "NX", "PX", leaseMilliseconds))
      _ = try await client.perform(.script(RedisCommand.release, keys: [name], arguments: [Array(holder.utf8)]))
    } catch {
      throw .server(error)
    }
  }

  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? {
    let name = keys.lease(key)
    // Only its holder knows the value, so that no other can renew or release the lease.
    let holder = String(surroundings.random(), radix: 16) + String(surroundings.random(), radix: 16)
    guard await take(name, holder, within: limit) else { return nil }
    let renewal = Task { await renew(name, holder) }
    return CacheLease { [self] in
      renewal.cancel()
      await perform(RedisCommand.release, name, [holder])
    }
  }

  /// True if the lease was taken. False also if the server is away.
  private func take(_ name: String, _ holder: String, within limit: TimeSpan) async -> Bool {
    let end = surroundings.now() + limit
    var pause = 20.0
    while true {
      do throws(RedisFailure) {
        let reply = try await client.perform(
          RedisCommand("SET", name, holder, "NX", "PX", leaseMilliseconds))
        if reply == .text(Array("OK".utf8)) { return true }
      } catch {
        return false
      }
      guard surroundings.now() < end else { return false }
      await surroundings.sleep(.milliseconds(pause * (0.75 + surroundings.fraction() / 2)))
      if Task.isCancelled { return false }
      pause = min(pause * 1.5, 150)
    }
  }

  private func renew(_ name: String, _ holder: String) async {
    while true {
      await (timing.leasePause ?? surroundings.sleep)(Self.renewPause)
      guard !Task.isCancelled else { return }
      await perform(RedisCommand.renew, name, [holder, leaseMilliseconds])
    }
  }

  /// A lease that cannot be renewed or released ends by itself.
  private func perform(_ script: String, _ name: String, _ arguments: [String]) async {
    do throws(RedisFailure) {
      _ = try await client.perform(.script(script, keys: [name], arguments: arguments.map { Array($0.utf8) }))
    } catch {}
  }
}
