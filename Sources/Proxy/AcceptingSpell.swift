// Owns what is said of accepting that rests: once when it begins, once when it is over, however often it rests in between.

internal import Network

/// One spell of exhaustion after the other, of the whole process.
struct AcceptingSpell {
  /// When accepting rested last; nil where no spell is under way.
  private var lastRest: MonotonicTime?

  /// How long accepting has to go on for a spell to be over.
  static let calm = TimeSpan.seconds(5)

  /// Accepting rests. Whether that begins a spell.
  mutating func rests(at now: MonotonicTime) -> Bool {
    defer { lastRest = now }
    return lastRest == nil
  }

  /// Whether a spell has just come to its end. Call every few seconds.
  mutating func hasEnded(at now: MonotonicTime) -> Bool {
    guard let last = lastRest, now - last >= Self.calm else { return false }
    lastRest = nil
    return true
  }
}
