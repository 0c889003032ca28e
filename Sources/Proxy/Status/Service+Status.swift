internal import Bytes
internal import Identity
internal import Routing
internal import Tokens

extension Service {
  /// The status of every route. No provider is asked; the cache and the file of requirements are read.
  func routeStatuses(at now: UnixTime) async -> [RouteStatus] {
    let needs = await signInRequirements.all()
    var statuses: [RouteStatus] = []
    for route in routes {
      var token: TokenStatus?
      if let slot = route.bearerSlot { token = await broker.status(of: subscriptions[slot]) }
      let need = needs[route.name]
      statuses.append(
        RouteStatus(
          route: route, now: now, token: token, need: need, upstream: upstreams.failure(of: route.index),
          link: link(route, token, need),
          command: description.commands.login(route: route.name),
          file: await tokenFiles?.status(ofRoute: route.index)))
    }
    return statuses
  }

  func programStatuses(_ routes: [RouteStatus]) -> [ProgramStatus] {
    programs.sorted { $0.key < $1.key }.flatMap { $0.value.programs }.map { ProgramStatus(program: $0, routes: routes) }
  }

  private func link(_ route: Route, _ token: TokenStatus?, _ need: SignInRequirement?) -> String? {
    guard let slot = route.bearerSlot else { return nil }
    if let required = token?.failure?.error.interactionRequired {
      return required.reason == .accountAmbiguous ? nil : signInLink(route, required)
    }
    guard let need else { return nil }
    let key = subscriptions[slot].key
    return signInLink(
      route,
      InteractionRequired(reason: .signInRequired, scopes: key.scopes, claims: need.claims, authority: key.authority))
  }
}
