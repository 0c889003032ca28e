// Owns the order in which the links of one route's chain are tried.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Tokens

/// One route and what it takes to try it.
struct RouteChain: Sendable {
  let route: RouteSettings
  let application: ApplicationSettings?
  let subscription: TokenSubscription?
  let probe: String?
  let tls: TLSContext?
  let configuration: String
  let broker: TokenBroker
  let fetcher: Fetcher
  let connectionProbe: ConnectionProbe

  private var advisor: CheckAdvice {
    CheckAdvice(configuration: configuration, route: route, application: application)
  }

  /// Tries every link.
  func check() async -> CheckedRoute {
    var steps = [
      CheckStep(name: .configuration, verdict: .ok, detail: "\(route.place): \(route.path) to \(route.upstream.value)")
    ]
    var token: BearerValue?
    if let subscription {
      steps.append(await authority(subscription))
      let (step, value) = await self.token(subscription)
      steps.append(step)
      token = value
    }
    let connection = await self.connection()
    steps += connection
    if let probe {
      let isPossible = connection.allSatisfy { $0.verdict == .ok } && (token != nil || subscription == nil)
      steps.append(
        isPossible
          ? await self.probe(probe, token)
          : CheckStep(
            name: .probe, verdict: .skipped, detail: "not tried, for what it needs is not there"))
    }
    return CheckedRoute(name: route.name, steps: steps)
  }

  private func authority(_ subscription: TokenSubscription) async -> CheckStep {
    let began = MonotonicTime.now
    do throws(AcquisitionError) {
      let metadata = try await broker.discover(for: subscription)
      return CheckStep(
        name: .authority, verdict: .ok, milliseconds: Self.since(began),
        detail: "\(subscription.key.authority), issuer \(metadata.issuer)")
    } catch {
      return CheckStep(
        name: .authority, verdict: .failed, milliseconds: Self.since(began), detail: error.detail,
        advice: advisor.advice(error))
    }
  }

  private func token(_ subscription: TokenSubscription) async -> (CheckStep, BearerValue?) {
    let began = MonotonicTime.now
    do throws(AcquisitionError) {
      let value = try await broker.bearer(for: subscription)
      let owner = value.origin.account.map { " of \($0.name)" } ?? ""
      let source = value.origin.source == .cache ? "the cache" : "the identity provider"
      let detail =
        "a token\(owner) for \(value.scopes.isEmpty ? "no stated scope" : value.scopes.description) from \(source), "
        + "good for \(words(seconds: value.lifetime.expiresAt - UnixTime.now))"
      return (
        CheckStep(name: .token, verdict: .ok, milliseconds: Self.since(began), detail: detail), value
      )
    } catch {
      let verdict = error.isInteractionRequired ? CheckVerdict.interactionRequired : .failed
      return (
        CheckStep(
          name: .token, verdict: verdict, milliseconds: Self.since(began), detail: error.detail,
          advice: advisor.advice(error)), nil
      )
    }
  }

  private func connection() async -> [CheckStep] {
    let origin = Origin(
      route.upstream.value, tls: tls, serverName: route.tls.serverName, proxy: route.proxy.map { ConnectProxy($0) })
    let result = await connectionProbe.connect(to: origin, within: TimeSpan(route.timeouts.connect))
    let names: [ConnectionProbe.Stage: CheckStep.Name] = [
      .name: .upstreamName, .connection: .upstreamConnection, .tls: .upstreamTLS,
    ]
    var steps = result.passed.map { stage in
      CheckStep(
        name: names[stage.stage] ?? .upstreamConnection, verdict: .ok, milliseconds: Self.milliseconds(stage.time),
        detail: stage.detail)
    }
    if let failure = result.failure {
      steps.append(
        CheckStep(
          name: names[failure.stage] ?? .upstreamConnection, verdict: .failed,
          milliseconds: Self.milliseconds(failure.time), detail: failure.error.reason,
          advice: advisor.advice(failure.error)))
    }
    return steps
  }

  private func probe(_ path: String, _ token: BearerValue?) async -> CheckStep {
    let began = MonotonicTime.now
    var url = route.upstream.value
    url.target += path.drop { $0 == "/" }
    var fields = [("accept", "*/*")]
    if let token { fields.append(("authorization", "Bearer \(token.revealedToken())")) }
    let proxy = route.proxy.map { ConnectProxy($0) }
    let fetch = fetcher.bound(
      tls: tls, serverName: route.tls.serverName, timeout: TimeSpan(route.timeouts.responseHead),
      proxy: { _ in proxy })
    do throws(FetchError) {
      let response = try await fetch(FetchRequest(.get, url, fields: fields))
      let advice = advisor.advice(status: response.status)
      let challenge = response.status == 401 || response.status == 403 ? response.value(of: "www-authenticate") : nil
      return CheckStep(
        name: .probe, verdict: advice == nil ? .ok : .failed, milliseconds: Self.since(began),
        detail: "GET \(url.target.prefix { $0 != "?" }) is answered with \(response.status)"
          + (challenge.map { ": \(Self.without(token, $0))" } ?? ""), advice: advice)
    } catch {
      return CheckStep(
        name: .probe, verdict: .failed, milliseconds: Self.since(began), detail: "the upstream gave no answer",
        advice:
          "The connection is there: does the upstream speak HTTP/1.1 at this port, and answer within 'response_head'?")
    }
  }

  /// What an upstream says of a token may repeat it.
  private static func without(_ token: BearerValue?, _ text: String) -> String {
    // Byte by byte: to a Character, a token's last letter with an accent behind it is another one.
    token.map {
      String(
        decoding: Array(text.utf8).replacing(Array($0.revealedToken().utf8), with: Array("[secret]".utf8)),
        as: UTF8.self)
    } ?? text
  }

  private static func since(_ instant: MonotonicTime) -> Double { milliseconds(MonotonicTime.now - instant) }

  private static func milliseconds(_ time: TimeSpan) -> Double { Double(time.nanoseconds) / 1_000_000 }
}
