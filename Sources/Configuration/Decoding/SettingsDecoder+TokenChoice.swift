// A choice of tokens per request: the field, and the token for each of its values.

import Bytes
import HTTP
import Tokens

extension SettingsDecoder {
  /// The choice that a route offers; nil if it offers none, or with an issue.
  mutating func tokenChoice(_ section: Section, _ token: RouteToken?) -> TokenChoiceSettings? {
    guard let choice = self.section(section, .choice) else { return nil }
    let field = scalar(choice, .field)
    let entries = namedSections(choice, .values)
    guard let field, let token = token?.issued else { return nil }
    guard FieldName.isName(field.text), FieldName(Array(field.text.utf8).span) == .other else {
      return refuse(field, "'\(field.written)' is no name for a field of your own, such as X-Account")
    }
    var tokens: [String: IssuedToken] = [:]
    for (name, section) in entries {
      guard let section else { continue }
      tokens[name] = variant(of: token, section)
    }
    return tokens.count == entries.count && !tokens.isEmpty
      ? TokenChoiceSettings(field: field.text, tokens: tokens) : nil
  }

  /// The route's token with what an entry says instead.
  private mutating func variant(of token: IssuedToken, _ section: Section) -> IssuedToken? {
    let known = issues.count
    let application = applications[token.application]?.settings
    let account = scalar(section, .account)
    let scopes = section.members[.scopes] == nil ? nil : self.scopes(section)
    let authority = application.flatMap { tenantAuthority($0, section) }
    let agent = self.agent(section)
    if issues.count > known { return nil }
    reportKeys(withoutMeaningFor: token.subject.word, in: section)
    var other = token
    switch token.subject {
    case .application: break
    case .account(let usual): other.subject = .account(account?.text ?? usual)
    case .agent(let usual, let usualUser):
      let user = agentUser(account)
      // An agent's user is no other agent's.
      other.subject = .agent(agent ?? usual, user: agent == nil ? user ?? usualUser : user)
    case .caller(.onBehalfOf(let usual)): other.subject = .caller(.onBehalfOf(agent: agent ?? usual))
    case .caller:
      if let node = section[.agent] { report(node, that: "has a meaning with grant: on_behalf_of only") }
    }
    other.scopes = scopes ?? token.scopes
    other.authority = authority ?? token.authority
    if let application, issues.count == known {
      let reference = section.located(application.name)
      if scopes != nil {
        check(other, application, reference, section)
      } else if other.agent != nil {
        checkAgent(application, other.authority ?? application.authority.value, reference, section)
      }
    }
    return issues.count > known ? nil : other
  }
}
