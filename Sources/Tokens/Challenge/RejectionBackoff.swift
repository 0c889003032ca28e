package import Bytes

/// The recent rejections of one subscription's tokens that were answered with a new token. It keeps an API that rejects
/// every token from turning each request into a token request.
package struct RejectionBackoff: Sendable {
  private struct Entry {
    var rejection: TokenRejection
    var at: UnixTime
    var pause: Int64

    func isRecent(_ now: UnixTime) -> Bool { (0..<max(pause, window)).contains(now - at) }
  }

  private var entries: [Entry] = []

  /// Seconds for which the same rejection is not answered again; doubled each time it returns soon after. Short at
  /// first: a token that was issued in the second of a revocation is refused once more, and the next one is not.
  package static let pause: Int64 = 5
  /// The longest pause, in seconds.
  package static let pauseLimit: Int64 = 3600
  /// Different rejections that are answered within a minute.
  package static let limit = 16
  private static let window: Int64 = 60

  /// Nothing was answered yet.
  package init() {}

  /// True if a rejection is to be answered now, which is then remembered. A clock that was set back ends the pauses.
  package mutating func admits(_ rejection: TokenRejection, now: UnixTime) -> Bool {
    var pause = Self.pause
    if let index = entries.firstIndex(where: { $0.rejection == rejection }) {
      let last = entries[index]
      let quiet = now - last.at
      if (0..<last.pause).contains(quiet) { return false }
      if (0..<last.pause * 2).contains(quiet) { pause = min(last.pause * 2, Self.pauseLimit) }
      entries.remove(at: index)
    }
    // Old entries are forgotten. While all are recent, a new rejection is not answered.
    if entries.count >= Self.limit { entries.removeAll { !$0.isRecent(now) } }
    guard entries.count < Self.limit else { return false }
    entries.append(Entry(rejection: rejection, at: now, pause: pause))
    return true
  }

  /// True if a rejection was answered so recently that it may be of a token from before.
  package func knows(_ rejection: TokenRejection, now: UnixTime) -> Bool {
    entries.contains { $0.rejection == rejection && $0.isRecent(now) }
  }
}
