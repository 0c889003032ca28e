// The settings of one process as they come out of a configuration file: complete, checked against one another and
// immutable. How the file is read stands in the decoder; what is done with a setting stands where it is used.

package import Routing
package import Telemetry

/// Everything the configuration file decides.
package struct Settings: Sendable {
  /// Where traffic is accepted; at least one.
  package let listeners: [ListenerSettings]
  /// The number of event loops, 1 to 256; `nil` is one per core.
  package private(set) var loops: Int?
  /// Where health, metrics and status are served; `nil` is nowhere.
  package let admin: AdminSettings?
  /// What is logged, and how.
  package private(set) var log: LogSettings
  /// Where tokens are kept.
  package let cache: CacheSettings
  /// Bounds and time limits towards callers.
  package let limits: ServiceLimits
  /// How the process ends.
  package let shutdown: ShutdownSettings
  /// Whether secrets may stand where every user can read them.
  package let allowsReadableSecrets: Bool
  /// What the process must have to be ready.
  package let readyWhen: ReadinessRule
  /// Time limits of exchanges where a route has none of its own.
  package let timeouts: ExchangeTimeouts
  /// The applications, in the order of the file, each name once.
  package let applications: [ApplicationSettings]
  /// The routes, in the order of the file; at least one. No two match the same requests.
  package let routes: [RouteSettings]
  /// What the file gives, in its order, secrets hidden.
  package let given: [ConfiguredValue]
  /// The defaults of what the file leaves out.
  let standards: [ConfiguredValue]
  /// What was found while it was read, and is allowed.
  let found: [ConfigurationIssue]

  package func application(named name: String) -> ApplicationSettings? {
    applications.first { $0.name == name }
  }

  /// The issuers of callers' own tokens, of every listener and of the admin listener.
  package var callerIssuers: [CallerSettings.Issuer] {
    (listeners.map(\.callers) + (admin.map { [$0.callers] } ?? [])).compactMap(\.issuer)
  }

  /// The settings with what the command line or the environment says instead of the file; `nil` says nothing.
  package func overridden(
    loops: Int?, logLevel: LogLevel?, logFormat: LogFormat?
  ) -> Settings {
    var result = self
    result.loops = loops ?? result.loops
    result.log.level = logLevel ?? result.log.level
    result.log.format = logFormat ?? result.log.format
    return result
  }
}
