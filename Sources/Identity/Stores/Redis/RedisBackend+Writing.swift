// Writes changed shards, each at the version that was read, and what a server has lost.

internal import Bytes
internal import Platform
internal import Tokens

extension RedisBackend {
  /// Writes some of those shards again.
  func encryptAgain() async throws(RedisFailure) {
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
  func restore(
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
    try await mapping(CacheStoreError.server, awaiting: await write(change, in: nil))
  }

  /// Writes the result of a change, in these cells only; nil is all. Returns nil if another process was faster.
  private func write(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void, in cells: Set<Int>?
  ) async throws(RedisFailure) -> CacheReplacement? {
    let (cache, highest) = state.withLock { ($0.cache, $0.highest) }
    let (writes, document) = cache.writes(for: change) { [keys] in cells?.contains(keys.cell(of: $0)) ?? true }
    let parts = Dictionary(grouping: writes) { keys.cell(of: $0.name) }
    // Shards that are there and not held show as a conflict.
    state.withLock { state in
      if state.isLarge { for write in writes where write.expected == 0 { state.wanted.want(write.name) } }
    }
    var (versions, unconfirmed): ([Int: Int64], [Int: Int64]) = ([:], [:])
    let now = surroundings.now()
    defer { state.withLock { [unconfirmed] in $0.unconfirmed.add(change, unconfirmed, at: now) } }
    for (cell, writes) in parts.sorted(by: { $0.key < $1.key }) {
      let (version, isConfirmed) = try await send(writes, cell, floor: highest)
      // The next look reads other cells that were written, and makes the change on them once more.
      guard version > 0 else { return nil }
      versions[cell] = version
      if !isConfirmed { unconfirmed[cell] = version }
    }
    // The counters stay: others may have written between the look and this.
    state.withLock { [versions, unconfirmed] state in
      for (cell, version) in versions {
        state.cache.settle(parts[cell] ?? [], version: version)
        if unconfirmed[cell] == nil { state.unconfirmed.confirm(cell, upTo: version) }
      }
      state.cache.commit(document)
    }
    return (document, parts.values.joined().reduce(0) { $0 + $1.text.count })
  }

  /// Sends writes of a cell; returns the new version, or 0 if another process was faster, and true if a replica has
  /// them or there are none.
  func send(
    _ writes: [ShardWrite], _ cell: Int, floor: Int64
  ) async throws(RedisFailure) -> (version: Int64, isConfirmed: Bool) {
    let step = Int64(surroundings.random() % Self.step)
    var arguments = [Array("\(floor + step)".utf8), Array(seal.keyNames[0].utf8)]
    for write in writes {
      do throws(CacheSealError) {
        let form = try seal.seal(write.text, at: keys.shard(write.name))
        var numbers: [String] = []
        for name in write.names.map(\.text).sorted() { numbers.append("\(try seal.numbers(of: name)[0])") }
        arguments += [
          Array(write.name.utf8), Array("\(write.expected)".utf8), form, Array(numbers.joined(separator: " ").utf8),
        ]
      } catch {
        throw .sealed(shard: write.name, error)
      }
    }
    let write = RedisCommand.script(
      RedisCommand.write,
      keys: [
        keys.counter(cell), keys.removal(cell), keys.index(cell), keys.people(cell), keys.numbering(cell),
      ] + writes.map { keys.shard($0.name) },
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
  func repeatLostWrites() async throws(RedisFailure) -> Bool {
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
}
