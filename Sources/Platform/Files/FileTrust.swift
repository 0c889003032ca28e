// Places for secrets: no other user may be able to write the file or its directory. Rules over results of `stat`;
// SharedFile calls it.

package import Bytes
internal import Glibc

/// A reason not to use a place for secrets.
public enum FileTrust: Sendable, Hashable {
  /// A symbolic link: its target may change between two looks.
  case symbolicLink
  /// A directory, a pipe or a device.
  case notRegular
  /// Another user owns the file, and may write it.
  case ownedBy(UInt32)
  /// The file's permission bits let others write it.
  case writable(mode: UInt32)
  /// The directory's bits let others replace the file.
  case directoryWritable(mode: UInt32)
  /// A directory that several users write to belongs to another user, who may replace its files.
  case directoryOwnedBy(UInt32)

  /// The problem with a file, for a process of `user`, in a directory of `directoryOwner`; nil if there is none.
  static func problem(file mode: UInt32, owner: UInt32, user: UInt32, directoryOwner: UInt32) -> FileTrust? {
    switch mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: return .symbolicLink
    default: return .notRegular
    }
    if !mayOwn(owner, user: user, directoryOwner: directoryOwner) { return .ownedBy(owner) }
    return mode & 0o022 == 0 ? nil : .writable(mode: mode & 0o7777)
  }

  /// True if a process of `user` may use a file of `owner`: its own and root's. Root also works in directories of
  /// others, on files of the directory's owner; another user may have put a file there for root to use.
  static func mayOwn(_ owner: UInt32, user: UInt32, directoryOwner: UInt32) -> Bool {
    owner == user || owner == 0 || (user == 0 && owner == directoryOwner)
  }

  /// True if another user's file has the name of one that this process makes in a directory: neither its own nor the
  /// directory's owner may have put it there.
  static func isObstructed(by file: FileIdentity, in directory: borrowing Directory) throws(SystemError) -> Bool {
    let owner = try directory.identity().owner
    return !mayOwn(file.owner, user: geteuid(), directoryOwner: owner) && file.owner != owner
  }

  /// The problem with a directory; nil if there is none. Groups may share one: the rule for files keeps them from
  /// writing.
  static func problem(directory mode: UInt32, owner: UInt32, user: UInt32) -> FileTrust? {
    if mode & S_ISVTX == 0 { return mode & S_IWOTH == 0 ? nil : .directoryWritable(mode: mode & 0o7777) }
    let isShared = mode & (S_IWOTH | S_IWGRP) != 0
    return isShared && owner != user && owner != 0 ? .directoryOwnedBy(owner) : nil
  }
}

extension FileTrust: CustomStringConvertible {
  /// The problem, and the command that repairs it, if one command does.
  public var description: String {
    switch self {
    case .symbolicLink: "is a symbolic link; name the file itself"
    case .notRegular: "is not a regular file"
    case .ownedBy(let user): "belongs to another user (uid \(user)); run as that user, or name a file of your own"
    case .writable(let mode): "can be written by others (mode 0\(String(mode, radix: 8))); chmod 600 helps"
    case .directoryWritable(let mode):
      "is in a directory that others can write (mode 0\(String(mode, radix: 8))); chmod o-w or +t on it helps"
    case .directoryOwnedBy(let user):
      "is in a shared directory of another user (uid \(user)), who can replace it; take a directory of your own"
    }
  }
}

struct FileOwnership: Sendable, Hashable {
  var user: UInt32
  var group: UInt32

  /// The owner of a new file, made by a process of `user` in a directory of these; nil: its maker.
  static func ofNewFile(directory: FileOwnership, user: UInt32) -> FileOwnership? {
    user == 0 && directory.user != 0 ? directory : nil
  }

  /// The owner of a file that replaces another; nil: its maker. A file that root left in a directory of another user
  /// becomes that user's.
  static func ofReplacement(old: FileOwnership, directory: FileOwnership, user: UInt32) -> FileOwnership? {
    if old.user == 0, let heir = ofNewFile(directory: directory, user: user) {
      return FileOwnership(user: heir.user, group: old.group == 0 ? heir.group : old.group)
    }
    return old
  }

  /// Gives an open file of root's, which this process has just made or found, to its owner by its directory.
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

/// A file at one moment: its identity, and the time of its writing.
/// Times alone are not enough: a file renamed into place keeps its time of writing, which may be older.
package struct FileIdentity: Sendable, Hashable {
  var device: UInt64
  var inode: UInt64
  /// Its size in bytes.
  package var size: Int
  /// Its time of modification, which calls can set.
  package var modified: WallTime
  /// The time of its last change of any kind, which no call can set.
  var changed: WallTime
  var mode: UInt32
  var owner: UInt32
  var group: UInt32

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modified = WallTime(status.st_mtim)
    changed = WallTime(status.st_ctim)
    mode = status.st_mode
    owner = status.st_uid
    group = status.st_gid
  }

  /// True if a later write must change the identity: the kernel's clock for files ticks every few milliseconds, and two
  /// writes within one tick may look the same.
  package func isSettled(at now: WallTime) -> Bool {
    changed.age(at: now) > .milliseconds(50)
  }

  func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && inode == other.inode
  }
}

extension WallTime {
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
  }
}
