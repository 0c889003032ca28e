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
    _ settings: RouteSettings, applicationName: String?, tls: TLSContext?, fetcher: Fetcher,
    subscription: TokenSubscription?, choices: [(value: String, subscription: TokenSubscription)] = []
  ) {
    let origin = Origin(
      settings.upstream.value, tls: tls, serverName: settings.tls.serverName, proxy: settings.proxy,
      versions: settings.versions)
    let choice = settings.tokenChoice.map { choice in
      TokenChoice(field: choice.field, values: choices.map { (value: $0.value, slot: slot(of: $0.subscription)) })
    }
    add(
      Route(
        index: routes.count, name: settings.name, displayName: settings.displayName, applicationName: applicationName,
        host: settings.host, path: settings.path, methods: settings.methods.map { Array($0) },
        upstream: settings.upstream.value, originIndex: index(of: origin, limits: settings.pool),
        preservesHost: settings.preserveHost, allowsWebSocket: settings.upgrades.contains(.websocket),
        encodedPath: settings.encodedPath, bearerSlot: subscription.map { slot(of: $0) },
        isForCallers: settings.token.isCallers, choice: choice, fixedCredential: settings.token.fixed,
        requestFields: settings.requestFields, token: settings.tokenRules, timeouts: settings.timeouts,
        description: settings.tokenRules.discoversScopes
          ? ResourceDirectory(settings.upstream.value, fetch: settings.fetch(fetcher, tls), now: { .now }) : nil))
  }

  /// Adds the programs of all listeners, behind the routes.
  /// - Parameter application: the subscription of an application's own token.
  mutating func addPrograms(of settings: Settings, application: (String, ScopeSet) -> TokenSubscription?) {
    var count = 0
    for (listener, listening) in settings.listeners.enumerated() where !listening.programs.isEmpty {
      var programs: [Program] = []
      for program in listening.programs {
        programs.append(
          Program(
            index: count, name: program.name, shape: program.shape, secret: program.secret,
            leastLife: Int64(program.leastLife.nanoseconds / 1_000_000_000),
            tokens: program.tokens.compactMap { token($0, of: settings, application) }))
        count += 1
      }
      add(programs, at: listener)
    }
  }

  private mutating func token(
    _ token: ProgramSettings.Token, of settings: Settings, _ application: (String, ScopeSet) -> TokenSubscription?
  ) -> ProgramToken? {
    switch token.source {
    case .route(let name):
      guard let route = routes.first(where: { $0.name == name }), let slot = route.bearerSlot else { return nil }
      return ProgramToken(
        name: name, route: route.index, slot: slot, scopes: subscriptions[slot].key.scopes,
        resources: token.resources, identities: token.identities, isForCallers: route.isForCallers)
    case .application(let name, let scopes):
      return application(name, scopes).map {
        ProgramToken(
          name: name, slot: slot(of: $0), scopes: scopes, resources: token.resources, identities: token.identities)
      }
    }
  }
}
