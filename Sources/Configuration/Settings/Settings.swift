// Owns the settings of one process as they come out of a configuration file: complete, checked against one another and
// immutable. How the file is read stands in the decoder; what is done with a setting stands where it is used.

package import Routing
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
  /// Bounds and time limits towards callers.
  package let limits: ServiceLimits
  /// How the process ends.
  public let shutdown: ShutdownSettings
  /// Whether secrets may stand where every user can read them.
  public let allowsReadableSecrets: Bool
  /// What the process must have to be ready.
  package let readyWhen: ReadinessRule
  /// Time limits of exchanges where a route has none of its own.
  package let timeouts: ExchangeTimeouts
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

  /// The issuers of callers' own tokens, of every listener and of the admin listener.
  public var callerIssuers: [CallerSettings.Issuer] {
    (listeners.map(\.callers) + (admin.map { [$0.callers] } ?? [])).compactMap(\.issuer)
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
}
