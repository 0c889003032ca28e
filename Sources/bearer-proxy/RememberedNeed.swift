// Owns what `login --route` picks up of the refusals that a running proxy has met, and its end when the sign-in has brought it.

import Configuration
import Identity
import Tokens

/// What a route's API, or the provider, wants a sign-in to bring.
struct RememberedNeed {
  private let memory: ChallengeMemory
  private let route: String
  private let need: SignInNeed

  /// The need of the route that is signed in for; nil where there is none.
  init?(
    _ target: LoginOptions.Target, _ plan: LoginPlan, _ application: Application, _ cache: CacheSettings,
    _ store: any TokenCacheStore,
    now: @escaping @Sendable () -> UnixTime
  ) async {
    guard case .route(let name) = target else { return nil }
    let wish = TokenSubscription(application: application, account: plan.account, scopes: plan.scopes)
    guard let memory = ChallengeMemory(of: cache, store, subscriptions: [name: wish], now: now) else { return nil }
    self.memory = memory
    route = name
    guard let need = await memory.need(of: name) else { return nil }
    self.need = need
  }

  /// Asks for it. What the command line says counts where both say something.
  func add(to request: inout SignInRequest) {
    if let claims = need.claims { request.claims = request.claims.map { claims.merged(with: $0) } ?? claims }
    // A `.default` takes no company in one token.
    if request.scopes.words.contains(where: { $0.hasSuffix("/.default") }) {
      request.extraScopes = request.extraScopes.union(need.scopes)
    } else {
      request.scopes = request.scopes.union(need.scopes)
    }
    request.authenticationContexts = need.authenticationContexts
    request.maxAge = request.maxAge ?? need.maxAge
  }

  /// What the person is told.
  var words: String {
    "Requests to '\(route)' were refused for want of \(need.words): this sign-in asks for that.\n"
  }

  /// Has it forgotten, here and by the proxies that share the cache.
  func isMet() async {
    await memory.met(by: need, routes: [route])
  }
}
