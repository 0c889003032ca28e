internal import Bytes
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Service {
  /// The status of every route. No provider is asked; the cache and the file of requirements are read.
  func routeStatuses(at now: UnixTime) async -> [RouteStatus] {
    let needs = await process.signInRequirements.all()
    var statuses: [RouteStatus] = []
    for route in plan.routes {
      var token: TokenStatus?
      if let slot = route.bearerSlot { token = await process.broker.status(of: plan.subscriptions[slot]) }
      let need = needs[route.name]
      statuses.append(
        RouteStatus(
          route: route, now: now, token: token, need: need, upstream: upstreams.failure(of: route.index),
          link: link(route, token, need),
          command: description.commands.login(route: route.name),
          file: await process.tokenFiles?.status(ofRoute: route.index)))
    }
    return statuses
  }

  func programStatuses(_ routes: [RouteStatus]) -> [ProgramStatus] {
    plan.programs.sorted { $0.key < $1.key }.flatMap { $0.value.programs }.map {
      ProgramStatus(program: $0, routes: routes)
    }
  }

  private func link(_ route: Route, _ token: TokenStatus?, _ need: SignInRequirement?) -> String? {
    guard let slot = route.bearerSlot else { return nil }
    if let required = token?.failure?.error.interactionRequired {
      return required.reason == .accountAmbiguous ? nil : signInLink(route, required)
    }
    guard let need else { return nil }
    let key = plan.subscriptions[slot].key
    return signInLink(
      route,
      InteractionRequired(reason: .signInRequired, scopes: key.scopes, claims: need.claims, authority: key.authority))
  }
}

extension Service {
  func setGauges(at now: UnixTime, startedAt: UnixTime) async {
    let writer = registry.shared
    for status in await routeStatuses(at: now) {
      let row = status.route.index
      let held = status.token?.expiresAt.map { $0 - now } ?? 0
      writer.set(metrics.expiry[row], held > 0 ? held : Gauge.absent)
      writer.set(
        metrics.tokenFileExpiry[row], status.file.map { max(($0.expiresAt ?? now) - now, 0) } ?? Gauge.absent)
      writer.set(metrics.formerCredentials[row], status.isOfFormerCredential ? 1 : 0)
      for (column, state) in RouteState.allCases.enumerated() {
        writer.set(metrics.states[row, column], status.condition.state == state ? 1 : 0)
      }
    }
    for (row, certificate) in description.certificates.enumerated() {
      writer.set(metrics.certificates[row], certificate.validity.notAfter - now)
    }
    let callers = await process.broker.callerCounts
    writer.set(metrics.callerTokens, Int64(callers.held))
    writer.set(metrics.callerTokenEvictions, total: callers.evictions)
    writer.set(metrics.signInNeeds, Int64(process.signInRequirements.known.count))
    writer.set(metrics.droppedLines[0], total: accessLog?.droppedLines ?? 0)
    writer.set(metrics.droppedLines[1], total: OutputFile.standardError.droppedLines)
    metrics.process.set(in: writer, startedAt: startedAt)
  }
}
