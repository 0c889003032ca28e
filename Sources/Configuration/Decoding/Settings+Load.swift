// Owns the way from a file to settings.

extension Settings {
  /// Reads and checks a file, the secret files it names included, by way of `files`. `environment` is what `${NAME}`
  /// refers to. Adds every file that was looked at to `read`, also where the settings are wrong.
  ///
  /// Relative paths in the file are relative to the file's own directory.
  public static func load(
    file: String, environment: [String: String], files: FileAccess, read: inout Set<String>
  ) throws(ConfigurationError) -> Settings {
    read.insert(file)
    let bytes: [UInt8]
    do throws(UnreadableFile) {
      bytes = try files.readConfiguration(file, YAMLNode.sizeLimit)
    } catch {
      let start = Place(file: file, line: 1, column: 1)
      throw ConfigurationError([ConfigurationIssue(start, "cannot read the configuration: \(error.reason)")])
    }
    return try decode(
      yaml: bytes, file: file, environment: environment, readFile: files.read, findExposure: files.findExposure,
      read: &read)
  }

  /// Reads and checks the text of a configuration file. `file` names it in issues, and its directory is where relative
  /// paths begin. Files are the caller's: a table in tests, none at all where texts are random.
  public static func decode(
    yaml: [UInt8], file: String, environment: [String: String],
    readFile: @escaping ReadFile = { (_, _) throws(UnreadableFile) in throw UnreadableFile("absent") },
    findExposure: @escaping FindExposure = { _ in nil }
  ) throws(ConfigurationError) -> Settings {
    var read: Set<String> = []
    return try decode(
      yaml: yaml, file: file, environment: environment, readFile: readFile, findExposure: findExposure, read: &read)
  }

  static func decode(
    yaml: [UInt8], file: String, environment: [String: String], readFile: @escaping ReadFile,
    findExposure: @escaping FindExposure, read: inout Set<String>
  ) throws(ConfigurationError) -> Settings {
    var issues: [ConfigurationIssue] = []
    let root = YAMLNode.read(yaml, file: file, issues: &issues)
    guard let root else { throw ConfigurationError(issues) }
    var decoder = SettingsDecoder(
      file: file, environment: environment, readFile: readFile, findExposure: findExposure, issues: issues)
    defer { read.formUnion(decoder.filesRead) }
    let settings = decoder.settings(root)
    guard let settings, decoder.issues.isEmpty else { throw ConfigurationError(decoder.issues) }
    return settings
  }
}
