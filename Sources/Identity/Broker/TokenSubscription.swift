internal import Bytes
package import Tokens

/// What routes or a program request from an application: whose token, and for what.
package struct TokenSubscription: Sendable {
  /// Who asks.
  package let application: Application
  /// All parts of the request; equal keys share tokens and requests.
  package let key: AcquisitionKey
  /// Whether older tokens do not count: an API or the provider requires more than they prove.
  package let isChallenged: Bool
  /// Whether cached tokens do not count, because the credential is to be tested.
  package private(set) var isTrial = false

  /// For the application's own tokens (client credentials).
  package init(application: Application, scopes: ScopeSet) {
    self.init(application: application, subject: .application, scopes: scopes)
  }

  /// For tokens of a person who is signed in. `account`: a user name or an id; nil is the only one that is signed in.
  package init(application: Application, account: String?, scopes: ScopeSet, challenge: Claims? = nil) {
    self.init(application: application, subject: .account(account), scopes: scopes, challenge: challenge)
  }

  /// For tokens of `subject`.
  /// - Parameter challenge: what a token has to prove; cached ones do not count then.
  package init(application: Application, subject: TokenSubject, scopes: ScopeSet, challenge: Claims? = nil) {
    self.application = application
    isChallenged = challenge != nil
    key = AcquisitionKey(
      authority: application.authority, clientID: application.clientID, credential: application.credentialVersion,
      subject: subject, scopes: scopes, claims: Claims(challenge: challenge, capabilities: application.capabilities))
  }

  /// The same, to test the application's credential: tokens that other processes filed say nothing about it. A person's
  /// cached token still counts, because renewing it would spend a refresh token.
  package func asTrial() -> TokenSubscription {
    var trial = self
    trial.isTrial = key.subject == .application
    return trial
  }

  /// What a token that meets this rejection is requested with.
  func answering(_ rejection: TokenRejection) -> TokenSubscription {
    switch rejection {
    case .invalidToken: self
    case .claims(let claims):
      TokenSubscription(application: application, subject: key.subject, scopes: key.scopes, challenge: claims)
    case .scopes(let wanted):
      TokenSubscription(application: application, subject: key.subject, scopes: key.scopes.union(wanted))
    }
  }

  /// The `grant_type` of what can be offered: the label under which acquisitions are counted.
  var grantType: String {
    switch key.subject {
    case .application: "client_credentials"
    case .account: "refresh_token"
    }
  }

  /// Whether a token is of use to those who want it: one that is bound to a certificate only where they show that.
  func canUse(_ token: Secret) -> Bool { TokenBinding.allows(token, showing: application.boundCertificate) }

  /// Whether the shared cache's access tokens count. Not where more is wanted than they may prove; and an application's
  /// that were obtained with a credential which was replaced while this process ran are not served under the new one.
  var readsCache: Bool {
    application.managedIdentity == nil && !isChallenged && !isTrial
      && (key.subject != .application || key.credential.number == 0)
  }
}
