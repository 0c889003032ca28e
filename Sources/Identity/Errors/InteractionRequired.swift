// Owns what is said when only a person can help: enough to sign in with, nothing secret.

public import Tokens

/// Why silence was not enough, and what a sign-in has to bring (MSAL's "UI required").
public struct InteractionRequired: Sendable, Hashable {
  /// The kind.
  public var reason: InteractionReason
  /// What was asked for.
  public var scopes: ScopeSet
  /// What the provider wants proved, to be sent with the sign-in.
  public var claims: Claims?
  /// The account that was asked for, as it was written down; nil where none was named.
  package var accountName: String?
  /// Where to sign in.
  public var authority: Authority
  /// What the provider said; nil where it was not asked. For the log and for `token`, not for callers of the proxy.
  package var reply: TokenErrorReply?
  /// Seconds until the provider is asked again without a new sign-in, at least 1.
  package var retryAfter: Int64

  /// A need for a person.
  package init(
    reason: InteractionReason, scopes: ScopeSet, claims: Claims? = nil, accountName: String? = nil,
    authority: Authority,
    reply: TokenErrorReply? = nil, retryAfter: Int64 = 1
  ) {
    self.reason = reason
    self.scopes = scopes
    self.claims = claims
    self.accountName = accountName
    self.authority = authority
    self.reply = reply
    self.retryAfter = retryAfter
  }
}

extension InteractionRequired {
  /// What a subscription misses.
  init(_ reason: InteractionReason, _ key: AcquisitionKey, reply: TokenErrorReply? = nil, retryAfter: Int64 = 1) {
    var name: String?
    if case .account(let written) = key.subject { name = written }
    self.init(
      reason: reason, scopes: key.scopes, claims: reply?.claims, accountName: name, authority: key.authority,
      reply: reply, retryAfter: retryAfter)
  }
}
