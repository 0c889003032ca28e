// Owns how often one route's warnings are written: what an upstream sends must not fill a disk.

internal import Network

/// Lets one warning of a route through a minute, whichever loop it comes from.
final class WarningPace: Sendable {
  private let last = Locked<[Int: MonotonicTime]>([:])

  /// The least time between two.
  static let interval = TimeSpan.seconds(60)

  /// Whether to write one now.
  func admits(_ route: Int, now: MonotonicTime) -> Bool {
    last.withLock { last in
      if let earlier = last[route], now < earlier + Self.interval { return false }
      last[route] = now
      return true
    }
  }
}
