// Owns the settings of one process as they come out of a configuration file: complete, checked against one another and
// immutable. How the file is read stands in the decoder; what is done with a setting stands where it is used.

public import Telemetry

/// Everything the configuration file decides.
public struct Settings: Sendable {
  /// Where traffic is accepted; at least one.
  public let listeners: [ListenerSettings]
  /// The number of event loops, 1 to 256; `nil` is one per core.
  public private(set) var loops: Int?
  /// Where health, metrics and status are served; `nil` is nowhere.
  public let admin: AdminSettings?
  /// What is logged, and how.
  public private(set) var log: LogSettings
  /// Where tokens are kept.
  public let cache: CacheSettings
  /// Bounds on what callers may send.
  public let limits: Limits
  /// How the process ends.
  public let shutdown: ShutdownSettings
  /// Whether secrets may stand where every user can read them.
  public let allowsReadableSecrets: Bool
  /// What the process must have to be ready.
  public let readyWhen: ReadyWhen
  /// Time limits towards callers. A route's own stand in the route.
  public let timeouts: Timeouts
  /// The applications, in the order of the file, each name once.
  public let applications: [ApplicationSettings]
  /// The routes, in the order of the file; at least one. No two match the same requests.
  public let routes: [RouteSettings]
  /// What the file gives, in its order, secrets hidden.
  public let given: [ConfiguredValue]

  /// The application of this name.
  public func application(named name: String) -> ApplicationSettings? {
    applications.first { $0.name == name }
  }

  /// The rules about callers' own tokens, of every listener and of the admin listener.
  public var callerTokenRules: [CallerSettings.BearerRule] {
    (listeners.map(\.callers) + (admin.map { [$0.callers] } ?? [])).compactMap(\.bearer)
  }

  /// The settings with what the command line or the environment says instead of the file; `nil` says nothing.
  public func overridden(
    loops: Int?, logLevel: LogLevel?, logFormat: LogFormat?
  ) -> Settings {
    var result = self
    result.loops = loops ?? result.loops
    result.log.level = logLevel ?? result.log.level
    result.log.format = logFormat ?? result.log.format
    return result
  }

  /// Reads and checks a file, the secret files it names included, by way of `files`. `environment` is what `${NAME}`
  /// refers to. Adds every file that was looked at to `read`, also where the settings are wrong.
  ///
  /// Relative paths in the file are relative to the file's own directory.
  public static func load(
    file: String, environment: [String: String], files: FileAccess, read: inout Set<String>
  ) throws(ConfigurationError) -> Settings {
    read.insert(file)
    let bytes: [UInt8]
    do throws(FileReadError) {
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
    readFile: @escaping ReadFile = { (_, _) throws(FileReadError) in throw .system("absent") },
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
