// What a route's `token` says of a choice per request: the field, and the tokens that its values stand for.

import Bytes
import HTTP
import Tokens

extension SettingsDecoder {
  /// The choice that a route offers; nil where it offers none, or only together with an issue.
  mutating func tokenChoice(
    _ section: Section, _ token: RouteToken?, at authority: Authority?, applications: [String: DecodedApplication]
  ) -> TokenChoiceSettings? {
    guard let choice = self.section(section, .choice) else { return nil }
    let field = requiredScalar(choice, .field)
    let entries = namedSections(choice, .values)
    if choice.members[.values] == nil { reportMissing(.values, in: choice) }
    guard let field, let token else { return nil }
    guard FieldName.isName(field.text), FieldName(Array(field.text.utf8).span) == .other else {
      report(field.place, "\(field.key): '\(field.written)' is no name for a field of your own, such as X-Account")
      return nil
    }
    var tokens: [String: TokenChoiceSettings.Entry] = [:]
    for (name, section) in entries {
      guard let section else { continue }
      tokens[name] = variant(of: token, at: authority, section, applications)
    }
    return tokens.count == entries.count && !tokens.isEmpty
      ? TokenChoiceSettings(field: field.text, tokens: tokens) : nil
  }

  /// The route's token with what an entry says instead.
  private mutating func variant(
    of token: RouteToken, at usualAuthority: Authority?, _ section: Section,
    _ applications: [String: DecodedApplication]
  ) -> TokenChoiceSettings.Entry? {
    let account = scalar(section, .account)
    let scopes = section.members[.scopes] == nil ? nil : self.scopes(section)
    if section.members[.scopes] != nil, scopes == nil { return nil }
    let authority = token.application.flatMap { applications[$0]?.settings }.flatMap { tenantAuthority($0, section) }
    if section.members[.tenant] != nil, authority == nil { return nil }
    if let account {
      guard case .account = token else {
        report(account.place, "\(account.key) has a meaning with as: account only")
        return nil
      }
    }
    guard account != nil || scopes != nil || authority != nil else {
      report(section.place, "\(section.path) says nothing else than the route: name an account, a tenant or scopes")
      return nil
    }
    let place = authority ?? usualAuthority
    if let scopes, !checkScopes(scopes, of: token, at: place, section, applications) { return nil }
    let other: RouteToken =
      switch token {
      case .none: .none
      case .application(let name, let usual): .application(name: name, scopes: scopes ?? usual)
      case .account(let application, let usualAccount, let usual):
        .account(application: application, account: account?.text ?? usualAccount, scopes: scopes ?? usual)
      case .caller(let application, let grant, let usual):
        .caller(application: application, grant: grant, scopes: scopes ?? usual)
      }
    return TokenChoiceSettings.Entry(token: other, authority: place)
  }
}
