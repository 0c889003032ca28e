internal import Bytes
internal import Platform
internal import Tokens

/// A cache on a Redis server, divided into shards that have versions.
///
/// Changes are polled: the counter often, a shard when it changed, all names after a new connection. The server does
/// not push them: an ACL user has no channels unless an operator adds them, a half-open connection shows at the next
/// poll, and no change can be missed.
final class RedisBackend: CacheBackend {
  struct State {
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
    /// True if the server has more shards than a process holds, and only some of them are held.
    var isLarge = false
    var wanted = WantedShards()
    /// True if something was read that readers cannot see yet.
    var isUnserved = false
  }

  /// Shards read in one go.
  static let readBatch = 100
  /// Versions grow by chance, up to this: both sides of a partition hardly ever give one version to two texts.
  static let step: UInt64 = 1 << 16
  /// Versions left out when a server's counter is restored: those that other replicas may have seen and this one not.
  static let restoreGap: Int64 = 1000 << 16
  /// Milliseconds for which the version of a process's last write is kept.
  static let markLife = "86400000"

  let isProxiesOwn = true
  var retryPause: Duration { timing.look }
  let client: any RedisTransport
  let keys: RedisKeys
  private let leases: RedisLeases
  let replicas = Locked(ReplicaWait())
  private let timing: RedisTiming
  let seal: CacheSeal
  let surroundings: StoreSurroundings
  /// The name of this process among those that write.
  let process: String
  let state: Locked<State>
  /// The number of shards of which all are held.
  let holdLimit: Int

