// The application whose own tokens open a Redis server: Azure Managed Redis takes them in the place of a password.

import Configuration
import HTTPClient
import Identity
import Platform
import Tokens

/// An application's tokens for the server of the cache. A reload may change its credential.
final class CacheEntrance: Sendable {
  private struct State {
    var subscription: @Sendable (Fetcher) -> TokenSubscription
    var versions: CredentialVersions
    var opened: (tokens: RedisTokens, fetcher: Fetcher)?
  }

  private let name: String
  private let user: String?
  private let state: Locked<State>

  /// nil if a password opens the server, or nothing does.
  init?(_ settings: Settings, _ contexts: TLSContexts, _ certificates: SigningCertificates) {
    guard case .redis(let redis) = settings.cache, let name = redis.entra?.value else { return nil }
    var versions = CredentialVersions()
    guard let subscription = Self.subscription(name, settings, contexts, certificates, &versions) else { return nil }
    (self.name, user) = (name, redis.server.value.user)
    state = Locked(State(subscription: subscription, versions: versions))
  }

  /// Begins to request tokens.
  func open(_ fetcher: Fetcher, observe: @escaping @Sendable (TokenEvent) -> Void) -> RedisTokens {
    state.withLock { state in
      let tokens = RedisTokens(
        state.subscription(fetcher), user: user, TokenBroker.Surroundings(now: { .now }, observe: observe))
      state.opened = (tokens, fetcher)
      return tokens
    }
  }

  /// Requests tokens with the credential of another configuration from now on.
  func follow(_ configuration: LoadedConfiguration) {
    let change = state.withLock { state in
      guard
        let subscription = Self.subscription(
          name, configuration.settings, configuration.contexts, configuration.certificates, &state.versions)
      else { return (RedisTokens, TokenSubscription)?.none }
      state.subscription = subscription
      return state.opened.map { ($0.tokens, subscription($0.fetcher)) }
    }
    if let (tokens, subscription) = change { tokens.follow(subscription) }
  }

  /// nil if a reloaded configuration no longer has the application: that needs a restart.
  private static func subscription(
    _ name: String, _ settings: Settings, _ contexts: TLSContexts, _ certificates: SigningCertificates,
    _ versions: inout CredentialVersions
  ) -> (@Sendable (Fetcher) -> TokenSubscription)? {
    guard let application = settings.application(named: name) else { return nil }
    versions.follow([application], certificates)
    let version = versions[application]
    return { fetcher in
      let providers = Providers(contexts: contexts, fetcher: fetcher)
      return TokenSubscription(
        application: Application(
          application, credential: certificates.credential(of: application, fetch: providers.fetch), version: version,
          fetch: providers.fetch(application)), scopes: .azureRedis)
    }
  }
}
