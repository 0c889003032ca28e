// Owns how what the server holds is read: the counter often, a shard when it changed, all names after a new connection. Asked, not pushed:
// a user of an ACL has no channels unless somebody thinks of them, a half-open connection shows at the next question, and nothing can be
// missed.

internal import Network
internal import Tokens

extension RedisCacheStore {
  /// Shards read in one go.
  private static let readBatch = 100
  /// Versions left out when a server is counted up again: those that other replicas may have seen and this one not.
  private static let restoreGap: Int64 = 1000

  /// Looks at the server, once for all who ask before that has begun. The reason it could not be read is returned, and reported.
  func reread() async -> RedisFailure? {
    let look = state.withLock { state in
      if let look = state.look { return look }
      let look = Task { [self] in
        await turns.run { [self] in
          // Who asks from now on may know of something newer.
          self.state.withLock { $0.look = nil }
          return await lookNow()
        }
      }
      state.look = look
      return look
    }
    return await look.value
  }

  private func lookNow() async -> RedisFailure? {
    do throws(RedisFailure) {
      try await pull()
      recovered()
      return nil
    } catch {
      report(error)
      return error
    }
  }

  /// In turn: brings what is known up to what the server holds.
  func pull() async throws(RedisFailure) {
    do throws(RedisFailure) {
      try await pullNews()
      state.withLock { $0.readTrouble = nil }
    } catch {
      state.withLock { $0.readTrouble = error }
      throw error
    }
  }

  private func pullNews() async throws(RedisFailure) {
    let began = MonotonicTime.now
    let answer = try await client.perform([RedisCommand("MGET", keys.counter, keys.removal)])
    let counts = answer.replies[0].elements?.map { $0.number ?? 0 } ?? []
    guard counts.count == 2 else { throw .malformed }
    let (before, isSameConnection) = state.withLock { ($0.counter, $0.connection == answer.connection) }
    if isSameConnection, counts[0] == before { return }
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
      guard isDifferent else { return }
      serve(&state)
    }
    if isDifferent { observe(.read(duration: Duration(MonotonicTime.now - began))) }
  }

  /// Has the present state served.
  func serve(_ state: inout State) {
    state.document = state.cache.document
    for change in state.unwritten { change(&state.document) }
    state.listeners.tell()
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

  /// Reads shards; whether there were any.
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

  /// A server that has not counted as far as we have seen it count has lost something: restarted without its data, or a replica that was
  /// behind took over. What it lost is put back, unless somebody else was faster.
  private func restore(
    _ cache: inout ShardedCache, after version: Int64, held: [String: Int64]
  ) async throws(RedisFailure) {
    let floor = state.withLock { $0.highest } + Self.restoreGap
    for write in cache.restoring(after: version, held: held) {
      // One at a time: who was faster with one shard need not have been with the next. That one is read with the next look.
      let version = try await send([write], floor: floor)
      cache.settle([write], version: version)
    }
  }

  /// Has the server write; the new version, or 0 where somebody else was faster.
  func send(_ writes: [ShardWrite], floor: Int64) async throws(RedisFailure) -> Int64 {
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

  /// Says what is wrong, once for each attempt.
  func report(_ error: RedisFailure) {
    let (kept, isNews) = state.withLock { state in
      defer { state.trouble = error }
      return (state.unwritten.count, state.trouble?.reason != error.reason)
    }
    observe(.failed(.server(error), kept: kept, isNews: isNews))
  }

  /// The server answers. What it does not have yet is written first.
  private func recovered() {
    let (hadTrouble, isAllWritten) = state.withLock { state in
      let hadTrouble = state.trouble != nil
      if state.unwritten.isEmpty { state.trouble = nil }
      return (hadTrouble, state.unwritten.isEmpty)
    }
    if !isAllWritten { startWriting() } else if hadTrouble { observe(.recovered) }
  }
}
