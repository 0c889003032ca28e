// Owns `token`: what silent acquisition gives a route, shown to a person or a program. The token itself only on demand.

import Configuration
import HTTPClient
import Identity
import Tokens

/// Obtains a route's token as the proxy would and says what came of it.
struct TokenCommand {
  let options: TokenOptions
  let environment: [String: String]
  /// Reaches an application's provider.
  let fetch: (ApplicationSettings) -> Fetch
  /// The wall clock.
  let now: @Sendable () -> UnixTime

  /// What to say, and how to end.
  struct Answer: Equatable {
    var text: String
    var status: ExitStatus
  }

  /// Obtains the token.
  func answer() async -> Answer {
    let settings: Settings
    do throws(ConfigurationError) {
      settings = try Settings.load(file: options.configuration, environment: environment)
    } catch {
      return Answer(text: "\(error)\n", status: .usage)
    }
    guard let route = settings.routes.first(where: { $0.name == options.route }) else {
      return usage(unknownRoute(in: settings))
    }
    guard let subscription = settings.subscription(of: route, fetch: fetch) else {
      return usage("route '\(route.name)' adds no token")
    }
    let broker = TokenBroker(TokenBroker.Surroundings(now: now))
    do throws(AcquisitionError) {
      let report = TokenReport(
        route: route.name, subscription: subscription, value: try await broker.bearer(for: subscription), now: now(),
        reveal: options.reveal)
      return Answer(text: options.form == .json ? report.json : report.text, status: .done)
    } catch {
      return Answer(text: failure(error, subscription), status: .failed)
    }
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
    case .text: "bearer-proxy: error: no token for route '\(options.route)': \(error.reason): \(error.detail)\n"
    case .json:
      JSONValue.object([
        "route": .string(options.route), "application": .string(subscription.application.name),
        "authority": .string(subscription.key.authority.description), "error": .string(error.reason),
        "detail": .string(error.detail), "retry_after": .integer(error.retryAfter),
      ]).canonicalText() + "\n"
    }
  }
}
