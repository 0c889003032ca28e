// Acquires tokens that replace another token: those of callers, and of agents' users. They are kept in memory only.

internal import Bytes
internal import Tokens

extension TokenAcquisition {
  /// A token of the agent identity's user, in exchange for a token of its own. Neither is stored.
  func token(ofAgentUser user: String) async throws(AcquisitionError) -> BearerValue {
    let metadata = try await metadata(of: subscription.application)
    let exchange = key.authority.exchangeScopes(key.authority.exchangeAudience)
    let agent = try await requests(metadata).tokens(for: .clientCredentials, scopes: exchange, claims: nil)
    let sent = now()
    let hint = user.isGUID ? RoutingHint(object: user, tenant: metadata.realm) : RoutingHint(username: user)
    let reply = try await reply(
      to: .userFederation(agent.accessToken, user: user), scopes: key.scopes, about: hint, metadata)
    return value(reply, sent, metadata, account: nil)
  }

  /// A caller's token, in exchange for the one that it has brought. It is not stored, and ends with that one.
  func token(by grant: CallerGrant, _ report: inout Report) async throws(AcquisitionError) -> BearerValue {
    guard let assertion = subscription.assertion, now() < assertion.expiresAt, !key.authority.isOfManyTenants else {
      throw unusableAssertion
    }
    report.wasSent = true
    let metadata = try await metadata(of: subscription.application)
    let sent = now()
    let reply: TokenReply
    switch grant {
    case .onBehalfOf, .jwtBearer:
      reply = try await self.reply(
        to: .jwtBearer(assertion.token, isOnBehalfOf: grant == .onBehalfOf), scopes: key.scopes,
        about: grant == .onBehalfOf ? assertion.routingHint : nil, metadata)
    case .tokenExchange(let terms):
      reply = try await self.reply(to: try await exchange(assertion, terms), scopes: key.scopes, metadata)
    case .identityAssertion(let terms, _):
      guard let application = subscription.resourceApplication else { throw unusableAssertion }
      let other = try await self.metadata(of: application)
      let identity = try await requests(metadata).tokens(
        for: try await exchange(assertion, terms), scopes: key.scopes, claims: key.claims,
        parameters: key.parameters.forAudience(other.issuer))
      reply = try await directory.requests(of: application, other, sleep: sleep).tokens(
        for: .jwtBearer(identity.accessToken, isOnBehalfOf: false), scopes: key.scopes, claims: key.claims)
    }
    let lifetime = TokenLifetime(
      expiresIn: reply.expiresIn, refreshIn: reply.refreshIn, now: sent, jitter: jitter())
    return BearerValue(
      reply.accessToken, lifetime: lifetime.ending(by: assertion.expiresAt),
      scopes: reply.grantedScopes(requested: key.scopes), origin: TokenOrigin(tenant: assertion.tenant))
  }

  /// An exchange with the actor's token that its file has now.
  private func exchange(
    _ assertion: CallerAssertion, _ terms: ExchangeTerms
  ) async throws(AcquisitionError) -> TokenGrant {
    guard let path = terms.actor?.path else { return .tokenExchange(assertion.token, terms) }
    let actor = try await mapping(
      { AcquisitionError(.actor($0)) }, awaiting: await ClientAssertionFile(path: path).read(at: now()))
    return .tokenExchange(assertion.token, terms, actor: actor)
  }
}

extension CallerAssertion {
  /// The place of the account at its issuer, which gets it.
  fileprivate var routingHint: RoutingHint? {
    let claims = SignedJWT.claims(of: token.revealed())
    return RoutingHint(object: claims?.object, tenant: claims?.tenant)
  }
}
