// `engine`: the part of another proxy's configuration that asks for the tokens of a configuration's routes.

import Bytes
import CProgram
import Configuration
import HTTP
import Routing

/// Prints an engine's part for the routes that are handed out.
struct EngineCommand {
  let engine: Engine
  let configuration: String

  func answer(in context: CommandContext) throws(CommandError) -> CommandAnswer {
    let settings = try context.configuration(configuration).settings
    let listeners = settings.listeners.filter { $0.handOut == .proxies }
    guard let listener = listeners.first(where: { engine.objection(to: $0) == nil }) ?? listeners.first else {
      throw .failed("\(configuration): no listener has 'hand_out: proxies', so none hands out tokens")
    }
    let routes = settings.routes.filter(\.tokenRules.isHandedOut)
    if routes.isEmpty { throw .failed("\(configuration): no route has 'hand_out: proxies'") }
    if let reason = engine.objection(to: listener) { throw .failed("\(configuration): \(reason)") }
    var part = EngineSettings(listener: listener, routes: routes, defaultTrust: Self.systemTrust)
    part.streams = settings.limits.streams
    if let (one, other) = part.sameWord {
      throw .failed(
        "\(configuration): routes '\(one.name)' and '\(other.name)' are one word in an engine's file; rename one")
    }
    return CommandAnswer(text: engine.text(part), status: .done)
  }

  /// Debian's file of the authorities that every program trusts.
  static var systemTrust: String { "/etc/ssl/certs/ca-certificates.crt" }
}

extension Engine {
  /// The reason why the engine cannot ask this listener; nil if it can.
  func objection(to listener: ListenerSettings) -> String? {
    switch self {
    case .traefik:
      guard case .unix = listener.address.value.kind else { return nil }
      return "Traefik cannot ask at a unix socket; give the listener an address and callers.header or .certificate"
    case .haproxy, .haproxyLua:
      guard listener.callers.rules.certificateNames != nil else { return nil }
      return "HAProxy's scripts cannot show a certificate; name HAProxy by callers.unix or callers.header"
    case .envoyGRPC, .envoyExtProc:
      return listener.http2 ? nil : "Envoy calls with gRPC, and the listener has 'http2: false'"
    case .nginx, .envoy, .envoyExtAuthz, .envoyTwoListeners, .caddy: return nil
    }
  }

  func text(_ settings: EngineSettings) -> String {
    switch self {
    case .nginx: NginxConfiguration(settings: settings).text
    case .envoy, .envoyGRPC, .envoyExtProc, .envoyExtAuthz, .envoyTwoListeners:
      EnvoyConfiguration(settings: settings, engine: self).text
    case .caddy: CaddyConfiguration(settings: settings).text
    case .haproxy: HAProxyConfiguration(settings: settings).text
    case .haproxyLua: String(cString: haproxy_script())
    case .traefik: TraefikConfiguration(settings: settings).text
    }
  }
}
