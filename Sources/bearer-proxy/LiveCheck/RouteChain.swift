import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Routing
import Telemetry
import Tokens

/// One route and what it takes to try it.
struct RouteChain: Sendable {
  let route: RouteSettings
  let application: ApplicationSettings?
  let subscription: TokenSubscription?
  let probe: String?
  let tls: TLSContext?
  let broker: TokenBroker
  let fetcher: Fetcher
  /// The way to the application's provider.
  let provider: Fetch
  let providerClock: ProviderClock
  /// The redirect URIs of the listeners' sign-in pages.
  let pageRedirectURIs: @Sendable (CallbackPath) -> [String]
  let connectionProbe: ConnectionProbe
  let advisor: CheckAdvice
  /// The listener that hands its token out, if there is one.
  let handOut: HandOutTrial?

  /// Tries every link.
  func check() async -> CheckedRoute {
    var steps = [
      CheckStep(name: .configuration, verdict: .ok, detail: "\(route.place): \(route.path) to \(route.upstream.value)")
    ]
    var token = route.token.fixed.map { BearerValue($0) }
    if let fixed = route.token.fixed {
      steps.append(
        CheckStep(name: .credential, verdict: .ok, detail: "the field \(fixed.name.text) of the configuration"))
    }
    if let subscription {
      var metadata: ProviderMetadata?
      if let identity = application?.managedIdentity {
        steps.append(CheckStep(name: .authority, verdict: .ok, detail: identity.description))
      } else {
        let (step, found) = await self.authority(subscription)
        steps.append(step)
        metadata = found
      }
      if application?.isProvenByOthers == true || subscription.key.agent != nil {
        steps.append(await credential(subscription))
      }
      let (step, value) =
        subscription.key.subject.isCaller
        ? (CheckStep(name: .token, verdict: .skipped, detail: "each caller's own token is exchanged"), nil)
        : await self.token(subscription)
      steps.append(step)
      token = value
      if let metadata, let signIn = await signIn(metadata, isNeeded: step.verdict == .interactionRequired) {
        steps.append(signIn)
      }
      if let clock = clock() { steps.append(clock) }
    }
    let connection = await self.connection()
    steps += connection
    if connection.allSatisfy({ $0.verdict == .ok }), let description = await description() { steps.append(description) }
    if let probe {
      let isPossible = connection.allSatisfy { $0.verdict == .ok } && (token != nil || subscription == nil)
      steps.append(
        isPossible
          ? await self.probe(probe, token)
          : CheckStep(name: .probe, verdict: .skipped, detail: "not tried, for what it needs is not there"))
    }
    if connection.allSatisfy({ $0.verdict == .ok }), let health = await health(token) { steps.append(health) }
    if let handOut { steps.append(await handOut.step(for: route)) }
    return CheckedRoute(name: route.name, steps: steps)
  }

  private func authority(_ subscription: TokenSubscription) async -> (CheckStep, ProviderMetadata?) {
    let trial = CheckTrial(.authority)
    do throws(AcquisitionError) {
      let metadata = try await broker.discover(for: subscription)
      return (trial.end(.ok, "\(subscription.key.authority), issuer \(metadata.issuer)"), metadata)
    } catch {
      return (trial.end(.failed, error.detail, advice: advisor.advice(error)), nil)
    }
  }

  /// The application's credential: a provider compares it with the registered one.
  private func credential(_ subscription: TokenSubscription) async -> CheckStep {
    let trial = CheckTrial(.credential)
    do throws(AcquisitionError) {
      guard let claims = try await broker.proofClaims(for: subscription) else {
        return trial.end(.ok, "a token that does not say whom it is for")
      }
      let names = [
        ("issuer", claims.issuer), ("subject", claims.subject),
        ("audience", claims.audiences.isEmpty ? nil : claims.audiences.joined(separator: " ")),
      ]
      let words = names.map { "\($0.0) \($0.1 ?? "(none)")" }.joined(separator: ", ")
      let left = claims.expiresAt.map { $0 - UnixTime.now }
      if let left, left <= 0 {
        return trial.end(
          .failed, "a token that ended \(Tokens.words(seconds: -left)) ago: \(words)",
          advice: advisor.advice(expired: application?.assertionFile.map { .file(path: $0) } ?? .issuer))
      }
      return trial.end(.ok, "\(words)\(left.map { ", good for \(Tokens.words(seconds: $0))" } ?? "")")
    } catch {
      return trial.end(.failed, error.detail, advice: advisor.advice(error))
    }
  }

