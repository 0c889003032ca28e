// The settings of one process as they come out of a configuration file: complete, checked against one another and
// immutable. The decoder reads the file; the modules that use a setting explain its effect.

package import Bytes
package import Routing
package import Telemetry

/// Everything the configuration file decides.
package struct Settings: Sendable {
  /// The listeners; at least one.
  package private(set) var listeners: [ListenerSettings]
  /// The number of event loops, 1 to 256; `nil` is one per core.
  package private(set) var loops: Int?
  /// The listener for health, metrics and status; nil: there is none.
  package private(set) var admin: AdminSettings?
  package private(set) var log: LogSettings
  package let cache: CacheSettings
  /// The keys of the encrypted cache; the first one encrypts. Empty: the cache is not encrypted.
  package let cacheKeys: [Secret]
  /// Bounds and time limits towards callers.
  package private(set) var limits: ServiceLimits
  package private(set) var shutdown: ShutdownSettings
  /// True if secrets may be in files that every user can read.
  package let allowsReadableSecrets: Bool
  /// The condition for `/readyz`.
  package let readyWhen: ReadinessRule
  /// Time limits of exchanges of a route that has none of its own.
  package let timeouts: ExchangeTimeouts
  /// The applications, in the order of the file, each name once.
  package let applications: [ApplicationSettings]
  /// The routes, in the order of the file; at least one. No two match the same requests.
  package private(set) var routes: [RouteSettings]
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
  package func overridden(loops: Int?, logLevel: LogLevel?, logFormat: LogFormat?) -> Settings {
    var result = self
    result.loops = loops ?? result.loops
    result.log.level = logLevel ?? result.log.level
    result.log.format = logFormat ?? result.log.format
    return result
  }

  /// The settings of a process that serves one program alone, at an address and by a secret of its own.
  package func serving(
    program name: String, secret: Secret, at address: SocketAddress
  ) throws(ConfigurationError) -> Settings {
    for listener in listeners {
      guard let program = listener.programs.first(where: { $0.name == name }) else { continue }
      var result = self
      result.listeners = [listener.serving(program, secret: secret, at: address)]
      result.admin = nil
      result.limits.connections = min(limits.connections, 256)
      result.routes = routes.filter { route in program.tokens.contains { $0.source == .route(route.name) } }
      // Another process keeps these.
      for index in result.routes.indices { result.routes[index].tokenFile = nil }
      result.shutdown = ShutdownSettings()
      // Standard output is the program's.
      if log.accessFile == nil { result.log.access = false }
      return result
    }
    throw ConfigurationError([
      ConfigurationIssue(listeners[0].address.place, "the program '\(name)', for which this process is, is gone")
    ])
  }
}
