// The identity of everything held in memory for tokens: what must be equal for one token to serve two requests.

package import Bytes

/// On whose behalf a token is.
package enum TokenSubject: Sendable, Hashable {
  /// The application's own.
  case application
  /// A signed-in person's: a user name or an id, as it was configured; nil is the only one that is signed in.
  case account(String?)
  /// The user account of an agent identity: a user name, or an object id.
  case agentUser(String)
  /// That of the caller who brought the token with this SHA-256, exchanged by this grant; nil is any caller. Nothing
  /// narrower names a caller: two tokens of one person may have different rights. Indirect, since with room for a grant
  /// every key would be twice as large.
  indirect case caller(Digest256?, CallerGrant)

  /// Whether it is a person who signs in here.
  package var isAccount: Bool { if case .account = self { true } else { false } }

  /// Whether it is a caller.
  package var isCaller: Bool { if case .caller = self { true } else { false } }

  /// Whether its token can be had at any time: neither a person nor a caller has to come first.
  package var isUnattended: Bool {
    switch self {
    case .application, .agentUser: true
    case .account, .caller: false
    }
  }
}

/// The whole of what a token was obtained with. Leaving any part out would hand a token to a request that it is not
/// for.
package struct AcquisitionKey: Sendable, Hashable {
  /// Who issues.
  package var authority: Authority
  /// Which application.
  package var clientID: String
  package var credential: CredentialVersion
  /// On whose behalf.
  package var subject: TokenSubject
  /// For what.
  package var scopes: ScopeSet
  /// For whom, and what else a route adds to its requests.
  package var parameters: TokenParameters
  /// With which claims and capabilities; the canonical text stands for its digest.
  package var claims: Claims?

  /// A key of these parts.
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

  /// What mostly tells keys apart: hashing the rest, too, would cost each look-up more than it saves. All parts are
  /// compared.
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

  /// The client id of the agent identity whose token it is, or that asks.
  package var agent: String? { credential.blueprint == nil ? nil : clientID }
}
