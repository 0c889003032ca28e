// A cache with more people than a process holds: the shards that are asked for, found by names, and all in pages.

internal import Bytes
internal import Platform
internal import Tokens

extension RedisBackend {
  /// People found by one name.
  private static let foundLimit = 100
  private var pageSize: Int { min(500, max(holdLimit, 1)) }

  var isComplete: Bool { state.withLock { !$0.isLarge } }

  func lacks(_ interest: CacheInterest) -> Bool {
    // Also if all are held: they may become too many.
    state.withLock { state in !state.wanted.knows(interest) && state.isLarge }
  }

  func serve() {
    state.withLock { state in
      state.isUnserved = false
      state.wanted.serve()
    }
  }

  /// True if the server has more shards.
  func hasMore(than limit: Int) async throws(RedisFailure) -> Bool {
    let offset = "\(limit / keys.cells)"
    return try await client.perform(
      (0..<keys.cells).map {
        RedisCommand("ZRANGEBYSCORE", keys.index($0), "-inf", "+inf", "LIMIT", offset, "1").about($0)
      }
    ).replies.contains { $0.elements?.isEmpty == false }
  }

  /// The versions of shards that the server has.
  func versions(of names: [String], _ cell: Int) async throws(RedisFailure) -> [String: Int64] {
    var versions: [String: Int64] = [:]
    for start in stride(from: 0, to: names.count, by: 1000) {
      let batch = names[start..<min(start + 1000, names.count)]
      let replies = try await client.perform(
        batch.map { RedisCommand("HMGET", keys.shard($0), "version").about(cell) }
      ).replies
      for (name, reply) in zip(batch, replies) {
        if let field = reply.elements?.first, field != .null {
          versions[name] = try Self.version(field, at: keys.shard(name))
        }
      }
    }
    return versions
  }

  // MARK: What is asked for

  /// Reads the shards that callers have asked for, and forgets the others; returns true if that changed anything.
  /// - Parameter cells: the cells in which other people may have the names by now.
  func readWanted(
    changed cells: [Int], mayForget: Bool, into cache: inout ShardedCache
  ) async throws(RedisFailure) -> Bool {
    let open = state.withLock { $0.wanted.open(all: !cells.isEmpty) }
    // Shards that were found before have been read, or would be among those that changed.
    var found = zip(try await search(open, changed: cells), open).map { $0.subtracting($1.names ?? []) }
    var isDifferent = try await readMissing(Set(found.joined()), into: &cache)
    var others: Set<String> = []
    for (index, (wish, _)) in open.enumerated() {
      guard case .interest(let interest) = wish else { continue }
      // The other entries of these people.
      let homes = Set(found[index].flatMap { [cache] in cache.homes(in: $0) })
      found[index].formUnion(homes.flatMap { home in interest.hosts.map { CacheDocument.shard(of: home, at: $0) } })
      others.formUnion(found[index])
    }
    if try await readMissing(others, into: &cache) { isDifferent = true }
    let kept = state.withLock { [found] state in
      for (index, (wish, known)) in open.enumerated() {
        state.wanted.fulfil(wish, with: found[index].union(known ?? []), isNew: known == nil)
      }
      return mayForget && !cells.isEmpty && state.unconfirmed.isEmpty ? state.wanted.names : nil
    }
    guard let kept else { return isDifferent }
    for name in cache.names where !kept.contains(name) {
      cache.remove(name)
      isDifferent = true
    }
    return isDifferent
  }

  /// Reads shards that are not held; returns true if the server has one of them.
  private func readMissing(_ names: Set<String>, into cache: inout ShardedCache) async throws(RedisFailure) -> Bool {
    let missing = names.filter { [cache] in cache.version(of: $0) == 0 }.sorted()
    _ = try await read(missing, into: &cache)
    return missing.contains { [cache] in cache.version(of: $0) > 0 }
  }

