// The numbering of what routes share: origins, so that routes to one server share connections, and bearer slots, so
// that routes with one right share tokens.

import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Routing
import Tokens

/// Routes with the origins and slots they refer to.
struct RoutePlan {
  private(set) var routes: [Route] = []
  private(set) var origins: [ServiceOrigin] = []
  private(set) var subscriptions: [TokenSubscription] = []
  private var originIndices: [OriginKey: Int] = [:]
  private var slots: [AcquisitionKey: Int] = [:]

  /// What must be equal for connections to be shared. Contexts are equal where their files are.
  private struct OriginKey: Hashable {
    var origin: String
    var context: ObjectIdentifier?
    var serverName: String?
    var pool: PoolLimits
    var proxy: ProxyAddress?
  }

  /// Adds a route.
  /// - Parameters:
  ///   - applicationName: what people read of its application.
  ///   - choices: what the values of its field stand for.
  mutating func add(
    _ settings: RouteSettings, applicationName: String?, tls: TLSContext?, subscription: TokenSubscription?,
    choices: [(value: String, subscription: TokenSubscription)] = []
  ) {
    let choice = settings.tokenChoice.map { choice in
      TokenChoice(
        field: choice.field, values: choices.map { (value: $0.value, slot: slot($0.subscription)) })
    }
    routes.append(
      Route(
        index: routes.count, name: settings.name, displayName: settings.displayName, applicationName: applicationName,
        host: settings.host, path: settings.path,
        methods: settings.methods.map { Array($0) }, upstream: settings.upstream.value,
        originIndex: originIndex(settings, tls), preservesHost: settings.preserveHost,
        allowsWebSocket: settings.upgrades.contains(.websocket), encodedPath: settings.encodedPath,
        bearerSlot: subscription.map { slot($0) }, isForCallers: settings.token.isCallers,
        choice: choice, token: settings.tokenRules,
        timeouts: settings.timeouts))
  }

  private mutating func originIndex(_ settings: RouteSettings, _ tls: TLSContext?) -> Int {
    let key = OriginKey(
      origin: settings.upstream.value.origin, context: tls.map { ObjectIdentifier($0) },
      serverName: settings.tls.serverName, pool: settings.pool, proxy: settings.proxy)
    if let known = originIndices[key] { return known }
    let origin = Origin(
      settings.upstream.value, tls: tls, serverName: settings.tls.serverName,
      proxy: settings.proxy)
    origins.append(ServiceOrigin(origin, limits: settings.pool))
    originIndices[key] = origins.count - 1
    return origins.count - 1
  }

  private mutating func slot(_ subscription: TokenSubscription) -> Int {
    if let known = slots[subscription.key] { return known }
    subscriptions.append(subscription)
    slots[subscription.key] = subscriptions.count - 1
    return subscriptions.count - 1
  }
}
