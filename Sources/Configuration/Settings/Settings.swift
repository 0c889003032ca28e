// The settings of one process as they come out of a configuration file: complete, checked against one another and
// immutable. The decoder reads the file; the modules that use a setting explain its effect.

package import Routing
package import Telemetry

/// Everything the configuration file decides.
package struct Settings: Sendable {
  /// The listeners; at least one.
  package let listeners: [ListenerSettings]
  /// The number of event loops, 1 to 256; `nil` is one per core.
  package private(set) var loops: Int?
  /// The listener for health, metrics and status; nil: there is none.
  package let admin: AdminSettings?
  package private(set) var log: LogSettings
  package let cache: CacheSettings
  /// Bounds and time limits towards callers.
  package let limits: ServiceLimits
  package let shutdown: ShutdownSettings
  /// True if secrets may be in files that every user can read.
  package let allowsReadableSecrets: Bool
  /// The condition for `/readyz`.
  package let readyWhen: ReadinessRule
  /// Time limits of exchanges of a route that has none of its own.
  package let timeouts: ExchangeTimeouts
  /// The applications, in the order of the file, each name once.
  package let applications: [ApplicationSettings]
  /// The routes, in the order of the file; at least one. No two match the same requests.
  package let routes: [RouteSettings]
  /// The values of the file, in its order, secrets hidden.
  package let given: [ConfiguredValue]
  /// The defaults of what the file leaves out.
  let standards: [ConfiguredValue]
  /// Warnings of the decoder.
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
