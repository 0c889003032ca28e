internal import Bytes
internal import Platform
internal import Tokens

/// A cache on a Redis server, divided into shards that have versions.
///
/// Changes are polled: the counter often, a shard when it changed, all names after a new connection. The server does
/// not push them: an ACL user has no channels unless an operator adds them, a half-open connection shows at the next
/// poll, and no change can be missed.
final class RedisBackend: CacheBackend {
  private struct State {
    /// The server's contents, as last seen.
    var cache = ShardedCache()
    /// The counters at the last complete reading, by cell.
    var counters: [Int64]
    /// The highest version ever seen here.
    var highest: Int64 = 0
    /// The connection of that reading; 0: none.
    var connection: UInt64 = 0
    var unconfirmed = UnconfirmedWrites()
    /// The shards that are not encrypted, or with a former key, as found by the first reading.
    var outdated: Set<String> = []
  }

  /// Shards read in one go.
  private static let readBatch = 100
  /// Versions are this much apart at most, by chance: two servers that both take writes during a partition give one
  /// version to two texts hardly ever.
  private static let step: UInt64 = 1 << 16
  /// Versions left out when a server's counter is restored: those that other replicas may have seen and this one not.
  private static let restoreGap: Int64 = 1000 << 16
  /// Milliseconds for which the version of a process's last write is kept.
  private static let markLife = "86400000"

  let isProxiesOwn = true
  var retryPause: Duration { timing.look }
  private let client: any RedisTransport
  private let keys: RedisKeys
  private let leases: RedisLeases
  private let replicas = Locked(ReplicaWait())
  private let timing: RedisTiming
  private let seal: CacheSeal
  private let surroundings: StoreSurroundings
  /// The name of this process among those that write.
  private let process: String
  private let state: Locked<State>

  init(
    _ transport: any RedisTransport, prefix: String, seal: CacheSeal, timing: RedisTiming,
    surroundings: StoreSurroundings
  ) {
    client = transport
    self.seal = seal
    keys = RedisKeys(prefix: prefix, cells: transport.cells)
    leases = RedisLeases(
      client: transport, keys: keys, timing: timing, surroundings: surroundings, replicas: replicas)
    (self.timing, self.surroundings) = (timing, surroundings)
    process = transport.isReplicated ? String(surroundings.random(), radix: 16) : ""
    state = Locked(State(counters: [Int64](repeating: 0, count: transport.cells)))
  }

  var isPaused: Bool { client.pausing != nil }

  func watch(_ look: @escaping @Sendable () async -> Bool) {
    Task { [sleep = surroundings.sleep, pause = timing.look] in
      repeat { await sleep(pause) } while await look()
    }
  }

  func text(_ name: SharedTextName) -> any SharedText {
    let key = keys.text(name)
    return SealedText(
      text: RedisText(client: client, key: key, lifetime: name.lifetime, sleep: surroundings.sleep), seal: seal,
      place: key)
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
    if state.withLock({ !$0.outdated.isEmpty && $0.connection > 0 }) { try await encryptAgain() }
    let answer = try await client.perform(
      (0..<keys.cells).map { RedisCommand("MGET", keys.counter($0), keys.removal($0)).about($0) })
    var (cache, counters, isSameConnection) = state.withLock {
      ($0.cache, $0.counters, $0.connection == answer.connection)
    }
    // Once for all cells.
    let names = isSameConnection ? [:] : Dictionary(grouping: cache.names, by: keys.cell)
    var isDifferent = false
    for (cell, reply) in answer.replies.enumerated() {
      guard let elements = reply.elements, elements.count == 2 else { throw .malformed }
      let counts = [
        try Self.version(elements[0], at: keys.counter(cell)), try Self.version(elements[1], at: keys.removal(cell)),
      ]
      if isSameConnection, counts[0] == counters[cell] { continue }
      let isWhole = !isSameConnection || counts[0] < counters[cell] || counts[1] > counters[cell]
      let known = isWhole ? names[cell] ?? cache.names.filter { keys.cell(of: $0) == cell } : []
      let isCellDifferent = try await pull(cell, since: counters[cell], known: isWhole ? known : nil, into: &cache)
      isDifferent = isDifferent || isCellDifferent
      counters[cell] = counts[0]
    }
    let mayHaveLost = state.withLock { [cache, counters] state in
      state.cache = cache
      state.counters = counters
      state.highest = max(state.highest, counters.max() ?? 0)
      state.connection = answer.connection
      return !isSameConnection && !state.unconfirmed.isEmpty
    }
    if mayHaveLost, try await repeatLostWrites() { isDifferent = true }
    return isDifferent ? state.withLock { $0.cache.document } : nil
  }

