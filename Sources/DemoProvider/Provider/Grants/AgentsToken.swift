// The rule of agents' users: an agent that proves itself gets tokens of the account that is its own, for a token of its
// own that it asked for before (Entra's `user_fic`).

internal import Bytes
internal import Platform
internal import Tokens

/// An agent's token for the exchange.
struct AgentsToken {
  private let agent: RegisteredApplication

  /// Believes a token that this provider issued to `agent`.
  init(
    _ text: String, of agent: RegisteredApplication, issuer: String, signature: (SignedJWT) -> SignatureVerdict,
    now: UnixTime
  ) throws(ProviderError) {
    let token: SignedJWT
    do throws(JWTRefusal) {
      token = try SignedJWT(text)
    } catch {
      throw .assertionUntrusted
    }
    let rule = JWTValidation(issuer: issuer, audiences: [FederatedCredential.exchange], leeway: 60)
    let claims: JWTClaims
    do throws(JWTRefusal) {
      claims = try rule.accept(token, now: now) { token, _ in signature(token) }
    } catch {
      throw .assertionUntrusted
    }
    guard agent.blueprint != nil, claims.subject == agent.object else { throw .assertionUntrusted }
    self.agent = agent
  }

  /// What the agent may do as `user`: a user name or an object.
  func authorization(
    as user: String, in tenant: Tenant, now: UnixTime
  ) throws(ProviderError) -> Authorization {
    let name = user.lowercased()
    let account = tenant.users.first { $0.object == name || $0.userName.lowercased() == name }
    guard let account, account.agent == agent.clientIdentifier else { throw .assertionUntrusted }
    return Authorization(
      person: account.object, tenant: tenant.identifier, client: agent.clientIdentifier, scopes: [],
      authentication: Authentication(at: now))
  }
}
