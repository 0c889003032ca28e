// Owns how the decoder reaches files: by functions that its user gives it. It opens none itself.

/// Why a file has no contents.
public enum FileReadError: Error, Equatable, Sendable {
  /// The system's error, in words.
  case system(String)
  /// It is no regular file; the words say what it is.
  case notRegular(String)
  /// More bytes than allowed.
  case tooLarge(limit: Int)
  /// A pipe that did not come to its end in time.
  case unfinished(seconds: Int)

  /// The reason in words, without the path.
  var reason: String {
    switch self {
    case .system(let words): words
    case .notRegular(let kind): "it is \(kind), not a regular file"
    case .tooLarge(let limit): "larger than \(limit / 1024) KiB"
    case .unfinished(let seconds): "its writer did not end within \(seconds) s"
    }
  }
}

/// How files are read: from disk, or in a test from a table.
public typealias ReadFile = @Sendable (_ path: String, _ limit: Int) throws(FileReadError) -> [UInt8]

/// Finds the mode of a file that every user can read; nil for any other, or one that is not there.
public typealias FindExposure = @Sendable (_ path: String) -> UInt32?

/// The files that settings are made of.
public struct FileAccess: Sendable {
  /// Reads the configuration itself, which the command line names.
  public let readConfiguration: ReadFile
  /// Reads a file that the configuration names.
  public let read: ReadFile
  /// Whether every user can read a file.
  public let findExposure: FindExposure

  /// Ways to files.
  public init(
    readConfiguration: @escaping ReadFile, read: @escaping ReadFile, findExposure: @escaping FindExposure
  ) {
    self.readConfiguration = readConfiguration
    self.read = read
    self.findExposure = findExposure
  }
}
