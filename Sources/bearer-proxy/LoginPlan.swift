// Owns what a sign-in asks for, worked out from the configuration: which application, which scopes, whom it expects.

import Configuration
import Tokens

/// The settings' part of a sign-in.
struct LoginPlan: Equatable {
  /// Why there is none.
  enum Problem: Error, Equatable {
    case unknownApplication(String, suggestion: String?)
    case unknownRoute(String, suggestion: String?)
    /// The route's token is nobody's.
    case routeWithoutAccount(String)

    var message: String {
      switch self {
      case .unknownApplication(let name, let nearest):
        "there is no application '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
      case .unknownRoute(let name, let nearest):
        "there is no route '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
      case .routeWithoutAccount(let name): "route '\(name)' takes no token of a person: there is nobody to sign in"
      }
    }
  }

  /// The application's name.
  var application: String
  /// What the first token is for.
  var scopes: ScopeSet
  /// What is consented to beside that.
  var extraScopes: ScopeSet
  /// The account that the routes name.
  var account: String?

  /// Works it out. An application without routes of people is signed in to for nothing in particular; one with several is
  /// signed in to for the first one's account and scopes, and consented to for the account's other routes, but where a
  /// `.default` stands, which takes no company.
  init(_ options: LoginOptions, routes: [RouteSettings], applications: [String]) throws(Problem) {
    switch options.target {
    case .route(let name):
      guard let route = routes.first(where: { $0.name == name }) else {
        throw .unknownRoute(name, suggestion: nearestWord(to: name, among: routes.map(\.name)))
      }
      guard case .account(let application, let account, let scopes) = route.token else {
        throw .routeWithoutAccount(name)
      }
      self.init(application: application, scopes: scopes, extraScopes: options.extraScopes, account: account)
    case .application(let name):
      guard applications.contains(name) else {
        throw .unknownApplication(name, suggestion: nearestWord(to: name, among: applications))
      }
      let wishes = routes.compactMap { route -> (account: String?, scopes: ScopeSet)? in
        guard case .account(name, let account, let scopes) = route.token else { return nil }
        return (account, scopes)
      }
      let first = wishes.first
      let others = wishes.filter { $0.account == first?.account }.dropFirst().map(\.scopes)
      let joined = others.reduce(ScopeSet.none) { $0.union($1) }
      let all = joined.union(first?.scopes ?? .none)
      let hasDefault = all.words.contains { $0.hasSuffix("/.default") }
      self.init(
        application: name, scopes: first?.scopes ?? .none,
        extraScopes: hasDefault ? options.extraScopes : options.extraScopes.union(joined), account: first?.account)
    }
  }

  private init(application: String, scopes: ScopeSet, extraScopes: ScopeSet, account: String?) {
    self.application = application
    self.scopes = scopes
    self.extraScopes = extraScopes
    self.account = account
  }
}