  /// The names of shards that may be meant by each wish. Some may not exist.
  /// - Parameter cells: the cells to search for a wish that was looked up before; the others are searched everywhere.
  private func search(
    _ wishes: [(wish: WantedShards.Wish, names: Set<String>?)], changed cells: [Int]
  ) async throws(RedisFailure) -> [Set<String>] {
    var found = [Set<String>](repeating: [], count: wishes.count)
    var searches: [(wish: Int, command: RedisCommand)] = []
    var unnamed: [Int] = []
    for (index, (wish, known)) in wishes.enumerated() {
      guard case .interest(let interest) = wish else {
        if case .shard(let name) = wish { found[index] = [name] }
        continue
      }
      found[index] = [CacheDocument.shard(ofApplication: interest.clientID)]
      let name: SearchName
      switch interest.people {
      case .none: continue
      case .called(let text):
        name = .called(text)
        found[index].formUnion(interest.hosts.map { CacheDocument.shard(of: text, at: $0) })
      case .some:
        name = .user(of: interest.clientID)
        if known == nil { unnamed.append(index) }
      }
      for command in try commands(for: name, in: known == nil ? Array(0..<keys.cells) : cells) {
        searches.append((index, command))
      }
    }
    for start in stride(from: 0, to: searches.count, by: 1000) {
      let batch = searches[start..<min(start + 1000, searches.count)]
      for (search, reply) in zip(batch, try await client.perform(batch.map(\.command)).replies) {
        // A place begins with its number among the shard's names.
        let shards = (reply.elements ?? []).compactMap(\.string).compactMap { place in
          place.firstIndex(of: ":").map { String(place[place.index(after: $0)...]) }
        }
        found[search.wish].formUnion(shards)
      }
    }
    // If the application has tokens for no one, others may be meant.
    for index in unnamed where found[index].count == 1 { found[index].formUnion(try await someShards()) }
    return found
  }

  /// The commands that find people with a name.
  private func commands(for name: SearchName, in cells: [Int]) throws(RedisFailure) -> [RedisCommand] {
    let numbers = try mapping({ RedisFailure.sealed(shard: keys.people(0), $0) }, seal.numbers(of: name.text))
    return numbers.flatMap { number in
      cells.map { cell in
        RedisCommand(
          "ZRANGEBYSCORE", keys.people(cell), "\(number)", "\(number)", "LIMIT", "0", "\(Self.foundLimit)"
        ).about(cell)
      }
    }
  }

  private func someShards() async throws(RedisFailure) -> Set<String> {
    let replies = try await client.perform(
      (0..<keys.cells).map {
        RedisCommand("ZRANGEBYSCORE", keys.index($0), "-inf", "+inf", "LIMIT", "0", "\(Self.foundLimit)").about($0)
      }
    ).replies
    return Set(replies.flatMap { $0.elements ?? [] }.compactMap(\.string))
  }

  // MARK: All

  func pages(at hosts: [String], _ take: (CacheDocument) async -> Bool) async throws(CacheStoreError) {
    do throws(RedisFailure) {
      for cell in 0..<keys.cells {
        var place = IndexPlace()
        while true {
          let listed = try await page(cell, &place, pageSize)
          if listed.isEmpty { break }
          var page = ShardedCache()
          _ = try await readMissing(Set(listed.map(\.name)), into: &page)
          let homes = Set(page.names.flatMap { [page] in page.homes(in: $0) })
          let others = homes.flatMap { home in hosts.map { CacheDocument.shard(of: home, at: $0) } }
          _ = try await readMissing(Set(others), into: &page)
          if !(await take(page.document)) { return }
        }
      }
    } catch {
      throw .server(error)
    }
  }

  /// The next shards of a cell in the order of their writes; none at the end.
  private func page(
    _ cell: Int, _ place: inout IndexPlace, _ count: Int
  ) async throws(RedisFailure) -> [(name: String, version: Int64)] {
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.index(cell), place.version.map { "\($0)" } ?? "-inf", "+inf", "WITHSCORES", "LIMIT",
      "0", "\(place.taken.count + count)"
    ).about(cell)
    return place.move(behind: try Self.listed(try await client.perform(command), at: keys.index(cell)))
  }

  /// True if the shards of a cell have numbers by which this process finds them. At its first reading only the present
  /// key will do; later, processes with another order of the keys may run beside it.
  func isNumbered(_ key: String?, isFirst: Bool) -> Bool {
    key == seal.keyNames[0] || (!isFirst && key.map(seal.keyNames.contains) == true)
  }

  /// Writes the shards of a cell again, with the numbers of their names and the present key: an earlier version, or a
  /// process with another key, wrote them without. Once in a server's life, and once for a key.
  func number(_ cell: Int, upTo last: Int64) async throws(RedisFailure) {
    while true {
      // A shard that is written moves to the end.
      var start = IndexPlace()
      let listed = try await page(cell, &start, Self.readBatch)
      var page = ShardedCache()
      _ = try await readMissing(Set(listed.filter { $0.version <= last }.map(\.name)), into: &page)
      if page.count == 0 { break }
      let writes = page.names.sorted().map { page.restoring($0, held: page.version(of: $0)) }
      let floor = state.withLock { $0.highest }
      if try await send(writes, cell, floor: floor).version > 0 { continue }
      // A shard that another process has written meanwhile has its numbers.
      for write in writes { _ = try await send([write], cell, floor: floor) }
    }
    _ = try await client.perform(RedisCommand("SET", keys.numbering(cell), seal.keyNames[0]).about(cell))
  }
}
