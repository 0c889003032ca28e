// A route's `token` and `application` together: the token, its subject, and checks that the provider would issue it.

import HTTP
import Tokens

extension SettingsDecoder {
  private static let forms =
    "none, {account: NAME, scopes: […]}, {as: application, scopes: […]}, "
    + "{header: NAME, value_file: FILE} or {basic: {…}}"

  /// `nil` only together with an issue.
  /// - Parameter section: the section under `token`, if it is one.
  mutating func token(_ route: Section, _ section: Section?) -> RouteToken? {
    let reference = self.application(route)
    guard let node = route[.token] else { return refuse(route, that: "needs 'token': \(Self.forms)") }
    if case .scalar("none") = node.content {
      note(ConfiguredValue(route.path(.token), "none", .file(node.place, variables: [])))
      if let reference {
        report(reference, that: "has no meaning on a route with token: none")
      }
      return RouteToken.none
    }
    if case .scalar(let written) = node.content {
      return refuse(
        node, that: "is \(Self.forms), not '\(written)'", suggestion: nearestWord(to: written, among: ["none"]))
    }
    guard let section else { return nil }
    if let fixed = section.first(of: SectionShape.fixed) {
      if let reference {
        report(reference, that: "has no meaning beside '\(fixed.rawValue)': no provider gives that credential")
      }
      return fixedCredential(section).map { .fixed($0) }
    }
    return issued(route, section, reference).map { .issued($0) }
  }

  private mutating func issued(_ route: Section, _ section: Section, _ reference: Located<String>?) -> IssuedToken? {
    // An application with mistakes of its own has been reported; the route is judged without it.
    let application = reference.flatMap { applications[$0.value]?.settings }
    let parameters = tokenParameters(section, application) ?? .none
    let known = issues.count
    let subject = self.subject(section, application)
    let scopes = self.scopes(section)
    if route.members[.application] == nil {
      let only = applications.count == 1 ? applications.keys.first : nil
      report(route, that: "needs 'application': whose token it is", suggestion: only)
    }
    guard let subject, let scopes, let reference else { return nil }
    let authority = application.flatMap { tenantAuthority($0, section) }
    if section.members[.tenant] != nil, application != nil, authority == nil { return nil }
    let token = IssuedToken(
      application: reference.value, subject: subject, scopes: scopes, authority: authority, parameters: parameters)
    if let application { check(token, application, reference, section) }
    return issues.count == known ? token : nil
  }

  /// nil only together with an issue.
  private mutating func subject(_ section: Section, _ application: ApplicationSettings?) -> IssuedToken.Subject? {
    let word = section.members[.as] == nil ? .account : choice(section, .as, of: SubjectWord.self)
    if let word { reportKeys(withoutMeaningFor: word, in: section) }
    let account = scalar(section, .account)
    switch word {
    case .application: return .application
    case .account: return .account(account?.text)
    case .agent:
      let user = agentUser(account)
      reportMissing(.agent, in: section)
      return agent(section).map { .agent($0, user: user) }
    case .caller:
      guard let application else { return nil }
      return callerGrant(section, application).map { .caller($0) }
    case nil: return nil
    }
  }

  mutating func application(_ route: Section) -> Located<String>? {
    guard let scalar = scalar(route, .application), application(named: scalar) != nil else {
      return nil
    }
    return scalar.located(scalar.text)
  }

  /// The application of a name; nil together with an issue.
  mutating func application(named name: Scalar) -> DecodedApplication? {
    if let known = applications[name.text] { return known }
    return refuse(
      name, "there is no application '\(name.written)'",
      suggestion: nearestWord(to: name.text, among: applications.keys.sorted()))
  }

  /// Reports keys that concern the tokens of others.
  mutating func reportKeys(withoutMeaningFor subject: SubjectWord, in section: Section) {
    for row in section.shape.rows where !row.subjects.isEmpty && !row.subjects.contains(subject) {
      guard let node = section[row.key] else { continue }
      let subjects = row.subjects.map { "as: \($0.rawValue)" }.joined(separator: " and ")
      report(node, that: "has a meaning with \(subjects) only")
    }
  }

