// How a caller's token becomes one for an upstream: the grants, their parameters, and what they may bring.

package import Bytes

/// By which grant the token of a caller is exchanged.
package enum CallerGrant: Sendable, Hashable {
  /// Entra's on-behalf-of: RFC 7523 with `requested_token_use`.
  case onBehalfOf
  /// RFC 7523 §2.1 as it stands.
  case jwtBearer
  /// RFC 8693.
  case tokenExchange(ExchangeTerms)
  /// An identity assertion (ID-JAG) from the application's own provider, good at the authorization server of the
  /// resource, and there by RFC 7523 a token. The other application is the one that server knows.
  case identityAssertion(ExchangeTerms, at: ResourceApplication)

  /// The label under which acquisitions are counted.
  package var label: String {
    switch self {
    case .onBehalfOf: "on_behalf_of"
    case .jwtBearer: "jwt_bearer"
    case .tokenExchange: "token_exchange"
    case .identityAssertion: "id_jag"
    }
  }

  /// All labels.
  package static let labels = ["on_behalf_of", "jwt_bearer", "token_exchange", "id_jag"]
}

/// The parameters of an exchange beside the subject (RFC 8693 §2.1). For whom the token is, `TokenParameters` say.
package struct ExchangeTerms: Sendable, Hashable {
  /// What the subject is.
  package var subjectType: String
  /// What is asked for; nil leaves it to the provider.
  package var requestedType: String?
  /// The file with the token of who acts for the subject, and what that token is.
  package var actor: ActorFile?

  /// A file with an actor's token.
  package struct ActorFile: Sendable, Hashable {
    package var path: String
    package var type: String

    package init(path: String, type: String) {
      self.path = path
      self.type = type
    }
  }

  package init(
    subjectType: String = TokenTypeURN.accessToken, requestedType: String? = nil, actor: ActorFile? = nil
  ) {
    self.subjectType = subjectType
    self.requestedType = requestedType
    self.actor = actor
  }
}

/// The application that a resource's authorization server knows.
package struct ResourceApplication: Sendable, Hashable {
  /// That server.
  package var authority: Authority
  /// The application's id there.
  package var clientID: String
  package var credential: CredentialVersion

  package init(authority: Authority, clientID: String, credential: CredentialVersion) {
    self.authority = authority
    self.clientID = clientID
    self.credential = credential
  }
}

/// The names of kinds of tokens (RFC 8693 §3).
package enum TokenTypeURN {
  package static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
  package static let idToken = "urn:ietf:params:oauth:token-type:id_token"
  package static let jwt = "urn:ietf:params:oauth:token-type:jwt"
  package static let identityAssertion = "urn:ietf:params:oauth:token-type:id-jag"
}

/// One exchange: its terms and the tokens.
package struct TokenExchange: Sendable, Equatable {
  /// Whose token it is, and what kind.
  package var subject: Secret
  /// The parameters.
  package var terms: ExchangeTerms
  /// The token of who acts for the subject.
  package var actor: Actor?

  /// An actor's token.
  package struct Actor: Sendable, Equatable {
    package var token: Secret
    package var type: String

    package init(token: Secret, type: String) {
      self.token = token
      self.type = type
    }
  }

  package init(subject: Secret, terms: ExchangeTerms, actor: Actor? = nil) {
    self.subject = subject
    self.terms = terms
    self.actor = actor
  }

  /// Writes the members of the form (RFC 8693 §2.1).
  func write(into form: inout FormBody) {
    form.append("subject_token", subject)
    form.append("subject_token_type", terms.subjectType)
    if let type = terms.requestedType { form.append("requested_token_type", type) }
    guard let actor else { return }
    form.append("actor_token", actor.token)
    form.append("actor_token_type", actor.type)
  }
}

/// What a token request is to bring.
package enum IssuedTokenKind: Sendable, Hashable {
  /// A bearer token for an API.
  case bearer
  /// An identity assertion, which no API takes.
  case identityAssertion

  /// Whether a reply's `token_type` says how such a token is used. RFC 6749 requires the member; providers that leave
  /// it out issue bearer tokens.
  func accepts(tokenType: String?) -> Bool {
    switch self {
    case .bearer: tokenType.map { $0.lowercased() == "bearer" } ?? true
    case .identityAssertion: tokenType.map { $0.lowercased() == "n_a" } ?? true
    }
  }

  /// Whether a reply's `issued_token_type` says that it is such a token. Only an exchange's reply has the member.
  func accepts(issued: String?) -> Bool {
    switch self {
    case .bearer: issued.map { $0 == TokenTypeURN.accessToken || $0 == TokenTypeURN.jwt } ?? true
    case .identityAssertion: issued == TokenTypeURN.identityAssertion
    }
  }
}

extension TokenGrant {
  /// What its reply has to be.
  package var expected: IssuedTokenKind {
    if case .tokenExchange(let exchange) = self, exchange.terms.requestedType == TokenTypeURN.identityAssertion {
      .identityAssertion
    } else {
      .bearer
    }
  }
}
