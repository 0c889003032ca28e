// The challenges and sentences that tell callers that a person is needed. They name neither the account nor the
// provider's message: a caller of the proxy need not know whose account it uses.

internal import Bytes
internal import Identity
internal import Routing
internal import Telemetry
internal import Tokens

extension InteractionRequired {
  /// The value of `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3, and Microsoft's `authorization_uri` and `claims`).
  ///
  /// Claims are in standard base64, as Microsoft's own APIs send them. No parameter needs escaping: scopes and URLs
  /// have neither quotes nor backslashes.
  var challenge: String {
    var parameters = [
      ("realm", authority.tenantName ?? ""), ("authorization_uri", authority.authorizationURI),
      ("error", claims == nil ? "interaction_required" : "insufficient_claims"),
    ]
    if !scopes.isEmpty { parameters.append(("scope", scopes.description)) }
    if let claims { parameters.append(("claims", Base64.encode(Array(claims.text.utf8)))) }
    return "Bearer " + parameters.map { "\($0)=\"\($1)\"" }.joined(separator: ", ")
  }
}

extension AssertionRefused {
  /// The value of `WWW-Authenticate`; nil if another token would not help. Claims are in standard base64, as
  /// Microsoft's own APIs send them. A new token for this proxy must prove them: scopes are not named.
  var challenge: String? {
    let location = #"Bearer realm="bearer-proxy", authorization_uri="\#(authority.authorizationURI)""#
    return switch refusal {
    case .claims(let claims):
      #"\#(location), error="insufficient_claims", claims="\#(Base64.encode(Array(claims.text.utf8)))""#
    case .invalidToken: #"\#(location), error="invalid_token""#
    case .consent, .denied: nil
    }
  }

  /// The page on which an administrator consents for a tenant; nil if the provider's is not known.
  var consentAddress: String? {
    switch authority.kind {
    case .entra: "\(authority)/adminconsent?client_id=\(clientID)"
    case .adfs, .b2c, .ciam, .issuer: nil
    }
  }
}

extension Authority {
  fileprivate var tenantName: String? {
    switch kind {
    case .entra(.specific(let tenant), _), .b2c(let tenant, _), .ciam(let tenant): tenant
    case .entra, .adfs, .issuer: nil
    }
  }

  /// The address of a sign-in. An issuer's own endpoint is in its metadata, which callers can find from here.
  fileprivate var authorizationURI: String {
    switch kind {
    case .entra, .b2c, .ciam: "\(self)/oauth2/v2.0/authorize"
    case .adfs: "\(self)/oauth2/authorize"
    case .issuer: description
    }
  }
}

extension InteractionRequired {
  /// Sentences for a caller: the cause and the cure. `route` is empty if it is not known, `link` nil if there is no
  /// page to sign in at.
  func words(route: String, link: String?, _ commands: OperatorCommands) -> String {
    let cause =
      switch reason {
      case .noAccount: "The account of this route is not signed in."
      case .accountAmbiguous: "Several accounts are signed in, and this route names none."
      case .noTokens: "The account of this route has nothing left to get a token with."
      case .userMismatch: "The identity provider answered for another person than the account of this route."
      case .consentRequired: "The account of this route has not consented to what the route needs."
      case .passwordExpired: "The password of this route's account has to be changed."
      case .basicAction: "The identity provider wants the account of this route to prove more, such as a second factor."
      case .additionalAction:
        "The identity provider wants something done outside the sign-in first, such as enrolling a device."
      case .messageOnly: "The identity provider has a message for the account of this route."
      case .protectionPolicyRequired:
        "A device policy keeps the account of this route out; signing in alone does not change that."
      case .signInRequired: "The account of this route has to sign in again."
      }
    let cure: Cure =
      switch reason {
      case .accountAmbiguous: .answerChoice
      case .protectionPolicyRequired: .answerPolicy
      case _ where link != nil: .answerSignIn
      case _ where commands.reachesCache: .answerLogin
      default: .answerCache
      }
    let login = "bearer-proxy login\(route.isEmpty ? "" : " --route \(route)")"
    return "\(cause) \(cure.words([.login: login]))"
  }
}
