package import Bytes
package import HTTP
package import Routing
package import Tokens

/// The credential that a route adds to requests.
package enum RouteToken: Sendable, Hashable {
  /// None: requests are forwarded as they are.
  case none
  /// An API key or Basic credentials in a token's place.
  case fixed(FixedCredential)
  case issued(IssuedToken)

  package var fixed: FixedCredential? { if case .fixed(let credential) = self { credential } else { nil } }

  package var issued: IssuedToken? { if case .issued(let token) = self { token } else { nil } }

  /// True if it is the caller's.
  package var isCallers: Bool { issued?.isCallers == true }
}

/// A token that a provider issues to an application.
package struct IssuedToken: Sendable, Hashable {
  /// Whose token it is.
  package enum Subject: Sendable, Hashable {
    /// The application's own (client credentials, RFC 6749 §4.4).
    case application
    /// A person's who is signed in to the application, by user name or account's id; nil: the only one's.
    case account(String?)
    /// An agent identity's of the application, by its client id; or its user account's, by user name or object id.
    case agent(String, user: String?)
    /// The caller's, in exchange for the one that the caller has brought.
    case caller(CallerGrantSettings)

    var word: SubjectWord {
      switch self {
      case .application: .application
      case .account: .account
      case .agent: .agent
      case .caller: .caller
      }
    }
  }

  /// The application's name.
  package let application: String
  package internal(set) var subject: Subject
  package var scopes: ScopeSet
  /// The application's authority for another tenant; nil: its own.
  package internal(set) var authority: Authority?
  /// Additional parameters of its requests.
  package let parameters: TokenParameters

  package init(
    application: String, subject: Subject = .application, scopes: ScopeSet, authority: Authority? = nil,
    parameters: TokenParameters = .none
  ) {
    (self.application, self.subject, self.scopes) = (application, subject, scopes)
    (self.authority, self.parameters) = (authority, parameters)
  }

  /// True if it is a person's who signs in.
  package var isAccounts: Bool { subject.word == .account }

  package var isCallers: Bool { subject.word == .caller }

  /// The agent identity that takes the application's place.
  package var agent: String? {
    switch subject {
    case .agent(let agent, _), .caller(.onBehalfOf(let agent?)): agent
    case .application, .account, .caller: nil
    }
  }
}

/// The values of `as`.
enum SubjectWord: String, CaseIterable, Sendable {
  case account, agent, application, caller
}

/// A request field whose value picks one of several tokens.
package struct TokenChoiceSettings: Sendable, Hashable {
  /// The field's name.
  package let field: String
  package let tokens: [String: IssuedToken]
}

package struct TokenFileSettings: Sendable, Hashable {
  package let path: Located<String>
  /// The group that may read it.
  package let group: UInt32?
  package let leastLife: TimeSpan

  static let usualLife = TimeSpan.seconds(30)
}

/// The exchange of callers' tokens.
package enum CallerGrantSettings: Sendable, Hashable {
  /// Entra's on-behalf-of; by an agent identity of the application, if one is named.
  case onBehalfOf(agent: String? = nil)
  /// RFC 7523.
  case jwtBearer
  /// RFC 8693.
  case tokenExchange(ExchangeTerms)
  /// An identity assertion, and a token for it at the provider of another application.
  case identityAssertion(ExchangeTerms, resourceApplication: String)

  package enum Word: String, CaseIterable, Sendable {
    case onBehalfOf = "on_behalf_of"
    case tokenExchange = "token_exchange"
    case jwtBearer = "jwt_bearer"
    case idJAG = "id_jag"
  }
}

/// A protocol to which an exchange may switch, by its name in `Upgrade`.
package enum UpgradeProtocol: String, Sendable, Hashable, CaseIterable {
  /// RFC 6455.
  case websocket
}

package struct RouteSettings: Sendable, Hashable {
  /// The name in logs, metrics and problem documents; each once.
  package let name: String
  /// The name that people read.
  package let displayName: String?
  /// The beginning of the route in the file.
  package let place: Place
  /// The `Host` it takes, in lower case and without a port; `nil` takes every host.
  package let host: String?
  /// The path prefix it takes. Begins and ends with `/`, is normalised, holds no percent-encoding; `/orders/` takes
  /// `/orders/`, everything below it, and `/orders` itself.
  package let path: String
  /// The methods it takes, in upper case; `nil` takes every method.
  package let methods: Set<String>?
  /// The upstream. The path ends with `/` and there is no query: what follows the route's path is appended to it.
  package let upstream: Located<HTTPURL>
  package let token: RouteToken
  /// By which field callers may pick another one.
  package let tokenChoice: TokenChoiceSettings?
  /// The rules for challenges, and for requests when there is no token.
  package let tokenRules: RouteTokenRules
  /// The file with its token; nil if there is none.
  package internal(set) var tokenFile: TokenFileSettings?
  /// The fields that it sets and removes; nil if there are none.
  package let requestFields: RequestFields?
  /// True if the caller's `Host` is passed on instead of the upstream's.
  package let preserveHost: Bool
  /// Protocols to which a connection may be upgraded.
  package let upgrades: Set<UpgradeProtocol>
  /// Percent-encoded characters that its paths may contain beside those that every server reads alike.
  package let encodedPath: EncodedPath
  /// True if a token may travel to this upstream without TLS.
  package let allowPlaintext: Bool
  /// The path that `check --live` requests, behind the upstream's own; nil: it requests nothing.
  package let probe: String?
  /// Verification of an https upstream, and the certificate that is shown to it.
  package let tls: UpstreamTLSSettings
  /// Time limits, the defaults included.
  package let timeouts: ExchangeTimeouts
  /// The bounds of the connection pool, the defaults included.
  package let pool: PoolLimits
  /// The proxy on the way to the upstream; nil if it is reached directly.
  package let proxy: ProxyAddress?
  /// The versions of HTTP for the upstream.
  package let versions: UpstreamProtocol
}

/// Verification of an https upstream, and the certificate that is shown to it. Certificates are always verified.
package struct UpstreamTLSSettings: Sendable, Hashable {
  /// A PEM file of certification authorities instead of the system's.
  package var caFile: Located<String>?
  /// The certificate shown to an upstream that asks for one.
  package var clientCertificate: CertificateFiles?
  /// The name sent as SNI and expected in the certificate, in lower case, instead of the upstream's host.
  package var serverName: String?

  /// The system's trust store and the upstream's own name.
  package init() {}
}
