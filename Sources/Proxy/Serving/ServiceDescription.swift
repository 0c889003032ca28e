// Owns what the executable tells a service about the process, for `/status` and `/config`.

package import Identity

/// What the assembly knows of the process that serves.
public struct ServiceDescription: Sendable {
  /// The version, and the commit where the build has one.
  public var version: String
  /// The commit it was built from; nil where that is not known.
  public var commit: String?
  /// The configuration's file, for the commands that an operator is told to type.
  public var configurationFile: String
  /// How the cache stands.
  package var cache: @Sendable () -> CacheCondition.Report
  /// The effective configuration, for people or as JSON.
  public var configuration: @Sendable (_ form: AdminForm) -> String

  /// A description.
  package init(
    version: String, commit: String? = nil, configurationFile: String = "FILE",
    cache: @escaping @Sendable () -> CacheCondition.Report = { CacheCondition.Report(path: nil) },
    configuration: @escaping @Sendable (_ form: AdminForm) -> String = { _ in "" }
  ) {
    self.version = version
    self.commit = commit
    self.configurationFile = configurationFile
    self.cache = cache
    self.configuration = configuration
  }
}

/// How the admin listener answers.
public enum AdminForm: Sendable, Hashable {
  /// Lines for people.
  case text
  /// JSON, where the query says `format=json`.
  case json
}