  /// True if the provider knows the redirect URIs and the scopes of sign-ins; nil if that is not shown. `login` may
  /// use other redirect URIs than its usual one, so that one is tried only if a sign-in is needed.
  private func signIn(_ metadata: ProviderMetadata, isNeeded: Bool) async -> CheckStep? {
    guard let application, let token = route.token.issued, token.isAccounts,
      let endpoint = metadata.authorizationEndpoint, !metadata.requiresPushedAuthorization
    else { return nil }
    let step = CheckTrial(.signIn)
    let pages = pageRedirectURIs(application.callback)
    let loopback = LoopbackRedirect(application.callback)
    let redirects = !pages.isEmpty ? pages : isNeeded ? [loopback.description] : []
    var known: [String] = []
    for redirect in redirects {
      // `login` listens at a port that the system chooses.
      let trial = SignInTrial(
        endpoint: endpoint, clientID: application.clientID,
        redirectURI: pages.isEmpty ? loopback.uri(port: 49152) : redirect,
        scopes: token.scopes.decorated(application.hasOfflineAccess ? metadata.offlineAccess : .declined))
      var verdict = SignInTrial.Verdict.unknown
      do throws(FetchError) { verdict = try await trial.verdict(provider) } catch { continue }
      let found: (detail: String, advice: String)
      switch verdict {
      case .unknown: continue
      case .accepted:
        known.append(redirect)
        continue
      case .scopes(let code):
        found = ("the provider refuses a sign-in for \(token.scopes): \(code)", advisor.words(.scopes))
      case .application(let code):
        found = (
          "the provider shows an error instead of a sign-in that comes back to "
            + "\(redirect)\(code.isEmpty ? "" : ": \(code)")",
          advisor.words(pages.isEmpty ? .loopbackRedirectURI : .pageRedirectURI, [.redirectURI: redirect])
        )
      }
      return step.end(.failed, found.detail, advice: found.advice)
    }
    return known.isEmpty ? nil : step.end(.ok, "the provider accepts \(known.joined(separator: " and "))")
  }

  /// The difference between this machine's clock and the provider's, if it matters.
  private func clock() -> CheckStep? {
    guard let skew = providerClock.skew, abs(skew) > ProviderClock.tolerance else { return nil }
    return CheckStep(
      name: .clock, verdict: .failed,
      detail: "this machine's clock is \(words(seconds: abs(skew))) \(skew > 0 ? "ahead of" : "behind") the provider's",
      advice: Cure.clock.words())
  }

  private func token(_ subscription: TokenSubscription) async -> (CheckStep, BearerValue?) {
    let trial = CheckTrial(.token)
    do throws(AcquisitionError) {
      let value = try await broker.bearer(for: subscription)
      let owner = value.origin.account.map { " of \($0.name)" } ?? ""
      let source = value.origin.source == .cache ? "the cache" : "the identity provider"
      let detail =
        "a token\(owner) for \(value.scopes.isEmpty ? "no stated scope" : value.scopes.description) from \(source), "
        + "good for \(words(seconds: value.lifetime.expiresAt - UnixTime.now))"
      return (trial.end(.ok, detail), value)
    } catch {
      let verdict = error.interactionRequired == nil ? CheckVerdict.failed : .interactionRequired
      return (trial.end(verdict, error.detail, advice: advisor.advice(error)), nil)
    }
  }

  /// The API's description of its tokens (RFC 9728) and that of its provider, beside what the route has; nil if there
  /// is none, or the route adds no token of a provider's. One request without a token brings the API's challenge.
  private func description() async -> CheckStep? {
    var api = route.upstream.value
    guard let subscription, let application, application.managedIdentity == nil, api.scheme == .https || api.isLoopback
    else { return nil }
    // The API by its name as a resource, to which servers of MCP answer.
    if api.target.hasSuffix("/"), api.target.count > 1 { api.target.removeLast() }
    let trial = CheckTrial(.description)
    var isNamed = false
    do throws(DiscoveryFault) {
      let fetch = route.fetch(fetcher, tls, within: .seconds(10))
      let challenge = try await ResourceDirectory.challenge(of: api, fetch)
      isNamed = challenge?.resourceMetadata != nil
      guard
        let found = try await ResourceDirectory.description(
          of: api, challenge: challenge?.resourceMetadata, fetch)?.challenging(for: challenge?.scopes ?? .none)
      else { return nil }
      let detail =
        "resource \(found.resource), of \(found.issuers.joined(separator: ", ")), scopes "
        + (found.scopes.isEmpty ? "not said" : found.scopes.description)
      guard let issuer = found.issuers.first(where: { application.authority.value.isIssuer($0) }) else {
        let issuers = found.issuers.joined(separator: ", ")
        return trial.end(.failed, detail, advice: advisor.words(.apiProvider, [.issuers: issuers]))
      }
      let gaps =
        found.gaps(of: subscription.key, allowed: route.tokenRules.scopesOnChallenge)
        + (try await providerGaps(issuer, subscription.key))
      return trial.end(.ok, detail, advice: gaps.isEmpty ? nil : gaps.joined(separator: "; "))
    } catch {
      switch error {
      // A server may answer anything at a path that it does not know.
      case .notJSON, .redirect, .tooLarge, .status, .unreached:
        return isNamed ? trial.end(.failed, error.words, advice: Cure.apiMetadata.words()) : nil
      default: return trial.end(.failed, error.words, advice: Cure.apiMetadata.words())
      }
    }
  }

