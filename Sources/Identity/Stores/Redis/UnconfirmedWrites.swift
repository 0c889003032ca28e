internal import Bytes
internal import Platform
internal import Tokens

/// Changes that were written to a server while no replica of it confirmed them. If that server is lost, they are made
/// again on the one that takes over, in their order, by the same rules: as changes that could not be written at all.
struct UnconfirmedWrites: Sendable {
  typealias Change = @Sendable (inout CacheDocument) -> Void

  private struct Write: Sendable {
    /// The version that the write got in each cell that may have lost it.
    var versions: [Int: Int64]
    var change: Change
    var time: MonotonicTime
  }

  /// Age at which a write is not repeated: what was signed out since would return.
  private static let longest = TimeSpan.seconds(600)

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

  mutating func add(_ change: @escaping Change, _ versions: [Int: Int64], at now: MonotonicTime) {
    if versions.isEmpty { return }
    writes.append(Write(versions: versions, change: change, time: now))
    writes.removeFirst(max(writes.count - Self.limit, 0))
  }

  /// Forgets the writes that are too old to be made again.
  mutating func forgetOld(at now: MonotonicTime) { writes.removeAll { now - $0.time > Self.longest } }

  /// Records that a cell has everything up to a version.
  mutating func confirm(_ cell: Int, upTo version: Int64) {
    for index in writes.indices {
      if let written = writes[index].versions[cell], written <= version { writes[index].versions[cell] = nil }
    }
    writes.removeAll { $0.versions.isEmpty }
  }
}
