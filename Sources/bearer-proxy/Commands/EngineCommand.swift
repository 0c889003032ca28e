// `engine`: the part of another proxy's configuration that asks for the tokens of a configuration's routes.

import Bytes
import Configuration
import HTTP
import Routing

/// Prints an engine's part for the routes that are handed out.
struct EngineCommand {
  let engine: Engine
  let configuration: String

  func answer(in context: CommandContext) throws(CommandError) -> CommandAnswer {
    let settings = try context.configuration(configuration).settings
    guard let listener = settings.listeners.first(where: { $0.handOut == .proxies }) else {
      throw .failed("\(configuration): no listener has 'hand_out: proxies', so there is nobody to ask for tokens")
    }
    let routes = settings.routes.filter(\.tokenRules.isHandedOut)
    if routes.isEmpty { throw .failed("\(configuration): no route has 'hand_out: proxies'") }
    let text = engine.text(
      EngineSettings(listener: listener, routes: routes, defaultTrust: Self.systemTrust))
    return CommandAnswer(text: text, status: .done)
  }

  /// Debian's file of the authorities that every program trusts.
  static var systemTrust: String { "/etc/ssl/certs/ca-certificates.crt" }
}

extension Engine {
  /// The engine's part.
  func text(_ settings: EngineSettings) -> String {
    switch self {
    case .nginx: NginxConfiguration(settings: settings).text
    case .envoy: EnvoyConfiguration(settings: settings, form: .retrying).text
    case .envoyExtAuthz: EnvoyConfiguration(settings: settings, form: .asking).text
    case .envoyTwoListeners: EnvoyConfiguration(settings: settings, form: .twoListeners).text
    }
  }
}
