// A choice of tokens per request: the field, and the token for each of its values.

import Bytes
import HTTP
import Tokens

extension SettingsDecoder {
  /// The choice that a route offers; nil if it offers none, or with an issue.
  mutating func tokenChoice(
    _ section: Section, _ token: RouteToken?, at authority: Authority?, applications: [String: DecodedApplication]
  ) -> TokenChoiceSettings? {
    guard let choice = self.section(section, .choice) else { return nil }
    let field = scalar(choice, .field)
    let entries = namedSections(choice, .values)
    guard let field, let token else { return nil }
    guard FieldName.isName(field.text), FieldName(Array(field.text.utf8).span) == .other else {
      return refuse(field, "'\(field.written)' is no name for a field of your own, such as X-Account")
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
    let known = issues.count
    let application = token.application.flatMap { applications[$0]?.settings }
    let account = scalar(section, .account)
    let scopes = section.members[.scopes] == nil ? nil : self.scopes(section)
    let authority = application.flatMap { tenantAuthority($0, section) }
    let agent = self.agent(section)
    if issues.count > known { return nil }
    var other = token
    switch token {
    case .none, .fixed: break
    case .application(let name, let usual): other = .application(name: name, scopes: scopes ?? usual)
    case .account(let name, let usualAccount, let usual):
      other = .account(application: name, account: account?.text ?? usualAccount, scopes: scopes ?? usual)
    case .agent(let name, let usualAgent, let usualUser, let usual):
      let user = agentUser(account)
      // An agent's user is no other agent's.
      other = .agent(
        application: name, agent: agent ?? usualAgent, user: agent == nil ? user ?? usualUser : user,
        scopes: scopes ?? usual)
    case .caller(let name, .onBehalfOf(let usualAgent), let usual):
      other = .caller(application: name, grant: .onBehalfOf(agent: agent ?? usualAgent), scopes: scopes ?? usual)
    case .caller(let name, let grant, let usual):
      other = .caller(application: name, grant: grant, scopes: scopes ?? usual)
    }
    if let subject = token.subject { reportKeys(withoutMeaningFor: subject, in: section) }
    if token.isCallers, agent != nil, other.agent == nil, let node = section[.agent] {
      report(node, that: "has a meaning with grant: on_behalf_of only")
    }
    let place = authority ?? usualAuthority
    if let application, issues.count == known {
      let (provider, reference) = (place ?? application.authority.value, section.located(application.name))
      if scopes != nil {
        check(other, application, provider, reference, section)
      } else if other.agent != nil {
        checkAgent(application, provider, reference, section)
      }
    }
    if issues.count > known { return nil }
    return TokenChoiceSettings.Entry(token: other, authority: place)
  }
}
