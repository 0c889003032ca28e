internal import Bytes
internal import Platform

/// Decides if a cache's text that is empty or cut off is half of a write. msal-extensions empties the file under its
/// lock before it writes it; other programs do the same without a lock.
struct UnfinishedWrite: Sendable, Hashable {
  enum Verdict: Sendable, Hashable {
    /// A moment later it may be whole.
    case unfinished
    case final
    /// A process left it that ended before it had written the rest.
    case abandoned
  }

  /// The writers' lock, examined before the file was read: a writer that takes it after that dates the file anew.
  var lock: LockSight
  /// Time from the file's date to that look; zero for a date in the future.
  var age: TimeSpan
  /// Time since this process first saw the file in this state.
  var seenFor: TimeSpan

  /// Time for which a file without a lock must not have changed.
  static let rest = TimeSpan.seconds(1)
  /// Least time of looking at it: another machine's clock may date it.
  private static let leastSight = TimeSpan.milliseconds(200)

  var verdict: Verdict {
    let isAtRest = seenFor >= Self.rest || age >= Self.rest && seenFor >= Self.leastSight
    return switch lock {
    case .held: .unfinished
    case .free: isAtRest ? .final : .unfinished
    case .abandoned: isAtRest ? .abandoned : .unfinished
    }
  }
}
