// Owns the way from settings to what the broker is given: applications, and what a route wants from them.

import Configuration
import HTTPClient
import Identity
import Tokens

extension Application {
  /// The application that a configuration describes, reached through `fetch`.
  init(_ settings: ApplicationSettings, fetch: @escaping Fetch) {
    self.init(
      name: settings.name, authority: settings.authority.value, clientID: settings.clientID,
      credential: settings.clientSecret.map { .secret($0) }, capabilities: settings.clientCapabilities,
      trust: settings.caFile?.value ?? "", fetch: fetch)
  }
}

extension Settings {
  /// What a route wants; nil for a route without a token. `fetch` makes the way to an application's provider.
  func subscription(
    of route: RouteSettings, fetch: (ApplicationSettings) -> Fetch
  ) -> TokenSubscription? {
    guard case .application(let name, let scopes) = route.token, let application = application(named: name) else {
      return nil
    }
    return TokenSubscription(application: Application(application, fetch: fetch(application)), scopes: scopes)
  }
}
