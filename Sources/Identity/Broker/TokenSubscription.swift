// Owns what routes and programs want from an application: whose token, and for what.

package import Tokens

/// A standing wish for tokens: what one or more routes want from one application.
package struct TokenSubscription: Sendable {
  /// Who asks.
  package let application: Application
  /// What is asked for, in full; equal keys share tokens and requests.
  package let key: AcquisitionKey
  /// Whether a token from before the wish does not count: an API or the provider has asked for more than those prove.
  package let isChallenged: Bool
  /// Whether only the provider's own answer to this application counts: its credential is to be tried.
  package private(set) var isTrial = false

  /// A wish for tokens of the application's own (client credentials).
  package init(application: Application, scopes: ScopeSet) {
    self.init(application: application, subject: .application, scopes: scopes)
  }

  /// A wish for tokens in the name of a person who is signed in. `account`: a user name or an id; nil is the only one
  /// there is.
  package init(application: Application, account: String?, scopes: ScopeSet, challenge: Claims? = nil) {
    self.init(application: application, subject: .account(account), scopes: scopes, challenge: challenge)
  }

  /// A wish for tokens.
  /// - Parameter challenge: what a token has to prove; cached ones do not count then.
  package init(application: Application, subject: TokenSubject, scopes: ScopeSet, challenge: Claims? = nil) {
    self.application = application
    isChallenged = challenge != nil
    key = AcquisitionKey(
      authority: application.authority, clientID: application.clientID, credential: application.credentialVersion,
      subject: subject, scopes: scopes, claims: Claims(challenge: challenge, capabilities: application.capabilities))
  }

  /// The same wish, for an application whose credential is to be tried. Others with its client id may have filed tokens
  /// that say nothing about it. A person's token is one that was obtained before, and stays so: to renew it spends a
  /// refresh token.
  package func asTrial() -> TokenSubscription {
    var trial = self
    trial.isTrial = key.subject == .application
    return trial
  }

  /// What a token that meets this complaint is requested with.
  func answering(_ complaint: Complaint) -> TokenSubscription {
    switch complaint {
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

  /// Whether the shared cache's access tokens count. Not where more is wanted than they may prove; and an application's
  /// that were obtained with a credential which was replaced while this process ran are not served under the new one.
  var readsCache: Bool {
    !isChallenged && !isTrial && (key.subject != .application || key.credential == CredentialVersion(0))
  }
}
