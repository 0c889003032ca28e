public import Bytes

/// A reason why a file cannot be read, written or locked. The path is known to the one who asked.
public enum FileError: Error, Sendable, Hashable {
  case system(SystemError)
  /// It is a pipe, a device or a directory.
  case notRegular(FileKind)
  /// It has more bytes than such a file may have.
  case tooLarge(limit: Int)
  /// A pipe that no process has opened to write.
  case unwritten
  /// A pipe whose writers did not finish in time.
  case unfinished(TimeSpan)
  /// It, or its directory, must not be trusted.
  case untrusted(FileTrust)
  /// Another user's file has the name of one that this process has to make; only that user can remove it.
  case obstructed(name: String, owner: UInt32)
  /// Its directory does not exist.
  case noDirectory
  /// It was written while it was read; another attempt may see all of it.
  case changedWhileRead
  /// Another process held the lock until the time was over; nil if the lock file does not name it.
  case held(LockHolder?)
}

extension FileError: CustomStringConvertible {
  /// The reason, to follow the file's path.
  public var description: String {
    switch self {
    case .system(let error): error.reason
    case .notRegular(let kind): "it is \(kind.words), not a regular file"
    case .tooLarge(let limit) where limit < 16 << 20: "larger than \(limit / 1024) KiB"
    case .tooLarge(let limit): "larger than \(limit >> 20) MiB"
    case .unwritten: "it is a pipe that no process writes: start its writer first"
    case .unfinished(let time): "its writer did not end within \(time.nanoseconds / 1_000_000_000) s"
    case .untrusted(let problem): problem.description
    case .obstructed(let name, let owner):
      "cannot be written, because \(name) beside it belongs to another user (uid \(owner)); remove that file, or take "
        + "a directory of your own"
    case .noDirectory: "its directory does not exist"
    case .changedWhileRead: "is being written"
    case .held(let holder?): "held by process \(holder.process) (\(holder.name))"
    case .held(nil): "held by another process"
    }
  }

  /// The same, with the call that failed: for files that are written, too.
  package var detail: String {
    if case .system(let error) = self { error.description } else { description }
  }
}