  /// Updates the shards of a cell; returns true if any changed.
  /// - Parameter known: the cell's known shards, if all are to be compared; nil for those of later writes.
  private func pull(
    _ cell: Int, since before: Int64, known: [String]?, into cache: inout ShardedCache
  ) async throws(RedisFailure) -> Bool {
    let (listing, removal) = try await self.listing(cell, after: known == nil ? before : nil)
    // The server has an older version, or none although nothing was removed since: it has lost writes. They are
    // restored below, from whichever process has seen them.
    let lost = Set(
      (known ?? []).filter { [cache] name in
        let version = cache.version(of: name)
        return listing[name].map { $0 < version } ?? (version > removal)
      })
    let changed = listing.filter { name, version in cache.version(of: name) < version }
    var isDifferent = try await read(changed.keys.sorted(), into: &cache)
    for name in known ?? [] where listing[name] == nil && !lost.contains(name) {
      cache.remove(name)
      isDifferent = true
    }
    if !lost.isEmpty { try await restore(lost.sorted(), into: &cache, cell, held: listing) }
    return isDifferent || !lost.isEmpty
  }

  /// The shards of a cell and their versions, all or those of later writes, and the counter at the last removal.
  private func listing(
    _ cell: Int, after version: Int64?
  ) async throws(RedisFailure) -> (listing: [String: Int64], removal: Int64) {
    let replies = try await client.perform([
      RedisCommand("ZRANGEBYSCORE", keys.index(cell), version.map { "(\($0)" } ?? "-inf", "+inf", "WITHSCORES")
        .about(cell),
      // Second: a shard that is removed meanwhile is in the list, or the removal is known.
      RedisCommand("GET", keys.removal(cell)).about(cell),
    ]).replies
    guard let elements = replies[0].elements, elements.count % 2 == 0 else { throw .malformed }
    var listing: [String: Int64] = [:]
    for index in stride(from: 0, to: elements.count, by: 2) {
      guard let name = elements[index].string else { throw .malformed }
      listing[name] = try Self.version(elements[index + 1], at: keys.index(cell))
    }
    return (listing, replies[1].number ?? 0)
  }

  /// A version at a key; 0 if there is none. Lua counts in doubles, so a larger number is another program's.
  private static func version(_ reply: RedisReply, at key: String) throws(RedisFailure) -> Int64 {
    let version = reply.number ?? 0
    guard (0..<(1 << 53)).contains(version) else { throw .notVersion(key: key) }
    return version
  }

  /// Reads shards; returns true if there were any.
  private func read(_ names: [String], into cache: inout ShardedCache) async throws(RedisFailure) -> Bool {
    try await texts(names) { name, version, text throws(CacheDocumentError) in
      if let text { try cache.take(name, version: version, text: text) } else { cache.remove(name) }
    }
    return !names.isEmpty
  }

