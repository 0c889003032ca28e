internal import Bytes

/// The shards that a process holds of a cache too large to hold all: those that it was asked for, and those that it
/// writes. What was not asked for lately is forgotten.
struct WantedShards: Sendable {
  enum Wish: Sendable, Hashable {
    case interest(CacheInterest)
    case shard(String)
  }

  /// Wishes that are kept. Each costs a command for every look at a server that has changed.
  static let limit = 10_000

  /// The names of the shards that may fulfil each; nil: not looked up yet.
  private var wishes = RecencyMap<Wish, Set<String>?>(limit: limit)
  /// Those that were looked up, and whose shards no reader can see yet.
  private var unserved: Set<Wish> = []

  /// True if readers see what an interest is about. It is remembered.
  mutating func knows(_ interest: CacheInterest) -> Bool {
    if let names = wishes.use(.interest(interest)) { return names != nil && !unserved.contains(.interest(interest)) }
    wishes.keep(nil, for: .interest(interest))
    return false
  }

  mutating func want(_ shard: String) { wishes.keep(nil, for: .shard(shard)) }

  /// The wishes to look up, all or the new ones, with what was found before.
  func open(all: Bool) -> [(wish: Wish, names: Set<String>?)] {
    wishes.elements.filter { all || $0.value == nil }.map { ($0.key, $0.value) }
  }

  /// - Parameter isNew: true if it was not looked up before.
  mutating func fulfil(_ wish: Wish, with names: Set<String>, isNew: Bool) {
    wishes.replace(names, for: wish)
    if isNew { unserved.insert(wish) }
  }

  /// Records that readers see everything that was looked up.
  mutating func serve() { unserved = [] }

  /// The names of all of them, of which some may not exist.
  var names: Set<String> { Set(wishes.elements.compactMap(\.value).joined()) }
}

/// A place in the index of a cell, which is sorted by the write that made each shard.
struct IndexPlace: Sendable {
  /// The version to continue at; nil is the lowest.
  private(set) var version: Int64?
  /// The shards of that version that were taken.
  private(set) var taken: Set<String> = []

  /// Moves behind shards that follow in the index, and returns those that were not taken before.
  mutating func move(behind listed: [(name: String, version: Int64)]) -> [(name: String, version: Int64)] {
    let new = listed.filter { $0.version != version || !taken.contains($0.name) }
    guard let last = new.last?.version else { return [] }
    let names = new.filter { $0.version == last }.map(\.name)
    taken = last == version ? taken.union(names) : Set(names)
    version = last
    return new
  }
}
