// Owns what a route's `token` and `application` mean together: which token, whose, and whether that provider would give
// it.

import HTTP
import Tokens

extension SettingsDecoder {
  /// `nil` only together with an issue.
  mutating func token(_ route: Section, applications: [String: DecodedApplication]) -> RouteToken? {
    let reference = self.application(route, among: applications)
    guard let node = route[.token] else {
      report(
        route.place, "\(route.path) needs 'token': none, or {as: application, scopes: […]}")
      return nil
    }
    if case .scalar("none") = node.content {
      if let reference {
        report(reference.place, "\(reference.key) has no meaning on a route with token: none")
      }
      return RouteToken.none
    }
    if case .scalar(let written) = node.content {
      report(
        node.place, "\(route.path(.token)) is none, or {as: application, scopes: […]}, not '\(written)'",
        suggestion: nearestWord(to: written, among: ["none"]))
      return nil
    }
    guard let section = section(route, .token) else { return nil }
    let isAvailable = checkSubject(section)
    let scopes = self.scopes(section)
    if route.members[.application] == nil {
      let only = applications.count == 1 ? applications.keys.first : nil
      report(route.place, "\(route.path) needs 'application': whose token it is", suggestion: only)
    }
    guard isAvailable, let scopes, let reference else { return nil }
    return checkProvider(of: reference, scopes: scopes, section: section, applications: applications)
      ? .application(name: reference.value, scopes: scopes) : nil
  }

  private mutating func application(
    _ route: Section, among applications: [String: DecodedApplication]
  ) -> Located<String>? {
    guard let scalar = scalar(route, .application) else { return nil }
    guard applications[scalar.text] == nil else { return scalar.located(scalar.text) }
    report(
      scalar.place, "\(scalar.key): there is no application '\(scalar.written)'",
      suggestion: nearestWord(to: scalar.text, among: applications.keys.sorted()))
    return nil
  }

  /// Whose token it is: so far only the application's own.
  private mutating func checkSubject(_ section: Section) -> Bool {
    guard let scalar = scalar(section, .as) else {
      if section.members[.as] == nil {
        report(
          section.place,
          "\(section.path) needs 'as: application'; as: account, the default, is not available in this version")
      }
      return false
    }
    switch scalar.text {
    case "application": return true
    case "account", "caller":
      report(scalar.place, "\(scalar.key): '\(scalar.text)' is not available in this version; use 'application'")
    default:
      report(
        scalar.place, "\(scalar.key) is application, not '\(scalar.written)'",
        suggestion: nearestWord(to: scalar.written, among: ["application"]))
    }
    return false
  }

  private mutating func scopes(_ section: Section) -> ScopeSet? {
    guard let scalars = list(section, .scopes) else { return ScopeSet.none }
    var words: [String] = []
    var areRight = !scalars.isEmpty
    for scalar in scalars {
      do throws(ScopeSetError) {
        _ = try ScopeSet([scalar.text])
        words.append(scalar.text)
      } catch {
        areRight = false
        report(scalar.place, "\(scalar.key): '\(scalar.written)' is not one scope (no blanks, quotes, backslashes)")
      }
    }
    guard areRight else { return nil }
    do throws(ScopeSetError) {
      return try ScopeSet(words)
    } catch {
      preconditionFailure("each word was a scope of its own")
    }
  }

  private mutating func checkProvider(
    of reference: Located<String>, scopes: ScopeSet, section: Section, applications: [String: DecodedApplication]
  ) -> Bool {
    // An application with mistakes of its own has been reported; the route is judged without it.
    guard let application = applications[reference.value]?.settings else { return true }
    var isRight = true
    do throws(ScopeRuleError) {
      try application.authority.value.checkForApplication(scopes)
    } catch {
      isRight = false
      let place = section[.scopes]?.place ?? section.place
      report(place, "\(section.path(.scopes)): \(reason(error, application: application))")
    }
    if application.clientSecret == nil {
      isRight = false
      report(
        reference.place,
        "\(reference.key): application '\(application.name)' has no client_secret or client_secret_file, which as: "
          + "application needs")
    }
    return isRight
  }

  private func reason(_ error: ScopeRuleError, application: ApplicationSettings) -> String {
    let host = application.authority.value.url.host
    return switch error {
    case .notOneScope(let count):
      "\(host) gives an application a token for exactly one '<resource>/.default', not for \(count) scopes"
    case .notDefault(let scope):
      "\(host) gives an application a token for '<resource>/.default' only, not for '\(scope)'"
    case .tenantNotSpecific:
      "the authority \(application.authority.value) names no tenant, so it has no tokens for an application itself"
    }
  }
}
