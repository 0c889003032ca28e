internal import Tokens

/// The names of the keys under one prefix. In a cluster they are divided into cells, each with a counter and an index
/// of its own: a hash tag keeps the keys of a cell on one node, and all entries of a person in one cell.
struct RedisKeys: Sendable {
  let prefix: String
  let cells: Int

  func cell(of shard: String) -> Int {
    // The person, or the application, without the host.
    cells == 1 ? 0 : Int((shard.split(separator: ":").last.map(String.init) ?? "").fnv1a % UInt64(cells))
  }

  private func start(_ cell: Int) -> String { cells == 1 ? prefix : "\(prefix){\(cell)}:" }

  /// The version of the last write.
  func counter(_ cell: Int) -> String { start(cell) + "version" }
  /// The version at the last write that removed a shard.
  func removal(_ cell: Int) -> String { start(cell) + "removed" }
  /// The names of the shards, sorted by the write that made them.
  func index(_ cell: Int) -> String { start(cell) + "index" }
  /// The names of people, as numbers that sort places of shards.
  func people(_ cell: Int) -> String { start(cell) + "people" }
  /// The key that made these numbers, if every shard of the cell has its numbers.
  func numbering(_ cell: Int) -> String { start(cell) + "numbering" }
  /// A shard: its version and its entries.
  func shard(_ name: String) -> String { start(cell(of: name)) + name }
  func text(_ name: SharedTextName) -> String { start(0) + name.rawValue }
  /// The version of the last write of one process, to find out if a server has lost it.
  func mark(_ process: String, _ cell: Int) -> String { start(cell) + "seen:" + process }

  func lease(_ key: String) -> (name: String, cell: Int) {
    let digest = key.fnv1a
    let cell = Int(digest % UInt64(cells))
    return (start(cell) + "lock:" + String(digest, radix: 16), cell)
  }
}
