// Owns `token`: what silent acquisition gives a route, shown to a person or a program. The token itself only on demand.

import Configuration
import HTTPClient
import Identity
import Network
import Tokens

/// Obtains a route's token as the proxy would and says what came of it.
struct TokenCommand {
  let options: TokenOptions
  let environment: [String: String]
  /// Makes the ways to the providers of a configuration's applications.
  var providers: (Settings) throws(ConfigurationError) -> (ApplicationSettings) -> Fetch = TokenCommand.network
  /// The wall clock.
  var now: @Sendable () -> UnixTime = { UnixTime(WallClock.now.seconds) }

  /// What to say, and how to end.
  struct Answer: Equatable {
    var text: String
    var status: ExitStatus
  }

  /// Obtains the token and says so: what a program reads goes to standard output, whatever it says.
  func perform() async -> ExitStatus {
    let answer = await answer()
    if answer.status == .done || (options.form == .json && answer.status != .usage) {
      say(answer.text)
    } else {
      complain(answer.text)
    }
    return answer.status
  }

  /// Obtains the token.
  func answer() async -> Answer {
    let settings: Settings
    let fetch: (ApplicationSettings) -> Fetch
    do throws(ConfigurationError) {
      settings = try Settings.load(file: options.configuration, environment: environment)
      try checkCache(of: settings)
      fetch = try providers(settings)
    } catch {
      return Answer(text: "\(error)\n", status: .usage)
    }
    guard let route = settings.routes.first(where: { $0.name == options.route }) else {
      return usage(unknownRoute(in: settings))
    }
    guard let subscription = settings.subscription(of: route, fetch: fetch) else {
      return usage("route '\(route.name)' adds no token")
    }
    let path = settings.cache.place ?? ""
    let store = await openCache(settings.cache) { event in
      if case .failed(let error, _, isNews: true) = event {
        complain("bearer-proxy: warning: \(error.description(path: path))\n")
      }
    }
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: now, patience: TokenBroker.endlessPatience), store: store)
    do throws(AcquisitionError) {
      let report = TokenReport(
        route: route.name, subscription: subscription, value: try await broker.bearer(for: subscription), now: now(),
        reveal: options.reveal)
      return Answer(text: options.form == .json ? report.json : report.text, status: .done)
    } catch {
      return Answer(text: failure(error, subscription), status: error.exitStatus)
    }
  }

  /// One loop, and the trust of each application.
  static func network(_ settings: Settings) throws(ConfigurationError) -> (ApplicationSettings) -> Fetch {
    let contexts = try TLSContexts(settings)
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop()
    } catch {
      preconditionFailure("the system gives no event loop: \(error.description)")
    }
    return Providers(settings, contexts: contexts, fetcher: Fetcher(loop: loop, resolver: Resolver())).fetch
  }

  private func unknownRoute(in settings: Settings) -> String {
    let nearest = nearestWord(to: options.route, among: settings.routes.map(\.name))
    return "\(options.configuration) has no route '\(options.route)'"
      + (nearest.map { "; did you mean '\($0)'?" } ?? "")
  }

  private func usage(_ message: String) -> Answer {
    Answer(text: "bearer-proxy: error: \(message)\n", status: .usage)
  }

  private func failure(_ error: AcquisitionError, _ subscription: TokenSubscription) -> String {
    switch options.form {
    case .text:
      "bearer-proxy: error: no token for route '\(options.route)': \(error.reason): "
        + "\(error.detail.printable(limit: 4000))\n\(cure(of: error))"
    case .json: JSONValue.object(members(error, subscription)).canonicalText() + "\n"
    }
  }

  /// What to do, where a person can.
  private func cure(of error: AcquisitionError) -> String {
    guard case .interactionRequired(let required) = error else { return "" }
    if required.reason == .accountAmbiguous {
      return "Name one of those that 'bearer-proxy accounts' lists under the route's token, as 'account'.\n"
    }
    return "Sign in with: bearer-proxy login -c \(options.configuration) --route \(options.route)\n"
  }

  private func members(_ error: AcquisitionError, _ subscription: TokenSubscription) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "route": .string(options.route), "application": .string(subscription.application.name),
      "authority": .string(subscription.key.authority.description), "error": .string(error.reason),
      "detail": .string(error.detail), "retry_after": .integer(error.retryAfter),
    ]
    if case .interactionRequired(let required) = error {
      members["reason"] = .string(required.reason.rawValue)
      members["scopes"] = .array(required.scopes.words.map(JSONValue.string))
      members["claims"] = required.claims.map { .string($0.text) }
      members["account"] = required.accountName.map(JSONValue.string)
    }
    return members
  }
}

extension AcquisitionError {
  /// How a command ends that met this.
  var exitStatus: ExitStatus {
    isInteractionRequired ? .interactionRequired : .failed
  }
}
