// Owns `check --live`: tries the cache and each link of each route's chain, and measures it. What follows from what was found is said by
// CheckAdvice and CheckStep.

import Configuration
import HTTP
import HTTPClient
import Identity
import Network
import Tokens

/// What `check --live` was told.
struct LiveCheckOptions: Equatable {
  /// The configuration file.
  var configuration: String
  /// The only route to try; nil: every one.
  var route: String?
  /// What to ask the upstreams for, instead of what the routes say.
  var probe: String?
  /// How to answer.
  var form: OutputForm
}

/// Tries what a configuration says.
struct LiveCheck {
  let options: LiveCheckOptions
  let environment: [String: String]

  /// Tries it, and says what came of it on standard output.
  func perform() async -> ExitStatus {
    let settings: Settings
    let contexts: TLSContexts
    do throws(ConfigurationError) {
      settings = try Settings.load(file: options.configuration, environment: environment)
      contexts = try TLSContexts(settings)
      try checkCache(of: settings)
    } catch {
      return CommandAnswer(text: "\(error)\n", status: .usage).perform()
    }
    if let name = options.route, !settings.routes.contains(where: { $0.name == name }) {
      let nearest = nearestWord(to: name, among: settings.routes.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
      return CommandAnswer.usage("\(options.configuration) has no route '\(name)'\(nearest)").perform()
    }
    guard let loop = startLoops(1)?.first else { return .failed }
    let report = await report(settings, contexts, loop)
    say(options.form == .json ? report.json : report.text)
    return report.verdict.exitStatus
  }

  private func report(_ settings: Settings, _ contexts: TLSContexts, _ loop: EventLoop) async -> LiveCheckReport {
    let resolver = Resolver()
    let fetcher = Fetcher(loop: loop, resolver: resolver)
    let providers = Providers(settings, contexts: contexts, fetcher: fetcher)
    // Together with the way to the cache: whoever finds nobody there is to know why.
    let (cache, store) = await CacheCheck(settings: settings.cache, loop: loop, resolver: resolver).check()
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: { .now }, patience: TokenBroker.endlessPatience), store: store)
    var credentials = CredentialVersions()
    credentials.follow(settings.applications)
    let chosen = settings.routes.enumerated().filter { options.route == nil || $0.element.name == options.route }
    // Side by side: one host that does not answer is not to hold up the others.
    let checked = await withTaskGroup(of: (Int, CheckedRoute).self) { group in
      for (index, route) in chosen {
        let chain = RouteChain(
          route: route, application: route.application.flatMap { settings.application(named: $0) },
          subscription: settings.subscription(of: route, credentials: credentials, fetch: providers.fetch)?.asTrial(),
          probe: options.probe ?? route.probe,
          tls: contexts.routes[index], configuration: options.configuration, broker: broker, fetcher: fetcher,
          connectionProbe: ConnectionProbe(loop: loop, resolver: resolver))
        group.addTask { (index, await chain.check()) }
      }
      var checked: [(Int, CheckedRoute)] = []
      for await result in group { checked.append(result) }
      return checked.sorted { $0.0 < $1.0 }.map(\.1)
    }
    return LiveCheckReport(file: options.configuration, routes: checked, cache: cache)
  }
}

extension RouteSettings {
  /// The application whose token it adds.
  fileprivate var application: String? {
    switch token {
    case .none: nil
    case .application(let name, _), .account(let name, _, _): name
    }
  }
}
