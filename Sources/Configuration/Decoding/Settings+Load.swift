extension Settings {
  /// Reads and checks a file, the secret files it names included, by way of `files`. `environment` is what `${NAME}`
  /// refers to. Adds every file that was read to `read`, even if the settings are wrong.
  ///
  /// Relative paths in the file are relative to the file's own directory.
  package static func load(
    file: String, environment: [String: String], files: FileAccess, read: inout Set<String>
  ) throws(ConfigurationError) -> Settings {
    read.insert(file)
    let bytes: [UInt8]
    do throws(UnreadableFile) {
      bytes = try files.readConfiguration(file, YAMLNode.sizeLimit)
    } catch {
      throw ConfigurationError([ConfigurationIssue(.whole(file), "cannot read the configuration: \(error.reason)")])
    }
    return try decode(yaml: bytes, file: file, environment: environment, files: files, read: &read)
  }

  /// Reads and checks the text of a configuration file. `file` names it in issues; relative paths begin in its
  /// directory.
  package static func decode(
    yaml: [UInt8], file: String, environment: [String: String], files: FileAccess = FileAccess()
  ) throws(ConfigurationError) -> Settings {
    var read: Set<String> = []
    return try decode(yaml: yaml, file: file, environment: environment, files: files, read: &read)
  }

  private static func decode(
    yaml: [UInt8], file: String, environment: [String: String], files: FileAccess, read: inout Set<String>
  ) throws(ConfigurationError) -> Settings {
    var issues: [ConfigurationIssue] = []
    let root = YAMLNode.read(yaml, file: file, issues: &issues)
    guard let root else { throw ConfigurationError(issues) }
    var decoder = SettingsDecoder(file: file, environment: environment, files: files, issues: issues)
    defer { read.formUnion(decoder.filesRead) }
    let settings = decoder.settings(root)
    guard let settings, decoder.issues.isEmpty else { throw ConfigurationError(decoder.issues) }
    return settings
  }
}

/// A file without contents.
package struct UnreadableFile: Error, Sendable, Hashable {
  /// The reason, in words that read on after the path.
  package let reason: String

  /// A file that cannot be read for this reason.
  package init(_ reason: String) {
    self.reason = reason
  }
}

/// The users who can change a file, besides root and this process's user.
package struct FileWriters: Sendable, Hashable {
  /// The reason and the cure, in words that read on after the path.
  package let reason: String
  /// True if every user of the machine can.
  package let areEverybody: Bool

  package init(_ reason: String, areEverybody: Bool) {
    (self.reason, self.areEverybody) = (reason, areEverybody)
  }
}

/// Reads a file: from disk, or in a test from a table.
package typealias ReadFile = @Sendable (_ path: String, _ limit: Int) throws(UnreadableFile) -> [UInt8]

/// The files that settings are made of; without arguments, none.
package struct FileAccess: Sendable {
  /// Reads the configuration itself, which the command line names.
  package let readConfiguration: ReadFile
  /// Reads a file that the configuration names.
  package let read: ReadFile
  /// Finds the mode of a file that every user can read; nil for any other, or one that is not there.
  package let findExposure: @Sendable (String) -> UInt32?
  /// Finds who else can change a file, or put another one in its place; nil: no other user, or there is no file.
  package let findWriters: @Sendable (String) -> FileWriters?
  /// The reason why a configured program must not be run, in words that follow its path; nil if it may.
  package let judgeProgram: @Sendable (String) -> String?
  /// True if a directory keeps on a medium what is written to it; nil if that is not known.
  package let isKept: @Sendable (String) -> Bool?

  package init(
    readConfiguration: ReadFile? = nil,
    read: @escaping ReadFile = { _, _ throws(UnreadableFile) in throw UnreadableFile("absent") },
    findExposure: @escaping @Sendable (String) -> UInt32? = { _ in nil },
    findWriters: @escaping @Sendable (String) -> FileWriters? = { _ in nil },
    judgeProgram: @escaping @Sendable (String) -> String? = { _ in nil },
    isKept: @escaping @Sendable (String) -> Bool? = { _ in nil }
  ) {
    (self.readConfiguration, self.read) = (readConfiguration ?? read, read)
    (self.findExposure, self.findWriters) = (findExposure, findWriters)
    (self.judgeProgram, self.isKept) = (judgeProgram, isKept)
  }
}
