// Owns who has to go where there is no room for another connection: whoever has waited longest without a request. Somebody whose
// request is being answered never has to.

internal import HTTPClient
internal import Network

extension ServingLoop {
  /// Those that wait, the longest last, as found by one look at all of them.
  struct LongestWaiting {
    private var found: [(connection: DownstreamConnection, since: MonotonicTime)] = []
    /// How many are kept of one look, so that a flood does not cost a look for each.
    private static let kept = 64

    /// Takes out the connection that has waited longest.
    mutating func next(of all: some Sequence<DownstreamConnection>) -> DownstreamConnection? {
      if let known = nextKnown() { return known }
      let waiting = all.compactMap { connection in connection.waitingSince.map { (connection, $0) } }
      found = waiting.sorted { $0.1 > $1.1 }.suffix(Self.kept)
      return nextKnown()
    }

    /// The next that has waited ever since.
    private mutating func nextKnown() -> DownstreamConnection? {
      while let (connection, since) = found.popLast() {
        if connection.waitingSince == since { return connection }
      }
      return nil
    }

    /// Forgets them: connections are not to be kept for this.
    mutating func forget() { found = [] }
  }

  /// Ends the connection of a caller that has waited longest for a request, to make room for one that may have one. It is closed
  /// before a task that yields now goes on. False: none waits.
  func endLongestWaiting() -> Bool {
    guard let connection = longestWaiting.next(of: connections.values) else { return false }
    connection.makeRoom()
    return true
  }

  /// Gives up a descriptor: a connection to an upstream that nobody uses, or that of a caller that waits. False: there is none.
  func giveUpDescriptor() -> Bool {
    for pool in current.pools where pool.closeOldest() { return true }
    return endLongestWaiting()
  }
}
