// A token request read from its form: which grant, by which application, for what.

internal import Bytes
internal import Tokens

struct TokenEndpointRequest: Equatable {
  enum Grant: Equatable {
    /// Its own name and secret (RFC 6749 §4.4).
    case clientCredentials
    /// The code of a sign-in (RFC 6749 §4.1.3).
    case authorizationCode(String, redirectURI: String?, verifier: String?)
    /// The refresh token of an earlier reply (RFC 6749 §6).
    case refreshToken(String)
    /// The device code (RFC 8628 §3.4).
    case deviceCode(String)
    /// The token that the application was called with (Entra's on-behalf-of).
    case onBehalfOf(String)
    /// The same by RFC 8693.
    case tokenExchange(String)
    /// An agent's own token, for its user account: a user name or an object.
    case userFederation(String, user: String)
  }

  var grant: Grant
  /// The agent identity that a blueprint's token is to prove.
  var agent: String?
  var client: ClientAuthentication
  /// The words of `scope`; nil: those of the sign-in.
  var scopes: [String]?
  /// True if the application wants to know the account by `client_info`.
  var wantsClientInfo: Bool
  /// The claims for the token.
  var claims: ClaimsAsked

  /// True if no person was at hand.
  var isSilent: Bool {
    switch grant {
    case .refreshToken, .onBehalfOf, .tokenExchange, .userFederation: true
    case .clientCredentials, .authorizationCode, .deviceCode: false
    }
  }

  private static let accessToken = "urn:ietf:params:oauth:token-type:access_token"

  init(body: [UInt8], authorization: String?) throws(ProviderError) {
    let form = try ReplyForm(request: body)
    grant = try Self.grant(form)
    agent = form["fmi_path"]?.lowercased()
    client = try ClientAuthentication(form: form, authorization: authorization)
    scopes = form["scope"]?.split(separator: " ").map(String.init)
    // An exchange may name the API instead (RFC 8693 §2.1).
    if case .tokenExchange = grant, scopes == nil, let audience = form["audience"] { scopes = ["\(audience)/.default"] }
    wantsClientInfo = form["client_info"] == "1"
    claims = try ClaimsAsked(form["claims"])
  }

  private static func grant(_ form: ReplyForm) throws(ProviderError) -> Grant {
    guard let type = form["grant_type"] else { throw .missingParameter("grant_type") }
    func required(_ name: String) throws(ProviderError) -> String {
      guard let value = form[name] else { throw .missingParameter(name) }
      return value
    }
    switch type {
    case "client_credentials":
      return .clientCredentials
    case "authorization_code":
      return .authorizationCode(
        try required("code"), redirectURI: form["redirect_uri"], verifier: form["code_verifier"])
    case "refresh_token":
      return .refreshToken(try required("refresh_token"))
    // The second name is older than RFC 8628; MSAL.NET sends it.
    case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
      return .deviceCode(try required("device_code"))
    case "urn:ietf:params:oauth:grant-type:jwt-bearer":
      guard form["requested_token_use"] == "on_behalf_of" else { throw .unsupportedParameter("requested_token_use") }
      return .onBehalfOf(try required("assertion"))
    case "urn:ietf:params:oauth:grant-type:token-exchange":
      guard try required("subject_token_type") == accessToken else { throw .unsupportedParameter("subject_token_type") }
      guard form["requested_token_type"].map({ $0 == accessToken }) ?? true else {
        throw .unsupportedParameter("requested_token_type")
      }
      return .tokenExchange(try required("subject_token"))
    case "user_fic":
      let token = try required("user_federated_identity_credential")
      guard (form["username"] == nil) != (form["user_id"] == nil) else { throw .malformedBody }
      return .userFederation(token, user: form["username"] ?? form["user_id"] ?? "")
    default:
      throw .unsupportedGrant(type)
    }
  }
}

/// An application's identifier and the secret it sent.
struct ClientAuthentication: Equatable {
  var clientIdentifier: String
  var secret: Secret?
  /// Another issuer's token (RFC 7523 §2.2).
  var assertion: String?

  /// From the form (`client_secret_post`), or from a Basic `Authorization` field, whose two parts are form-encoded
  /// (RFC 6749 §2.3.1). Using both is an error of that section.
  init(form: ReplyForm, authorization: String?) throws(ProviderError) {
    guard let authorization, authorization.lowercased().hasPrefix("basic ") else {
      guard let identifier = form["client_id"] else { throw .missingParameter("client_id") }
      clientIdentifier = identifier.lowercased()
      secret = form["client_secret"].map { Secret($0) }
      assertion = form["client_assertion"]
      guard assertion == nil || (secret == nil && form["client_assertion_type"] == Self.assertionType) else {
        throw .malformedBody
      }
      return
    }
    guard form["client_secret"] == nil, let decoded = Base64.decode(authorization.dropFirst(6)),
      let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
    else { throw .malformedBody }
    let parts = [decoded[..<colon], decoded[(colon + 1)...]].compactMap {
      PercentEncoding.decoded($0, isForm: true).flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard parts.count == 2 else { throw .malformedBody }
    (clientIdentifier, secret) = (parts[0].lowercased(), Secret(parts[1]))
    if let named = form["client_id"], named.lowercased() != clientIdentifier { throw .malformedBody }
  }

  private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// Refuses a proof that is missing, wrong, or not wanted.
  /// - Parameter origin: the provider's, below which the token endpoints are that assertions are for.
  func prove(_ application: RegisteredApplication, at origin: String, now: UnixTime) throws(ProviderError) {
    if application.isPublic {
      if secret != nil || assertion != nil { throw .secretOfPublicApplication }
      return
    }
    if let assertion { return try prove(application, by: assertion, at: origin, now: now) }
    guard let secret else { throw .noCredential }
    guard application.secrets.contains(where: { $0 == secret }) else {
      throw .wrongSecret(application: application.clientIdentifier)
    }
  }

  private func prove(
    _ application: RegisteredApplication, by assertion: String, at origin: String, now: UnixTime
  ) throws(ProviderError) {
    let token: SignedJWT
    do throws(JWTRefusal) {
      token = try SignedJWT(assertion)
    } catch {
      throw .malformedBody
    }
    if !application.certificates.isEmpty {
      return try prove(application, byCertificate: token, at: origin, now: now)
    }
    for credential in application.federatedCredentials {
      do throws(JWTRefusal) {
        if try credential.accepts(token, now: now) { return }
      } catch {
        if case .expired = error { throw .assertionOutOfTime }
      }
    }
    throw .unknownAssertion
  }

  private func prove(
    _ application: RegisteredApplication, byCertificate token: SignedJWT, at origin: String, now: UnixTime
  ) throws(ProviderError) {
    let client = application.clientIdentifier
    // Its own names of the endpoint, one per tenant and domain.
    let audiences = token.claims.audiences.filter { $0.hasPrefix("\(origin)/") && $0.hasSuffix("/oauth2/v2.0/token") }
    let rule = JWTValidation(
      issuer: client, audiences: Set(audiences), algorithms: Set(JWTAlgorithm.allCases), leeway: 0)
    do throws(JWTRefusal) {
      let claims = try rule.accept(token, now: now) { token, _ in
        application.certificates.contains { $0.signs(token) } ? .valid : .invalid
      }
      if claims.subject == client { return }
    } catch {
      if case .expired = error { throw .assertionOutOfTime }
    }
    throw .unknownCertificate
  }
}
