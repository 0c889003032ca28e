// `check --live`: tries the cache and each link of each route's chain, and measures it. CheckAdvice and CheckStep have
// the cures for what it finds.

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

extension LiveCheck {
  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let loaded = try context.configuration(configuration)
    if let name = route { _ = try loaded.settings.route(name, in: configuration) }
    let report = await report(loaded, try context.network(), in: context)
    return CommandAnswer(
      text: form == .json ? report.json : report.text, status: report.verdict.exitStatus, stream: .output)
  }

  private func report(
    _ loaded: LoadedConfiguration, _ network: CommandNetwork, in context: CommandContext
  ) async -> LiveCheckReport {
    let settings = loaded.settings
    let providers = context.providers(loaded, network)
    let clocks = Dictionary(uniqueKeysWithValues: settings.applications.map { ($0.name, ProviderClock()) })
    let fetch = { (application: ApplicationSettings) -> Fetch in
      let fetch = providers(application)
      return clocks[application.name]?.watching(fetch, now: context.now) ?? fetch
    }
    // Together with the way to the cache, which explains why no account is found.
    let (cache, store) = await CacheCheck(
      cache: loaded.cache, loop: network.loop, resolver: network.resolver
    ).check()
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: context.now, patience: TokenBroker.endlessPatience), store: store)
    var credentials = CredentialVersions()
    credentials.follow(settings.applications, loaded.certificates)
    let handOut = settings.listeners.first { $0.handOut == .proxies }.map {
      HandOutTrial(listener: $0, fetcher: network.fetcher)
    }
    let chosen = settings.routes.enumerated().filter { route == nil || $0.element.name == route }
    // Side by side: one host that does not answer is not to hold up the others.
    let checked = await withTaskGroup(of: (Int, CheckedRoute).self) { group in
      for (index, route) in chosen {
        let application = route.application.flatMap { settings.application(named: $0) }
        let chain = RouteChain(
          route: route, application: application,
          subscription: loaded.subscription(of: route.token.issued, credentials: credentials, fetch: fetch)?
            .asTrial(),
          probe: probe ?? route.probe, tls: loaded.contexts.routes[index], broker: broker,
          fetcher: network.fetcher, provider: application.map(fetch) ?? network.fetcher.bound(tls: nil),
          providerClock: route.application.flatMap { clocks[$0] } ?? ProviderClock(),
          pageRedirectURIs: { settings.pageRedirectURIs($0) },
          connectionProbe: ConnectionProbe(loop: network.loop, resolver: network.resolver),
          advisor: loaded.advice(
            for: route, OperatorCommands(settings, cache: settings.cache, configuration: configuration)),
          handOut: route.tokenRules.isHandedOut ? handOut : nil)
        group.addTask { (index, await chain.check()) }
      }
      var checked: [(Int, CheckedRoute)] = []
      for await result in group { checked.append(result) }
      return checked.sorted { $0.0 < $1.0 }.map(\.1)
    }
    await context.keep(store, in: loaded.cache)
    return LiveCheckReport(
      file: configuration, routes: checked, cache: cache,
      certificates: loaded.watched.report.compactMap { $0.step(at: context.now()) })
  }
}

extension Settings {
  /// The redirect URIs of the sign-in pages that have a known address.
  fileprivate func pageRedirectURIs(_ callback: CallbackPath) -> [String] {
    listeners.compactMap { listener in
      let address = listener.address.value
      if address.ipAddress != nil, address.port == 0, listener.signIn?.publicURL == nil { return nil }
      return SignInOrigin(listener)?.redirectURI(callback)
    }
  }
}

extension WatchedCertificate {
  /// The step of `check --live`; nil if its dates are right. Callers trust no listener that shows one that has ended.
  /// The steps that reach other sides check their certificates.
  fileprivate func step(at now: UnixTime) -> CheckStep? {
    guard let warning = warning(at: now) else { return nil }
    var isFailure = false
    if case .listener = use { isFailure = [.expired, .notYetValid].contains(validity.state(at: now)) }
    return CheckStep(
      name: .certificate, verdict: isFailure ? .failed : .ok, detail: "\(name): \(warning)",
      advice: cure(at: now).words())
  }
}
