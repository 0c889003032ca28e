import Tokens

/// The values of an application's `redirect_uri`.
package enum RedirectURIChoice: String, Sendable, Hashable, CaseIterable {
  /// One of the application's own.
  case own
  /// The one that all applications share.
  case shared
}

/// Decides the redirect URIs of applications (RFC 9700 §4.4.2). With one authorization server there is none to be mixed
/// up with, and the shared URI, which registrations have always had, goes on working.
enum RedirectURIRule {
  /// The applications, each with the redirect URI that its sign-ins use.
  static func applied(to applications: [ApplicationSettings], routes: [RouteSettings]) -> [ApplicationSettings] {
    let servers = Set(applications.filter { signsPeopleIn($0, routes) }.map(\.authority.value.authorizationServer))
    return applications.map { application in
      var application = application
      let others = servers.subtracting([application.authority.value.authorizationServer])
      let choice = application.redirectURI ?? (others.isEmpty ? .shared : .own)
      application.callback = choice == .own ? .own(application: application.name) : .shared
      return application
    }
  }

  /// True if people sign in to an application: all do but those that only request tokens of their own.
  private static func signsPeopleIn(_ application: ApplicationSettings, _ routes: [RouteSettings]) -> Bool {
    let tokens = routes.compactMap(\.token.issued).filter { $0.application == application.name }
    return tokens.isEmpty || tokens.contains(where: \.isAccounts)
  }
}
