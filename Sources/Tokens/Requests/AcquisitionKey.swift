package import Bytes

package enum TokenSubject: Sendable, Hashable {
  case application
  /// A signed-in person: a user name or an id, as configured; nil is the only one that is signed in.
  case account(String?)
  /// The user account of an agent identity: a user name, or an object id.
  case agentUser(String)
  /// The caller who brought the token with this SHA-256; nil is any caller. Two tokens of one person may have different
  /// rights. Indirect, because a grant in place would double the size of every key.
  indirect case caller(Digest256?, CallerGrant)

  /// True if it is a person who signs in here.
  package var isAccount: Bool { if case .account = self { true } else { false } }

  package var isCaller: Bool { if case .caller = self { true } else { false } }

  /// True if its token needs neither a person nor a caller.
  package var isUnattended: Bool {
    switch self {
    case .application, .agentUser: true
    case .account, .caller: false
    }
  }
}

/// All values that a token was obtained with: it serves no request that differs in one.
package struct AcquisitionKey: Sendable, Hashable {
  package var authority: Authority
  package var clientID: String
  package var credential: CredentialVersion
  package var subject: TokenSubject
  package var scopes: ScopeSet
  /// The audiences, and other parameters of a route's requests.
  package var parameters: TokenParameters
  /// The claims and capabilities; the canonical text takes the place of its digest.
  package var claims: Claims?

  package init(
    authority: Authority, clientID: String, credential: CredentialVersion, subject: TokenSubject,
    scopes: ScopeSet, parameters: TokenParameters = .none, claims: Claims?
  ) {
    self.authority = authority
    self.clientID = clientID
    self.credential = credential
    self.subject = subject
    self.scopes = scopes
    self.parameters = parameters
    self.claims = claims
  }

  /// Hashes the parts that differ most, for the speed of look-ups. All parts are compared.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(clientID)
    hasher.combine(scopes)
    switch subject {
    case .application: hasher.combine(0)
    case .account(let name): hasher.combine(name)
    case .agentUser(let name): hasher.combine(name)
    case .caller(let digest, _): hasher.combine(digest)
    }
  }

  /// The client id of the agent identity whose token it is, or that requests it.
  package var agent: String? { credential.blueprint == nil ? nil : clientID }
}