  /// Calls `take` with the version and text of each shard; without a text if it was removed since it was listed.
  private func texts(
    _ names: [String], _ take: (String, Int64, [UInt8]?) throws(CacheDocumentError) -> Void
  ) async throws(RedisFailure) {
    for start in stride(from: 0, to: names.count, by: Self.readBatch) {
      let batch = names[start..<min(start + Self.readBatch, names.count)]
      let replies = try await client.perform(
        batch.map { RedisCommand("HMGET", keys.shard($0), "version", "entries").about(keys.cell(of: $0)) }
      ).replies
      for (name, reply) in zip(batch, replies) {
        guard let fields = reply.elements, fields.count == 2 else { throw .malformed }
        var text: [UInt8]?
        if case .text(let form) = fields[1] { text = try open(form, of: name) }
        let version = try Self.version(fields[0], at: keys.shard(name))
        do throws(CacheDocumentError) {
          try take(name, version, fields[0].number == nil ? nil : text)
        } catch {
          throw .damaged(shard: name, error)
        }
      }
    }
  }

  private func open(_ form: [UInt8], of name: String) throws(RedisFailure) -> [UInt8] {
    do throws(CacheSealError) {
      let opened = try seal.open(form, at: keys.shard(name))
      if opened.isCurrent { return opened.text }
      let isTaken = state.withLock { state in
        // A shard that this process knows as encrypted must stay so. One of a former key that comes later is left: a
        // process that still writes with that key would change it back.
        let isNew = state.cache.version(of: name) == 0
        if state.connection == 0 || isNew && !opened.isSealed { state.outdated.insert(name) }
        return opened.isSealed || isNew || state.outdated.contains(name)
      }
      if !isTaken { throw .plain }
      return opened.text
    } catch {
      throw .sealed(shard: name, error)
    }
  }

  /// Writes some of those shards again.
  private func encryptAgain() async throws(RedisFailure) {
    let (names, cache, highest) = state.withLock { state in
      let names = Array(state.outdated.prefix(Self.readBatch))
      state.outdated.subtract(names)
      return (names, state.cache, state.highest)
    }
    for name in names where cache.version(of: name) > 0 {
      let write = cache.restoring(name, held: cache.version(of: name))
      let (version, _) = try await send([write], keys.cell(of: name), floor: highest)
      // If another process was faster, it has written it.
      if version > 0 { state.withLock { $0.cache.settle([write], version: version) } }
    }
  }

  /// Restores shards that a server has lost: it was restarted without its data, or a replica that was behind took over.
  /// Entries that were written there meanwhile stay, unless ours are newer. Other processes may be faster.
  private func restore(
    _ names: [String], into cache: inout ShardedCache, _ cell: Int, held: [String: Int64]
  ) async throws(RedisFailure) {
    try await texts(names.filter { held[$0] != nil }) { name, _, text throws(CacheDocumentError) in
      if let text { try cache.merge(name, text: text) }
    }
    let floor = state.withLock { $0.highest } + Self.restoreGap
    for name in names {
      // One at a time: a process that was faster with one shard need not have been with the next. That one is read with
      // the next look.
      let write = cache.restoring(name, held: held[name] ?? 0)
      let (version, _) = try await send([write], cell, floor: floor)
      cache.settle([write], version: version)
    }
  }

  // MARK: Writing

  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement? {
    do throws(RedisFailure) {
      return try await write(change, in: nil)
    } catch {
      throw .server(error)
    }
  }

