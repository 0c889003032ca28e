package import Bytes
internal import Platform
package import Tokens

/// A request of routes or a program for tokens of an application: owner and scopes. There is one for each caller, so
/// the values of the configuration are boxed.
package struct TokenSubscription: Sendable {
  @Boxed package private(set) var application: Application
  /// All parts of the request; equal keys share tokens and requests.
  package private(set) var key: AcquisitionKey
  /// The key of the configuration, if this is that for one caller.
  @Boxed package private(set) var routeKey: AcquisitionKey
  /// True if older tokens do not count: an API or the provider requires more than they prove.
  package private(set) var isChallenged: Bool
  /// True if cached tokens do not count, because the credential is to be tested.
  package private(set) var isTrial = false
  /// The caller's token, while a request of it is served.
  package private(set) var assertion: CallerAssertion?
  /// The application that asks the authorization server of the resource, if that is another one.
  @Boxed package private(set) var resourceApplication: Application?

  /// For tokens of `subject`; those of callers each with its own (`onBehalf`).
  /// - Parameter challenge: the claims that a token has to prove; cached ones do not count then.
  package init(
    application: Application, subject: TokenSubject = .application, scopes: ScopeSet,
    parameters: TokenParameters = .none, challenge: Claims? = nil, resourceApplication: Application? = nil
  ) {
    self.application = application
    self.resourceApplication = resourceApplication
    isChallenged = challenge != nil
    key = AcquisitionKey(
      authority: application.authority, clientID: application.clientID, credential: application.credentialVersion,
      subject: subject, scopes: scopes, parameters: parameters,
      claims: Claims(challenge: challenge, capabilities: application.capabilities))
    routeKey = key
  }

  /// The same for the caller who brought a token. An application of many tenants asks in the token's tenant.
  package func onBehalf(of assertion: CallerAssertion) -> TokenSubscription {
    guard case .caller(_, let grant) = key.subject else { return self }
    var subscription = self
    subscription.assertion = assertion
    subscription.key.subject = .caller(assertion.digest, grant)
    if let authority = assertion.tenant.flatMap(application.authority.ofTenant) {
      subscription.application.move(to: authority)
      subscription.key.authority = authority
      subscription.key.credential = subscription.application.credentialVersion
    }
    return subscription
  }

  /// The configuration's, for the subscription of a caller.
  init(routeOf subscription: TokenSubscription) {
    self = subscription.withoutAssertion
    key = subscription.routeKey
    application.authority = key.authority
    application.credentialVersion = key.credential
  }

  /// The same without the caller's token: the part that is kept between requests.
  var withoutAssertion: TokenSubscription {
    var subscription = self
    subscription.assertion = nil
    return subscription
  }

  /// The same, to test the application's credential: tokens that other processes stored prove nothing about it. A
  /// person's cached token still counts, because renewing it would use a refresh token.
  package func asTrial() -> TokenSubscription {
    var trial = self
    trial.isTrial = key.subject == .application
    return trial
  }

  /// The request for a token that meets this rejection.
  func answering(_ rejection: TokenRejection) -> TokenSubscription {
    var subscription = self
    switch rejection {
    case .invalidToken: break
    case .claims(let claims):
      subscription.isChallenged = true
      subscription.key.claims = Claims(challenge: claims, capabilities: application.capabilities)
    case .scopes(let wanted):
      subscription.isChallenged = false
      subscription.key.scopes = key.scopes.union(wanted)
      subscription.key.claims = Claims(challenge: nil, capabilities: application.capabilities)
    }
    return subscription
  }

  /// The `grant_type` of the grant: the label under which acquisitions are counted.
  var grantType: String {
    switch key.subject {
    case .application: "client_credentials"
    case .account: "refresh_token"
    case .agentUser: "user_fic"
    case .caller(_, let grant): grant.label
    }
  }

  /// True if a token can be used here: one that is bound to a certificate only if that is shown.
  func canUse(_ token: Secret) -> Bool { TokenBinding.allows(token, showing: application.boundCertificate) }

  /// True if the shared cache's access tokens count: not if more is required than they prove, or they were requested
  /// without the route's parameters, or by an application whose credential this process has replaced since.
  var readsCache: Bool {
    isFiled && !isChallenged && !isTrial && key.parameters.isEmpty
      && (key.subject != .application || key.credential.number == 0)
  }

  /// True if its tokens are stored in the shared cache, and not in memory only.
  var isFiled: Bool {
    switch key.subject {
    case .application, .account: application.managedIdentity == nil
    case .agentUser, .caller: false
    }
  }
}

/// A caller's verified token. It is kept no longer than the request that it came with.
package struct CallerAssertion: Sendable {
  package let token: Secret
  package let digest: Digest256
  package let expiresAt: UnixTime
  /// The tenant that issued it, if it names one.
  package let tenant: String?

  package init(token: Secret, digest: Digest256, expiresAt: UnixTime, tenant: String?) {
    self.token = token
    self.digest = digest
    self.expiresAt = expiresAt
    self.tenant = tenant
  }

  /// A token that a program has verified itself. If it is no JWT, only the provider knows its end and tenant.
  init(unverified token: Secret) throws(CryptoError) {
    let claims = SignedJWT.claims(of: token.revealed())
    let digest = try SHA256.digest(of: token.bytes)
    self.init(
      token: token, digest: Digest256(digest.span), expiresAt: claims?.expiresAt ?? UnixTime(.max),
      tenant: claims?.tenant)
  }
}
