// Owns whether a file and its directory may hold secrets: nobody else may be able to write them. A rule over what
// `stat` says; reading that is SharedFile's.

internal import Glibc

/// What is wrong with a place for secrets.
public enum FileTrust: Sendable, Hashable {
  /// A symbolic link: where it leads may change between two looks.
  case symbolicLink
  /// A directory, a pipe, a device.
  case notRegular
  /// Another user owns the file, and may write it.
  case ownedBy(UInt32)
  /// The file's permission bits let others write it.
  case writable(mode: UInt32)
  /// The directory's bits let others put another file in the place of this one.
  case directoryWritable(mode: UInt32)
  /// The directory is one that several users write to, and belongs to another user, who may replace what is in it.
  case directoryOwnedBy(UInt32)

  /// What is wrong with a file, as process of `user`, in a directory of `directoryOwner`; nil where nothing is.
  static func problem(file mode: UInt32, owner: UInt32, user: UInt32, directoryOwner: UInt32) -> FileTrust? {
    switch mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: return .symbolicLink
    default: return .notRegular
    }
    if !mayOwn(owner, user: user, directoryOwner: directoryOwner) { return .ownedBy(owner) }
    return mode & 0o022 == 0 ? nil : .writable(mode: mode & 0o7777)
  }

  /// Whether a file of `owner` is one for a process of `user`: its own and root's. Root works in directories of others,
  /// on what belongs to the directory's owner; another user may have laid a file there for root to take.
  static func mayOwn(_ owner: UInt32, user: UInt32, directoryOwner: UInt32) -> Bool {
    owner == user || owner == 0 || (user == 0 && owner == directoryOwner)
  }

  /// What is wrong with a directory; nil where nothing is. Groups may share one: that they cannot write the file is the
  /// file's.
  static func problem(directory mode: UInt32, owner: UInt32, user: UInt32) -> FileTrust? {
    if mode & S_ISVTX == 0 { return mode & S_IWOTH == 0 ? nil : .directoryWritable(mode: mode & 0o7777) }
    let isShared = mode & (S_IWOTH | S_IWGRP) != 0
    return isShared && owner != user && owner != 0 ? .directoryOwnedBy(owner) : nil
  }
}

extension FileTrust: CustomStringConvertible {
  /// What is wrong, and where one command helps, that command.
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
