// The token of a route, for the proxy's own user and root, who ask on the admin listener's unix socket. The kernel
// proves who they are.

internal import Bytes
internal import HTTPServer
internal import Identity
internal import Platform
internal import Telemetry
internal import Tokens

extension AdminServer {
  /// Seconds that a token lives at least that a command gets, if a renewal can bring that: as `least_life` of programs.
  private static let leastLife: Int64 = 300

  func token(ofRoute name: String?, for taker: TokenTaker) async -> ServerResponse {
    let service = service
    guard let name, let route = service.plan.routes.first(where: { $0.name == name }) else {
      return Self.refusal(404, "unknown_route", "the running proxy has no such route; has it been reloaded?")
    }
    guard let slot = route.bearerSlot, !route.isForCallers else {
      return Self.refusal(400, "no_token", "the route has no token of its own")
    }
    do throws(AcquisitionError) {
      let value = try await service.process.broker.bearer(
        for: service.plan.subscriptions[slot], leastLife: Self.leastLife)
      service.registry.shared.add(service.metrics.handedOut[taker.rawValue, route.index])
      service.process.log.debug(
        "token given to a command", ["program": .string(taker.name), "route": .string(route.name)])
      let now = UnixTime.now
      return .json(
        JSONValue([
          "access_token": value.revealedToken(), "token_type": "Bearer", "expires_on": value.lifetime.expiresAt,
          "expires_in": value.lifetime.expiresAt - now,
        ]).canonicalText() + "\n")
    } catch {
      var next: String?
      if let required = error.interactionRequired {
        next =
          service.signInLink(route, required).map { "Sign in at \($0)" }
          ?? service.description.commands.advice(required.reason, route: route.name)
      }
      return Self.refusal(error.interactionRequired != nil ? 401 : 503, error.reason, error.detail, next: next)
    }
  }

  private static func refusal(_ status: Int, _ reason: String, _ detail: String, next: String? = nil) -> ServerResponse
  {
    let document = JSONValue(["error": reason, "detail": detail, "next": next])
    return .admin(status, "application/json", Array((document.canonicalText() + "\n").utf8))
  }
}
