// Owns the way from settings to what the broker is given: applications, and what a route wants from them.

import Configuration
import HTTPClient
import Identity
import Network
import Tokens

extension Application {
  /// The application that a configuration describes, reached through `fetch`.
  init(_ settings: ApplicationSettings, version: CredentialVersion = CredentialVersion(0), fetch: @escaping Fetch) {
    self.init(
      name: settings.name, authority: settings.authority.value, clientID: settings.clientID,
      credential: settings.clientSecret.map { .secret($0) }, credentialVersion: version,
      capabilities: settings.clientCapabilities,
      trust: settings.trust, assertionPath: settings.clientAssertionFile?.value, fetch: fetch)
    secretPlacement = settings.clientAuthentication
    family = settings.usesFamilyTokens ? AzureCLI.family : nil
    callback = settings.callback
  }
}

extension ApplicationSettings {
  /// Names what the provider is trusted by: the file of authorities and what it holds, which a reload may find changed.
  fileprivate var trust: String {
    caFile.map { "\($0.value) \(contentDigest(of: $0.value) ?? [])" } ?? ""
  }
}

extension Settings {
  /// What a route wants; nil for a route without a token. `fetch` makes the way to an application's provider.
  func subscription(
    of route: RouteSettings, credentials: CredentialVersions = CredentialVersions(),
    authentication: ClientAuthenticationMemory = ClientAuthenticationMemory(), fetch: (ApplicationSettings) -> Fetch
  ) -> TokenSubscription? {
    func application(_ name: String) -> Application? {
      self.application(named: name).map {
        var application = Application($0, version: credentials[$0], fetch: fetch($0))
        application.authentication = authentication
        return application
      }
    }
    return switch route.token {
    case .none: nil
    case .application(let name, let scopes):
      application(name).map { TokenSubscription(application: $0, scopes: scopes) }
    case .account(let name, let account, let scopes):
      application(name).map { TokenSubscription(application: $0, account: account, scopes: scopes) }
    }
  }
}
