// A route's `token` with `as: caller`: the exchange of the caller's own token, and the check that callers bring one.

import Bytes
import HTTP
import Routing
import Tokens

extension SettingsDecoder {
  /// The grant: the provider's own, unless one is chosen. Nil only together with an issue.
  mutating func callerGrant(_ section: Section, _ application: ApplicationSettings) -> CallerGrantSettings? {
    let chosen = choice(section, .grant, of: CallerGrantSettings.Word.self)
    if chosen == nil, section.members[.grant] != nil { return nil }
    guard let word = chosen ?? usualGrant(application.authority.value) else {
      return refuse(section, "\(application.authority.value.url.host) (Azure AD B2C) exchanges no tokens of callers")
    }
    var allowed: [Key] = [.grant]
    switch word {
    case .onBehalfOf: allowed += [.agent]
    case .jwtBearer: break
    case .tokenExchange: allowed += [.subjectTokenType, .requestedTokenType, .actor]
    case .idJAG: allowed += [.subjectTokenType, .actor, .resourceApplication]
    }
    for row in section.shape.rows where row.subjects.contains(.caller) && !allowed.contains(row.key) {
      if let node = section[row.key] { report(node, that: "has no meaning with grant: \(word.rawValue)") }
    }
    let terms = exchangeTerms(section, word)
    switch word {
    case .onBehalfOf: return .onBehalfOf(agent: agent(section))
    case .jwtBearer: return .jwtBearer
    case .tokenExchange: return .tokenExchange(terms)
    case .idJAG:
      return resourceApplication(section, application).map {
        .identityAssertion(terms, resourceApplication: $0)
      }
    }
  }

  private func usualGrant(_ authority: Authority) -> CallerGrantSettings.Word? {
    switch authority.kind {
    case .entra, .ciam, .adfs: .onBehalfOf
    case .b2c: nil
    case .issuer: .tokenExchange
    }
  }

  private mutating func exchangeTerms(_ section: Section, _ word: CallerGrantSettings.Word) -> ExchangeTerms {
    let subject = tokenType(section, .subjectTokenType)
    let requested = tokenType(section, .requestedTokenType)
    var terms = ExchangeTerms(
      subjectType: subject ?? TokenTypeURN.accessToken,
      requestedType: word == .idJAG ? TokenTypeURN.identityAssertion : requested)
    // An ID token, or one for more tokens, is for no API.
    if word == .tokenExchange, let requested, ![TokenTypeURN.accessToken, TokenTypeURN.jwt].contains(requested) {
      report(
        section, .requestedTokenType,
        "'\(requested)' is no token for an API: write "
          + "\(TokenTypeURN.accessToken) or \(TokenTypeURN.jwt), or leave it out")
    }
    if let inner = self.section(section, .actor) {
      let type = tokenType(inner, .type) ?? TokenTypeURN.jwt
      terms.actor = path(inner, .file).map { ExchangeTerms.ActorFile(path: $0.value, type: type) }
    }
    return terms
  }

  /// The name of a kind of tokens: a URI (RFC 8693 §3).
  private mutating func tokenType(_ section: Section, _ key: Key) -> String? {
    guard let scalar = scalar(section, key) else { return nil }
    if scalar.text.contains(":"), scalar.text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) { return scalar.text }
    return refuse(scalar, that: "is a URI such as \(TokenTypeURN.accessToken), not '\(scalar.written)'")
  }

  private mutating func resourceApplication(_ section: Section, _ application: ApplicationSettings) -> String? {
    guard let scalar = requiredScalar(section, .resourceApplication) else { return nil }
    guard let other = self.application(named: scalar) else { return nil }
    if let settings = other.settings,
      settings.managedIdentity != nil || settings.authority.value == application.authority.value
    {
      return refuse(
        scalar,
        "'\(scalar.written)' has to be the application at the authorization server of the API, which is "
          + "another one than \(application.authority.value)")
    }
    return scalar.text
  }

  /// Reports each route that exchanges callers' tokens behind a listener that does not demand one.
  mutating func reportCallersWithoutToken() {
    for route in routes where route.token.isCallers {
      for (index, listener) in listeners.enumerated()
      where listener.callers.rules.bearer == nil && programSections[index] == nil && listener.reaches(route) {
        report(
          route.place,
          "route '\(route.name)' exchanges its callers' tokens (as: caller), and the listener "
            + "\(listener.address.value) on line \(listener.address.place.line) demands none: set 'callers: {bearer: "
            + "…}' there")
      }
    }
  }
}

extension ListenerSettings {
  /// True if requests for a route can come in here, by the names that the listener accepts.
  fileprivate func reaches(_ route: RouteSettings) -> Bool {
    guard let host = route.host, case .names(let names) = hosts else { return true }
    guard let own = address.value.ipAddress else { return names.isEmpty || names.contains(host) }
    return names.contains(host) || host == address.value.host || own.isLoopback && host == "localhost"
  }
}
