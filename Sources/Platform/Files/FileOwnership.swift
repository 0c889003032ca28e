// Owns to whom a file belongs that this process makes or replaces. Root works for others: what it makes in a directory
// of another user is that user's, or a command that root runs beside a service would leave files that the service
// cannot use.

internal import Glibc

/// A user and a group.
struct FileOwnership: Sendable, Hashable {
  var user: UInt32
  var group: UInt32

  /// Whose a new file is, made by a process of `user` in a directory of these; nil: its maker's.
  static func ofNewFile(directory: FileOwnership, user: UInt32) -> FileOwnership? {
    user == 0 && directory.user != 0 ? directory : nil
  }

  /// Whose a file is that takes the place of another; nil: its maker's. A file that root left in a directory of another
  /// user becomes that user's.
  static func ofReplacement(old: FileOwnership, directory: FileOwnership, user: UInt32) -> FileOwnership? {
    if old.user == 0, let heir = ofNewFile(directory: directory, user: user) {
      return FileOwnership(user: heir.user, group: old.group == 0 ? heir.group : old.group)
    }
    return old
  }

  /// Gives an open file of root's, which this process has just made or found, to whom it belongs in its directory.
  static func hand(_ descriptor: Int32, over directory: borrowing Directory) throws(SystemError) {
    let file = try FileIdentity.of(descriptor).ownership
    guard file.user == 0,
      let heir = ofNewFile(directory: try directory.identity().ownership, user: geteuid())
    else { return }
    guard fchown(descriptor, heir.user, heir.group) == 0 else { throw SystemError("fchown") }
  }
}

extension FileIdentity {
  var ownership: FileOwnership { FileOwnership(user: owner, group: group) }
}
