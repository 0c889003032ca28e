// Owns the proof that a lock file's process is gone. A rule; looking is LockFile's.

import Bytes

/// What was found out about a lock file that is in the way.
struct StaleLock: Sendable, Hashable {
  /// Who it names; nil where it names nobody.
  var holder: LockHolder?
  /// Whether that process lives. In a container's own numbering it may, though it is not found: hence the other proofs.
  var holderLives: Bool
  /// Whether nobody has the file itself locked.
  var isUnlocked: Bool
  /// Time since it was made.
  var age: TimeSpan
  /// Whether its process locks the file before anybody can see it, as this program does where the file system lets it.
  /// That it is unlocked says enough then, and nobody need wait for a killed one of us.
  var isLockedFromTheStart = false

  /// How old a lock is before it can be stale. Nobody holds one for longer than a second.
  static let leastAge = TimeSpan.seconds(10)

  /// Whether it may be removed. A file that names nobody was left in the moment between its making and its writing:
  /// every library writes its process id at once.
  var isProved: Bool {
    (holder == nil || !holderLives) && isUnlocked && (isLockedFromTheStart || Self.leastAge < age)
  }
}
