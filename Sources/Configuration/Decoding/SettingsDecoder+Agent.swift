// A route's agent identity, which takes the place of the application, its blueprint.

import HTTP
import Tokens

extension SettingsDecoder {
  /// The client id of the agent identity; nil if none is named, or with an issue.
  mutating func agent(_ section: Section) -> String? {
    guard let scalar = scalar(section, .agent) else { return nil }
    if scalar.text.isGUID { return scalar.text.lowercased() }
    return refuse(scalar, that: "is the client id of an agent identity, a GUID, not '\(scalar.written)'")
  }

  /// The agent's user account that `account` names: a user name or an object id. Nil is as above.
  mutating func agentUser(_ account: Scalar?) -> String? {
    guard let account else { return nil }
    if account.text.isGUID { return account.text.lowercased() }
    if account.text.contains("@") { return account.text }
    return refuse(
      account,
      "an agent's user is named by its user name, USER@DOMAIN, or its object id, not "
        + "'\(account.written)'")
  }

  /// Reports an application of this authority that cannot be the blueprint of agent identities.
  mutating func checkAgent(
    _ application: ApplicationSettings, _ authority: Authority, _ reference: Located<String>, _ section: Section
  ) {
    if application.managedIdentity != nil {
      return report(
        reference,
        "'\(application.name)' is a managed identity, and agents are those of an application, which "
          + "'credential: {federated: {managed_identity: …}}' can prove")
    }
    if !application.isConfidential { return reportPublic(application, reference, neededBy: "an agent") }
    switch authority.kind {
    case .entra(let tenant, _) where tenant.servesApplications: break
    // A host that is not known for it may be Entra's, too.
    case .issuer: break
    case .entra:
      report(
        section, .agent,
        "an agent is of one tenant, and the authority \(authority) names none: name one in 'tenant'")
    case .adfs, .b2c, .ciam:
      report(section, .agent, "\(authority.url.host) has no agent identities; Microsoft Entra has")
    }
  }

  /// Reports an application without a credential.
  mutating func reportPublic(_ application: ApplicationSettings, _ reference: Located<String>, neededBy user: String) {
    report(
      reference,
      "application '\(application.name)' has no credential (client_secret_file, client_assertion_file, credential), "
        + "which \(user) needs")
  }
}
