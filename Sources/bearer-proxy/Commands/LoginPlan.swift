import Bytes
import Configuration
import Identity
import Tokens

/// The settings' part of a sign-in.
struct LoginPlan {
  /// The first token: account, tenant and parameters are those of all.
  let token: IssuedToken
  /// The routes that get their tokens from this sign-in.
  let routes: [RouteSettings]
  /// More scopes to consent to.
  let extraScopes: ScopeSet

  var account: String? { if case .account(let name) = token.subject { name } else { nil } }

  /// Works it out. An application without routes of people is signed in to for nothing in particular; one with several
  /// is signed in to for the first one's account and scopes. The account's other routes are consented to as well,
  /// unless there is a `.default`, which cannot be combined with other scopes.
  init(_ command: LoginCommand, routes: [RouteSettings], applications: [String]) throws(CommandError) {
    let people = routes.compactMap { route in route.token.issued.map { (route: route, token: $0) } }
      .filter(\.token.isAccounts)
    let served: [(route: RouteSettings, token: IssuedToken)]
    switch command.target {
    case .route(let name):
      guard routes.contains(where: { $0.name == name }) else {
        throw .unknown("route", name, among: routes.map(\.name), in: command.configuration)
      }
      served = people.filter { $0.route.name == name }
      guard let first = served.first else {
        throw .usage("\(command.configuration): route '\(name)' takes no person's token: no sign-in is needed")
      }
      token = first.token
    case .application(let name):
      guard applications.contains(name) else {
        throw .unknown("application", name, among: applications, in: command.configuration)
      }
      let first =
        people.first { $0.token.application == name }?.token
        ?? IssuedToken(application: name, subject: .account(nil), scopes: .none)
      token = first
      // Those that differ in their scopes alone: consent in one tenant is none in another.
      served = people.filter { entry in
        var other = entry.token
        other.scopes = first.scopes
        return other == first
      }
    }
    let others = served.dropFirst().reduce(ScopeSet.none) { $0.union($1.token.scopes) }
    let hasDefault = served.contains { $0.token.scopes.words.contains { $0.hasSuffix("/.default") } }
    extraScopes = hasDefault ? command.extraScopes : command.extraScopes.union(others)
    self.routes = served.map(\.route)
  }
}

/// A name of the configuration, and what people read instead of it.
struct ShownName: Equatable {
  /// The name for people.
  var shown: String
  /// The name for operators, who need it for the next command.
  var both: String

  init(_ name: String, _ displayName: String?) {
    shown = displayName ?? name
    both = displayName.map { "\($0) (\(name))" } ?? name
  }
}

/// The person who is to sign in.
struct LoginExpectation: Equatable {
  /// Whose tokens alone are kept: a user name or an id; nil: any account's.
  var account: String?
  var hint: String?
  var prompt: Prompt?

  /// True if it has to be asked if the right person signed in.
  var isOpen: Bool { account == nil }

  /// Works it out.
  /// - Parameters:
  ///   - named: the account that the configuration names.
  ///   - hint: who the command line says is expected.
  ///   - people: those who are signed in.
  init(named: String?, hint: String?, prompt: Prompt?, people: [CachedAccount]) {
    self.prompt = prompt
    if let named {
      account = named
      let known = people.first { $0.isCalled(named) }
      // An id says nothing to a provider's page.
      self.hint = hint ?? known.flatMap(Self.hint) ?? (named.contains("@") ? named : nil)
    } else if hint == nil, prompt != .selectAccount, prompt != .create, people.count == 1 {
      account = people[0].homeAccountID
      self.hint = Self.hint(people[0])
    } else {
      // Another person is wanted, or any.
      self.hint = hint
      if hint == nil, prompt == nil, !people.isEmpty { self.prompt = .selectAccount }
    }
  }

  private static func hint(_ account: CachedAccount) -> String? {
    account.username.isEmpty ? nil : account.username
  }
}

/// The claims that a route's API, or the provider, demands of a sign-in.
struct RememberedRequirement {
  private let memory: SignInRequirements
  private let route: String
  private let need: SignInRequirement

  /// The need of the route that is signed in for; nil if there is none.
  init?(
    _ target: LoginCommand.Target, _ plan: LoginPlan, _ application: Application, _ store: CacheStore,
    now: @escaping @Sendable () -> UnixTime
  ) async {
    guard case .route(let name) = target else { return nil }
    let wish = TokenSubscription(
      application: application, subject: .account(plan.account), scopes: plan.token.scopes,
      parameters: plan.token.parameters)
    memory = SignInRequirements(beside: store, subscriptions: [name: wish], now: now)
    route = name
    guard let need = await memory.requirement(of: name) else { return nil }
    self.need = need
  }

  /// Adds it to the terms. The command line takes precedence.
  func add(to terms: inout SignInTerms) {
    if let claims = need.claims { terms.claims = terms.claims.map { claims.merged(with: $0) } ?? claims }
    // A `.default` takes no company in one token.
    if terms.scopes.words.contains(where: { $0.hasSuffix("/.default") }) {
      terms.extraScopes = terms.extraScopes.union(need.scopes)
    } else {
      terms.scopes = terms.scopes.union(need.scopes)
    }
    terms.authenticationContexts = need.authenticationContexts
    terms.maxAge = terms.maxAge ?? need.maxAge
  }

  /// The explanation for the person.
  var words: String {
    "Requests to '\(route)' were refused for want of \(need.words): this sign-in asks for that.\n"
  }

  /// Has it forgotten, here and by the proxies that share the cache.
  func isMet() async { await memory.met(by: need, routes: [route]) }
}