  init(
    _ transport: any RedisTransport, prefix: String, seal: CacheSeal, timing: RedisTiming,
    surroundings: StoreSurroundings, holdLimit: Int
  ) {
    client = transport
    self.holdLimit = holdLimit
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

  func read(mayForget: Bool) async throws(CacheStoreError) -> CacheDocument? {
    try await mapping(CacheStoreError.server, awaiting: await pull(mayForget: mayForget))
  }

  /// Updates the known shards from the server; nil if nothing changed.
  private func pull(mayForget: Bool) async throws(RedisFailure) -> CacheDocument? {
    if state.withLock({ !$0.outdated.isEmpty && $0.connection > 0 }) { try await encryptAgain() }
    let answer = try await client.perform(
      (0..<keys.cells).map {
        RedisCommand("MGET", keys.counter($0), keys.removal($0), keys.numbering($0)).about($0)
      })
    var (cache, counters, isLarge) = state.withLock { ($0.cache, $0.counters, $0.isLarge) }
    let connection = state.withLock { $0.connection }
    let (isFirst, isSameConnection) = (connection == 0, connection == answer.connection)
    if !isSameConnection { isLarge = try await hasMore(than: holdLimit) }
    var wanted: Set<String>?
    // Once for all cells.
    let names = isSameConnection ? [:] : Dictionary(grouping: cache.names, by: keys.cell)
    var changed: [Int] = []
    var unnumbered: [Int] = []
    var isDifferent = false
    for (cell, reply) in answer.replies.enumerated() {
      guard let elements = reply.elements, elements.count == 3 else { throw .malformed }
      let counts = [
        try Self.version(elements[0], at: keys.counter(cell)), try Self.version(elements[1], at: keys.removal(cell)),
      ]
      if counts[0] > 0, !isNumbered(elements[2].string, isFirst: isFirst) { unnumbered.append(cell) }
      if isSameConnection, counts[0] == counters[cell] { continue }
      changed.append(cell)
      if isLarge, wanted == nil { wanted = state.withLock { $0.wanted.names } }
      let isWhole = !isSameConnection || counts[0] < counters[cell] || counts[1] > counters[cell]
      let known = isWhole ? names[cell] ?? cache.names.filter { keys.cell(of: $0) == cell } : []
      let isCellDifferent = try await pull(
        cell, since: counters[cell], known: isWhole ? known : nil, wanted: wanted, into: &cache)
      isDifferent = isDifferent || isCellDifferent
      counters[cell] = counts[0]
    }
    isLarge = isLarge || cache.count > holdLimit
    if isLarge {
      for cell in unnumbered { try await number(cell, upTo: counters[cell]) }
      if try await readWanted(changed: changed, mayForget: mayForget, into: &cache) {
        isDifferent = true
      }
    }
    let mayHaveLost = state.withLock { [cache, counters, isLarge, isDifferent, unnumbered] state in
      state.cache = cache
      state.counters = counters
      state.highest = max(state.highest, counters.max() ?? 0)
      // After numbering, nearly all shards are later ones: the next look compares those that are held.
      state.connection = isLarge && !unnumbered.isEmpty ? 0 : answer.connection
      state.isLarge = isLarge
      state.isUnserved = state.isUnserved || isDifferent
      return !isSameConnection && !state.unconfirmed.isEmpty
    }
    let isRepeated = mayHaveLost ? try await repeatLostWrites() : false
    return state.withLock { $0.isUnserved || isRepeated ? $0.cache.document : nil }
  }

  /// Updates the shards of a cell; returns true if any changed.
  /// - Parameters:
  ///   - known: the cell's known shards, if all are to be compared; nil for those of later writes.
  ///   - wanted: the names of other shards to take; nil is all.
  private func pull(
    _ cell: Int, since before: Int64, known: [String]?, wanted: Set<String>?, into cache: inout ShardedCache
  ) async throws(RedisFailure) -> Bool {
    var listing: [String: Int64]
    if let known, let wanted {
      listing = try await versions(of: wanted.filter { keys.cell(of: $0) == cell }.union(known).sorted(), cell)
    } else {
      listing = try await self.listing(cell, after: known == nil ? before : nil)
    }
    if let wanted {
      listing = listing.filter { [cache] name, _ in wanted.contains(name) || cache.version(of: name) > 0 }
    }
    // After the listing: a shard that is removed meanwhile is in the list, or the removal is known.
    let removal = try await client.perform(RedisCommand("GET", keys.removal(cell)).about(cell)).number ?? 0
    // The server has an older version, or none although nothing was removed since: it has lost writes. They are
    // restored below, from whichever process has seen them.
    let lost = Set(
      (known ?? []).filter { [cache, listing] name in
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

  /// The shards of a cell and their versions: all, or those of later writes.
  private func listing(_ cell: Int, after version: Int64?) async throws(RedisFailure) -> [String: Int64] {
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.index(cell), version.map { "(\($0)" } ?? "-inf", "+inf", "WITHSCORES"
    ).about(cell)
    let listed = try Self.listed(try await client.perform(command), at: keys.index(cell))
    return Dictionary(listed.map { ($0.name, $0.version) }) { $1 }
  }

  /// The members of an index, in its order.
  static func listed(_ reply: RedisReply, at key: String) throws(RedisFailure) -> [(name: String, version: Int64)] {
    guard let elements = reply.elements, elements.count % 2 == 0 else { throw .malformed }
    var listed: [(name: String, version: Int64)] = []
    for index in stride(from: 0, to: elements.count, by: 2) {
      guard let name = elements[index].string else { throw .malformed }
      listed.append((name, try version(elements[index + 1], at: key)))
    }
    return listed
  }

  /// A version at a key; 0 if there is none. Lua counts in doubles, so a larger number is another program's.
  static func version(_ reply: RedisReply, at key: String) throws(RedisFailure) -> Int64 {
    let version = reply.number ?? 0
    guard (0..<(1 << 53)).contains(version) else { throw .notVersion(key: key) }
    return version
  }

  /// Reads shards; returns true if there were any.
  func read(_ names: [String], into cache: inout ShardedCache) async throws(RedisFailure) -> Bool {
    try await texts(names) { name, version, text throws(CacheDocumentError) in
      if let text { try cache.take(name, version: version, text: text) } else { cache.remove(name) }
    }
    return !names.isEmpty
  }

  /// Calls `take` with the version and text of each shard; without a text if it was removed since it was listed.
  func texts(
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
        try mapping(
          { RedisFailure.damaged(shard: name, $0) },
          take(name, version, fields[0].number == nil ? nil : text))
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

  // MARK: Locks

  /// Shards have versions, which the server compares.
  func lock() async throws(CacheStoreError) -> CacheLease? { nil }

  func tryLock() async throws(CacheStoreError) {
    try await mapping(CacheStoreError.server, awaiting: await leases.tryOne())
  }

  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? { await leases.take(key, within: limit) }
}
