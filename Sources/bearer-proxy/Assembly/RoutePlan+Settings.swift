// The way from a route's settings to a route.

import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Routing
import Tokens

extension RoutePlan {
  /// Adds a route.
  /// - Parameters:
  ///   - applicationName: what people read of its application.
  ///   - choices: the token for each value of its field.
  mutating func add(
    _ settings: RouteSettings, applicationName: String?, tls: TLSContext?, subscription: TokenSubscription?,
    choices: [(value: String, subscription: TokenSubscription)] = []
  ) {
    let origin = Origin(
      settings.upstream.value, tls: tls, serverName: settings.tls.serverName, proxy: settings.proxy)
    let choice = settings.tokenChoice.map { choice in
      TokenChoice(
        field: choice.field, values: choices.map { (value: $0.value, slot: slot(of: $0.subscription)) })
    }
    add(
      Route(
        index: routes.count, name: settings.name, displayName: settings.displayName, applicationName: applicationName,
        host: settings.host, path: settings.path,
        methods: settings.methods.map { Array($0) }, upstream: settings.upstream.value,
        originIndex: index(of: origin, limits: settings.pool), preservesHost: settings.preserveHost,
        allowsWebSocket: settings.upgrades.contains(.websocket), encodedPath: settings.encodedPath,
        bearerSlot: subscription.map { slot(of: $0) }, isForCallers: settings.token.isCallers,
        choice: choice, fixedCredential: settings.token.fixed,
        requestFields: settings.requestFields, token: settings.tokenRules,
        timeouts: settings.timeouts))
  }
}
