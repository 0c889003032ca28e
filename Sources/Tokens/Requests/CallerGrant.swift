/// The grant by which a caller's token is exchanged.
package enum CallerGrant: Sendable, Hashable {
  /// Entra's on-behalf-of: RFC 7523 with `requested_token_use`.
  case onBehalfOf
  /// RFC 7523 §2.1 alone.
  case jwtBearer
  /// RFC 8693.
  case tokenExchange(ExchangeTerms)
  /// An identity assertion (ID-JAG) from the application's own provider, accepted by the authorization server of the
  /// resource, and exchanged there for a token by RFC 7523. That server knows the other application.
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

  package static let labels = ["on_behalf_of", "jwt_bearer", "token_exchange", "id_jag"]
}

/// The parameters of an exchange beside the subject (RFC 8693 §2.1). `TokenParameters` have the audience.
package struct ExchangeTerms: Sendable, Hashable {
  /// The type of the subject's token.
  package var subjectType: String
  /// The requested type; nil leaves it to the provider.
  package var requestedType: String?
  /// The file with the actor's token, and its type.
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

  package init(subjectType: String = TokenTypeURN.accessToken, requestedType: String? = nil, actor: ActorFile? = nil) {
    self.subjectType = subjectType
    self.requestedType = requestedType
    self.actor = actor
  }
}

/// The application that a resource's authorization server knows.
package struct ResourceApplication: Sendable, Hashable {
  package var authority: Authority
  package var clientID: String
  package var credential: CredentialVersion

  package init(authority: Authority, clientID: String, credential: CredentialVersion) {
    self.authority = authority
    self.clientID = clientID
    self.credential = credential
  }
}

/// The names of token types (RFC 8693 §3).
package enum TokenTypeURN {
  package static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
  package static let idToken = "urn:ietf:params:oauth:token-type:id_token"
  package static let jwt = "urn:ietf:params:oauth:token-type:jwt"
  package static let identityAssertion = "urn:ietf:params:oauth:token-type:id-jag"
}

package enum IssuedTokenKind: Sendable, Hashable {
  /// A bearer token for an API.
  case bearer
  /// An identity assertion, which no API accepts.
  case identityAssertion

  /// True if a reply's `token_type` is that of such a token. Some providers omit it for bearer tokens.
  func accepts(tokenType: String?) -> Bool {
    switch self {
    case .bearer: tokenType.map { $0.lowercased() == "bearer" } ?? true
    case .identityAssertion: tokenType.map { $0.lowercased() == "n_a" } ?? true
    }
  }

  /// True if a reply's `issued_token_type` is that of such a token. Only an exchange's reply has the member.
  func accepts(issued: String?) -> Bool {
    switch self {
    case .bearer: issued.map { $0 == TokenTypeURN.accessToken || $0 == TokenTypeURN.jwt } ?? true
    case .identityAssertion: issued == TokenTypeURN.identityAssertion
    }
  }
}

extension TokenGrant {
  /// The kind that its reply must have.
  package var expected: IssuedTokenKind {
    if case .tokenExchange(_, let terms, _) = self, terms.requestedType == TokenTypeURN.identityAssertion {
      .identityAssertion
    } else {
      .bearer
    }
  }
}
