// Owns why a shared file was not read or written.

/// Why a file that several programs share cannot be used now.
public enum SharedFileError: Error, Sendable, Hashable {
  /// It, or its directory, must not be trusted.
  case untrusted(FileTrust)
  /// Another user's file stands where this process has to make one beside it.
  case obstructed(name: String, owner: UInt32)
  /// The directory it belongs into is not there.
  case noDirectory
  /// More bytes than any cache has.
  case tooLarge(limit: Int)
  /// It was written while it was read; another try may see all of it.
  case changedWhileRead
  /// The system refused.
  case system(SystemError)
}

extension SharedFileError: CustomStringConvertible {
  /// The reason, to be read behind the file's path.
  public var description: String {
    switch self {
    case .untrusted(let problem): problem.description
    case .obstructed(let name, let owner):
      "cannot be written, because \(name) beside it belongs to another user (uid \(owner)); remove that file, or take "
        + "a directory of your own"
    case .noDirectory: "its directory does not exist"
    case .tooLarge(let limit): "larger than \(limit >> 20) MiB"
    case .changedWhileRead: "is being written"
    case .system(let error): error.description
    }
  }
}