  /// Writes the result of a change, in these cells only; nil is all. Returns nil if another process was faster.
  private func write(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void, in cells: Set<Int>?
  ) async throws(RedisFailure) -> CacheReplacement? {
    let (cache, highest) = state.withLock { ($0.cache, $0.highest) }
    let (writes, document) = cache.writes(for: change) { [keys] in cells?.contains(keys.cell(of: $0)) ?? true }
    let parts = Dictionary(grouping: writes) { keys.cell(of: $0.name) }
    var (versions, unconfirmed): ([Int: Int64], [Int: Int64]) = ([:], [:])
    let now = surroundings.now()
    do throws(RedisFailure) {
      for (cell, writes) in parts.sorted(by: { $0.key < $1.key }) {
        let (version, isConfirmed) = try await send(writes, cell, floor: highest)
        // What is written of other cells is read again with the next look, and the change is made on it once more.
        guard version > 0 else {
          state.withLock { [unconfirmed] in $0.unconfirmed.add(change, unconfirmed, at: now) }
          return nil
        }
        versions[cell] = version
        if !isConfirmed { unconfirmed[cell] = version }
      }
    } catch {
      state.withLock { [unconfirmed] in $0.unconfirmed.add(change, unconfirmed, at: now) }
      throw error
    }
    // The counters stay: others may have written between the look and this.
    state.withLock { [versions, unconfirmed] state in
      for (cell, version) in versions {
        state.cache.settle(parts[cell] ?? [], version: version)
        if unconfirmed[cell] == nil { state.unconfirmed.confirm(cell, upTo: version) }
      }
      state.cache.commit(document)
      state.unconfirmed.add(change, unconfirmed, at: now)
    }
    return CacheReplacement(document: document, bytes: parts.values.joined().reduce(0) { $0 + $1.text.count })
  }

  /// Sends writes of a cell; returns the new version, or 0 if another process was faster, and true if a replica has
  /// them or there are none.
  private func send(
    _ writes: [ShardWrite], _ cell: Int, floor: Int64
  ) async throws(RedisFailure) -> (version: Int64, isConfirmed: Bool) {
    let step = Int64(surroundings.random() % Self.step)
    var arguments = [Array("\(floor + step)".utf8)]
    for write in writes {
      do throws(CacheSealError) {
        let form = try seal.seal(write.text, at: keys.shard(write.name))
        arguments += [Array(write.name.utf8), Array("\(write.expected)".utf8), form]
      } catch {
        throw .sealed(shard: write.name, error)
      }
    }
    let write = RedisCommand.script(
      RedisCommand.write,
      keys: [keys.counter(cell), keys.removal(cell), keys.index(cell)] + writes.map { keys.shard($0.name) },
      arguments: arguments
    ).about(cell)
    let reply = try await client.perform(write)
    guard reply.number != nil else { throw .malformed }
    let version = try Self.version(reply, at: keys.counter(cell))
    state.withLock { $0.highest = max($0.highest, version) }
    guard client.isReplicated, version > 0 else { return (version, true) }
    let mark = RedisCommand("SET", keys.mark(process, cell), "\(version)", "PX", Self.markLife).about(cell)
    do throws(RedisFailure) {
      _ = try await client.perform(mark)
      return (version, try await replicas.run(on: client, cell, surroundings.now))
    } catch {
      // It is written, and whether a replica has it is not known.
      return (version, false)
    }
  }

  /// Makes unconfirmed changes again that the server does not have; returns true if there were any.
  private func repeatLostWrites() async throws(RedisFailure) -> Bool {
    for cell in state.withLock({ $0.unconfirmed.cells }) {
      let mark = try await client.perform(RedisCommand("GET", keys.mark(process, cell)).about(cell)).number ?? 0
      state.withLock { $0.unconfirmed.confirm(cell, upTo: mark) }
    }
    let now = surroundings.now()
    // The write lists them anew.
    let lost = state.withLock { state in
      state.unconfirmed.forgetOld(at: now)
      defer { state.unconfirmed = UnconfirmedWrites() }
      return state.unconfirmed
    }
    if lost.isEmpty { return false }
    do throws(RedisFailure) {
      if try await write(lost.change, in: lost.cells) != nil { return true }
    } catch {
      state.withLock { $0.unconfirmed = lost }
      throw error
    }
    // Another process was faster; the next look tries again.
    state.withLock { state in (state.unconfirmed, state.connection) = (lost, 0) }
    return true
  }

  // MARK: Locks

  /// Shards have versions, which the server compares.
  func lock() async throws(CacheStoreError) -> CacheLease? { nil }

  func tryLock() async throws(CacheStoreError) {
    do throws(RedisFailure) { try await leases.tryOne() } catch { throw .server(error) }
  }

  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? { await leases.take(key, within: limit) }
}
