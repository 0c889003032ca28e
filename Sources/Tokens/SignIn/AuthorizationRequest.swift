package import HTTP

/// The demands of a sign-in.
package struct SignInTerms: Sendable {
  /// The scopes of the first token: one API's, none of the reserved ones.
  package var scopes: ScopeSet
  /// Scopes of other APIs to consent to in the same sign-in (MSAL's extra scopes). The token is not for them.
  package var extraScopes: ScopeSet
  package var parameters = TokenParameters.none
  package var claims: Claims?
  // A device code has none of the rest.
  /// The pages to show the person; nil leaves that to the provider.
  package var prompt: Prompt?
  /// The expected person.
  package var loginHint: String?
  /// The sign-in page at which the person begins.
  package var domainHint: DomainHint?
  /// Seconds for which an earlier sign-in still counts.
  package var maxAge: Int64?
  /// Authentication contexts to satisfy, most wanted first (OpenID Connect Core 1.0 §3.1.2.1, RFC 9470).
  package var authenticationContexts: [String] = []

  package init(scopes: ScopeSet, extraScopes: ScopeSet = .none) {
    (self.scopes, self.extraScopes) = (scopes, extraScopes)
  }
}

/// A request to an authorization endpoint for a code (RFC 6749 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1).
package struct AuthorizationRequest: Sendable {
  /// The way in which the answer comes back.
  package enum ResponseMode: String, Sendable, Hashable {
    /// In the redirect URI's query: the default of providers.
    case query
    /// In a form that the browser posts: this keeps codes out of its history.
    case formPost = "form_post"
  }

  package var endpoint: HTTPURL
  package var clientID: String
  package var redirectURI: String
  /// Its claims are merged with the capabilities.
  package var terms: SignInTerms
  /// State, nonce and challenge.
  package var session: AuthorizationSession
  package var responseMode = ResponseMode.query
  /// The way to request a refresh token.
  package var offlineAccess = OfflineAccess.scope

  package init(
    endpoint: HTTPURL, clientID: String, redirectURI: String, terms: SignInTerms, session: AuthorizationSession
  ) {
    self.endpoint = endpoint
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.terms = terms
    self.session = session
  }

  /// The address, with everything but the verifier in its query. An endpoint's own query comes first.
  package var url: String {
    var query = FormBody()
    query.append("client_id", clientID)
    appendParameters(to: &query)
    return endpoint.adding(query: query.text).description
  }

  /// The address for a request that was pushed (RFC 9126 §4).
  package func url(pushedAs uri: String) -> String {
    var query = FormBody()
    query.append("client_id", clientID)
    query.append("request_uri", uri)
    return endpoint.adding(query: query.text).description
  }

  /// Everything but the application's id.
  func appendParameters(to query: inout FormBody) {
    query.append("response_type", "code")
    query.append("redirect_uri", redirectURI)
    query.append("scope", terms.scopes.union(terms.extraScopes).decorated(offlineAccess).description)
    query.append("state", session.state)
    if responseMode != .query { query.append("response_mode", responseMode.rawValue) }
    query.append("code_challenge", session.challenge)
    query.append("code_challenge_method", "S256")
    query.append("nonce", session.nonce)
    query.append("client_info", "1")
    if let loginHint = terms.loginHint { query.append("login_hint", loginHint) }
    if endpoint.takesRoutingHints, let hint = terms.loginHint.flatMap({ RoutingHint(username: $0) }) {
      query.append(RoutingHint.parameter, hint.text)
    }
    if let domainHint = terms.domainHint { query.append("domain_hint", domainHint.text) }
    if let prompts { query.append("prompt", prompts) }
    if offlineAccess == .parameter { query.append("access_type", "offline") }
    if let maxAge = terms.maxAge { query.append("max_age", "\(maxAge)") }
    if !terms.authenticationContexts.isEmpty {
      query.append("acr_values", terms.authenticationContexts.joined(separator: " "))
    }
    if let claims = terms.claims { query.append("claims", claims.text) }
    query.append(terms.parameters)
  }

  /// The pages to show the person, with the consent that a refresh token needs.
  private var prompts: String? {
    let prompt = terms.prompt
    guard offlineAccess == .parameter, prompt != Prompt.none, prompt != .consent else { return prompt?.rawValue }
    return [prompt?.rawValue, Prompt.consent.rawValue].compactMap(\.self).joined(separator: " ")
  }
}

/// The sign-in page at which people of Microsoft's providers begin: a domain of theirs, `organizations` or `consumers`,
/// or for B2C the name of a provider behind it.
public struct DomainHint: Sendable, Hashable {
  package let text: String

  /// A hint; nil for a text with another character than letters, digits, `-`, `.` and `_`.
  public init?(_ text: String) {
    guard text.isPlainName, (1...253).contains(text.utf8.count) else { return nil }
    self.text = text
  }
}

extension Authority {
  /// True if it reads `domain_hint`, which is Microsoft's own.
  package var takesDomainHints: Bool { kind != .issuer }

  /// True if people can create an account (`prompt=create`). Entra's metadata lists no prompts.
  package func canCreateAccounts(_ metadata: ProviderMetadata) -> Bool {
    if let known = metadata.prompts { return known.contains(Prompt.create.rawValue) }
    return switch kind {
    case .entra, .ciam: true
    case .adfs, .b2c, .issuer: false
    }
  }
}
