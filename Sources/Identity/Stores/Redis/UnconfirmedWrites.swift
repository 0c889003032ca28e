internal import Tokens

/// Changes that were written to a server while no replica of it confirmed them. If that server is lost, they are made
/// again on the one that takes over, in their order, by the same rules: as changes that could not be written at all.
struct UnconfirmedWrites: Sendable {
  typealias Change = @Sendable (inout CacheDocument) -> Void

  private struct Write: Sendable {
    /// The version that the write got in each cell that may have lost it.
    var versions: [Int: Int64]
    var change: Change
  }

  /// The oldest go first: their tokens have been renewed since.
  private static let limit = 1000

  private var writes: [Write] = []

  var isEmpty: Bool { writes.isEmpty }

  /// The cells that may have lost writes.
  var cells: Set<Int> { Set(writes.flatMap(\.versions.keys)) }

  /// The changes, one after the other.
  var change: Change {
    let changes = writes.map(\.change)
    return { document in for change in changes { change(&document) } }
  }

  mutating func add(_ change: @escaping Change, _ versions: [Int: Int64]) {
    writes.append(Write(versions: versions, change: change))
    writes.removeFirst(max(writes.count - Self.limit, 0))
  }

  /// Records that a cell has everything up to a version.
  mutating func confirm(_ cell: Int, upTo version: Int64) {
    for index in writes.indices {
      if let written = writes[index].versions[cell], written <= version { writes[index].versions[cell] = nil }
    }
    writes.removeAll { $0.versions.isEmpty }
  }
}