  /// The application's authority for the tenant that the route names; nil if it names none, or a wrong one.
  mutating func tenantAuthority(_ application: ApplicationSettings, _ section: Section) -> Authority? {
    guard let tenant = scalar(section, .tenant) else { return nil }
    do throws(AuthorityError) {
      if let authority = try application.authority.value.forTenant(tenant.text) { return authority }
      report(
        tenant,
        that: "is for Entra's tenants; the authority \(application.authority.value) of application "
          + "'\(application.name)' has none")
    } catch {
      report(tenant, reason(error, written: tenant.written))
    }
    return nil
  }

  /// nil together with an issue.
  mutating func scopes(_ section: Section) -> ScopeSet? {
    guard let scalars = list(section, .scopes) else { return ScopeSet.none }
    let scopes = scopes(of: scalars)
    return scopes.words.count == scalars.count && !scalars.isEmpty ? scopes : nil
  }

  /// Reports reasons why a provider would not issue a token to the application.
  mutating func check(
    _ token: IssuedToken, _ application: ApplicationSettings, _ reference: Located<String>, _ section: Section
  ) {
    let (authority, scopes) = (token.authority ?? application.authority.value, token.scopes)
    switch token.subject {
    case .application: checkApplication(application, authority, reference, scopes, section)
    case .account: checkAccount(application, authority, scopes, section)
    case .agent(_, let user):
      let known = issues.count
      checkAgent(application, authority, reference, section)
      if issues.count > known { return }
      if user == nil {
        checkApplication(application, authority, reference, scopes, section)
      } else {
        checkAccount(application, authority, scopes, section)
      }
    case .caller:
      if application.managedIdentity != nil {
        report(reference, "'\(application.name)' is a managed identity, which exchanges no tokens of callers")
      } else if !application.isConfidential {
        reportPublic(application, reference, neededBy: "as: caller")
      } else {
        checkAccount(application, authority, scopes, section)
        if token.agent != nil { checkAgent(application, authority, reference, section) }
      }
    }
  }

  mutating func checkApplication(
    _ application: ApplicationSettings, _ authority: Authority, _ reference: Located<String>, _ scopes: ScopeSet,
    _ section: Section
  ) {
    if application.managedIdentity != nil, scopes.resource == nil {
      report(section, .scopes, "a managed identity's token is for one resource: name one scope")
    }
    do throws(ScopeError) {
      try authority.checkForApplication(scopes)
    } catch {
      report(section, .scopes, reason(error, at: authority))
    }
    if !application.isConfidential { reportPublic(application, reference, neededBy: "as: application") }
  }

  private mutating func checkAccount(
    _ application: ApplicationSettings, _ authority: Authority, _ scopes: ScopeSet, _ section: Section
  ) {
    if application.managedIdentity != nil {
      return report(section, "a managed identity has tokens of its own alone: write as: application")
    }
    do throws(ScopeError) {
      try authority.checkForAccount(scopes)
    } catch {
      report(section, .scopes, reason(error, at: authority))
    }
  }

  private func reason(_ error: ScopeError, at authority: Authority) -> String {
    let host = authority.url.host
    return switch error {
    case .reserved(let scope): "'\(scope)' is asked for with every sign-in and is no API's scope; leave it out"
    case .defaultNotAlone(let scope): "\(host) takes '\(scope)' alone, without other scopes"
    case .severalResources(let one, let other):
      "a token is for one API, not for both \(one) and \(other); give each a route of its own"
    case .none: "name at least one scope: \(host) gives a token for one API"
    case .word(let word): "'\(word)' is not one scope"
    case .notOneScope(let count):
      "\(host) gives an application a token for exactly one '<resource>/.default', not for \(count) scopes"
    case .notDefault(let scope):
      "\(host) gives an application a token for '<resource>/.default' only, not for '\(scope)'"
    case .tenantNotSpecific:
      "the authority \(authority) names no tenant, so it has no tokens for an application itself: name one in 'tenant'"
    }
  }
}
