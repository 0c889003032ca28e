// Owns how the decoder reaches files: by functions that its user gives it. It opens none itself.

/// A file without contents.
public struct UnreadableFile: Error, Sendable, Hashable {
  /// Why, in words that read on after the path.
  public let reason: String

  /// A file that cannot be read for this reason.
  public init(_ reason: String) {
    self.reason = reason
  }
}

/// How files are read: from disk, or in a test from a table.
public typealias ReadFile = @Sendable (_ path: String, _ limit: Int) throws(UnreadableFile) -> [UInt8]

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