  /// The gaps, for the route, in the metadata of the application's provider, which is found as MCP prescribes.
  private func providerGaps(_ issuer: String, _ key: AcquisitionKey) async throws(DiscoveryFault) -> [String] {
    let grants: [String] =
      switch route.token.issued?.subject {
      case .account: ["authorization_code"]
      case .application: ["client_credentials"]
      default: []
      }
    do throws(DiscoveryFault) {
      let (metadata, members) = try await ResourceDirectory.provider(issuer, isStranger: false, provider)
      return DiscoveredProvider(metadata: metadata, members: members).gaps(grants: grants, scopes: key.scopes)
    } catch {
      if case .otherIssuer = error { throw error }
      // Tokens come from the configured authority, which has a step of its own.
      return [error.words]
    }
  }

  private func connection() async -> [CheckStep] {
    let origin = Origin(
      route.upstream.value, tls: tls, serverName: route.tls.serverName, proxy: route.proxy, versions: route.versions)
    let result = await connectionProbe.connect(to: origin, within: route.timeouts.connect)
    return CheckStep.steps(
      of: result, name: .upstreamName, connection: .upstreamConnection, tls: .upstreamTLS
    ) { advisor.advice($1) }
  }

  private func probe(_ path: String, _ token: BearerValue?) async -> CheckStep {
    let trial = CheckTrial(.probe)
    var url = route.upstream.value
    url.target += path.drop { $0 == "/" }
    var fields = [("accept", "*/*")]
    for (name, value) in route.requestFields?.set ?? [:] {
      fields.removeAll { $0.0 == name.lowercased() }
      fields.append((name.lowercased(), value))
    }
    if let token { fields.append(token.field) }
    do throws(FetchError) {
      let response = try await route.fetch(fetcher, tls)(FetchRequest(.get, url, fields: fields))
      let advice = advisor.advice(status: response.status)
      let challenge = response.status == 401 || response.status == 403 ? response.value(of: "www-authenticate") : nil
      return trial.end(
        advice == nil ? .ok : .failed,
        "GET \(url.target.prefix { $0 != "?" }) is answered with \(response.status)"
          + (challenge.map { ": \(Self.without(token, $0))" } ?? ""), advice: advice)
    } catch {
      return trial.end(
        .failed, "the upstream gave no answer: \(error.detail)", advice: advisor.advice(probe: error))
    }
  }

  /// The health of the upstream, if it is a gRPC server. Such a server has HTTP/2.
  private func health(_ token: BearerValue?) async -> CheckStep? {
    let isSecured = route.upstream.value.scheme == .https
    guard route.versions == .http2 || route.versions == .auto && isSecured else { return nil }
    let health = HealthTrial(route.upstream.value, token)
    let trial = CheckTrial(.health)
    do throws(FetchError) {
      let fetch = route.fetch(fetcher, tls, within: .seconds(10), versions: .http2)
      let step = health.step(try await fetch(health.request))
      return step.map { trial.end($0.verdict, $0.detail, advice: $0.advice) }
    } catch {
      // Without HTTP/2, or with another service: no gRPC server.
      return nil
    }
  }

  /// An upstream's answer about a token may repeat it.
  private static func without(_ token: BearerValue?, _ text: String) -> String {
    // Byte by byte: to a Character, a token's last letter with an accent behind it is another one.
    token.map {
      String(
        decoding: Array(text.utf8).replacing(Array($0.revealedToken().utf8), with: Array("[secret]".utf8)),
        as: UTF8.self)
    } ?? text
  }
}

extension RouteSettings {
  /// The way to the upstream for small documents, with the route's trust and proxy.
  /// - Parameter limit: limit of the wait for an answer, if that is shorter than the route's.
  /// - Parameter versions: versions of HTTP, if not the route's.
  func fetch(
    _ fetcher: Fetcher, _ tls: TLSContext?, within limit: TimeSpan? = nil, versions: UpstreamProtocol? = nil
  ) -> Fetch {
    let proxy = proxy
    return fetcher.bound(
      tls: tls, serverName: self.tls.serverName, timeout: min(timeouts.responseHead, limit ?? timeouts.responseHead),
      versions: versions ?? self.versions, proxy: { _ in proxy })
  }
}

extension ProtectedResource {
  /// The parts of the API's description that a route lacks, in its words.
  func gaps(of key: AcquisitionKey, allowed: ScopeSet) -> [String] {
    var gaps: [String] = []
    let known = key.scopes.union(allowed)
    let unasked = scopes.words.filter { scope in !known.words.contains(scope) }
    if !scopes.isEmpty, !unasked.isEmpty {
      gaps.append(
        "scopes_supported lists \(unasked.joined(separator: " ")), which the route has neither in scopes nor in "
          + "scopes_on_challenge")
    }
    let unlisted = key.scopes.words.filter { scope in !scopes.words.contains(scope) }
    if !scopes.isEmpty, !unlisted.isEmpty, !key.authority.isOfEntra {
      gaps.append("scopes_supported does not list \(unlisted.joined(separator: " ")) of the route's scopes")
    }
    if !key.authority.isOfEntra, key.parameters["resource"] == nil {
      gaps.append("the route sends no resource: an issuer that binds tokens to one needs \(resource)")
    }
    return gaps
  }
}
