// Owns why a shared file was not read or written.

/// Why a file that several programs share cannot be used now.
public enum SharedFileError: Error, Sendable, Hashable {
  /// It, or its directory, must not be trusted.
  case untrusted(FileTrust)
  /// The directory it belongs into is not there.
  case noDirectory
  /// More bytes than any cache has.
  case tooLarge(limit: Int)
  /// Somebody wrote it while it was read; another try may see all of it.
  case changedWhileRead
  /// The system refused.
  case system(SystemError)
}

extension SharedFileError: CustomStringConvertible {
  /// The reason, to be read behind the file's path.
  public var description: String {
    switch self {
    case .untrusted(let problem): problem.description
    case .noDirectory: "its directory does not exist"
    case .tooLarge(let limit): "larger than \(limit >> 20) MiB"
    case .changedWhileRead: "is being written"
    case .system(let error): error.description
    }
  }
}
