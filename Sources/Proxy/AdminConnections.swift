// Owns how many admin connections there are at once: whoever opens more takes the places of those who have been silent longest, so
// that probes and scrapes keep getting theirs.

internal import Network

/// The admin connections that are open, those who were heard least recently first. Confined to a loop.
final class AdminConnections {
  private var open: [AdminConnection] = []

  /// How many there may be.
  static let limit = 64

  /// Takes in a connection, in the place of another where there is no room.
  func add(_ connection: AdminConnection) {
    if open.count >= Self.limit { open.removeFirst().abandon() }
    open.append(connection)
  }

  /// A request has come.
  func heard(_ connection: AdminConnection) {
    guard let index = open.firstIndex(where: { $0 === connection }) else { return }
    open.append(open.remove(at: index))
  }

  /// The connection is over.
  func remove(_ connection: AdminConnection) {
    open.removeAll { $0 === connection }
  }
}
