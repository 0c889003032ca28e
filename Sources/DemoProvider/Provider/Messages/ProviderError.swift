internal import Bytes
internal import FoundationEssentials
internal import Platform
internal import Tokens

/// A reason to refuse a request.
struct ProviderError: Error, Hashable {
  /// The number after `AADSTS`.
  var code: Int
  /// The OAuth error (RFC 6749 §5.2, and Entra's `invalid_resource`).
  var name: String
  var status = 400
  var message: String
  /// Entra's second word.
  var suberror: String?
  /// The claims that a sign-in must bring: JSON text.
  var claims: String?
  /// Seconds in `Retry-After`.
  var retryAfter: Int?

  private static func request(_ code: Int, _ message: String, status: Int = 400) -> ProviderError {
    ProviderError(code: code, name: "invalid_request", status: status, message: message)
  }

  private static func client(_ code: Int, _ message: String) -> ProviderError {
    ProviderError(code: code, name: "invalid_client", status: 401, message: message)
  }

  private static func grant(
    _ code: Int, _ message: String, suberror: String? = nil, claims: String? = nil
  ) -> ProviderError {
    ProviderError(code: code, name: "invalid_grant", message: message, suberror: suberror, claims: claims)
  }

  private static func other(_ code: Int, _ name: String, _ message: String) -> ProviderError {
    ProviderError(code: code, name: name, message: message)
  }

  // MARK: Requests

  static func unknownTenant(_ name: String) -> ProviderError {
    request(
      90002,
      "Tenant '\(name)' not found. Check to make sure you have the correct tenant ID and are signing into the correct "
        + "cloud.")
  }
  /// `common`, `organizations` and `consumers` cannot serve this grant.
  static let tenantNotSpecific = request(
    50059, "No tenant-identifying information found in either the request or implied by any provided credentials.")
  static let unknownPath = request(90023, "The request path means nothing to this identity provider.", status: 404)
  static func postOnly(received method: String) -> ProviderError {
    request(900561, "The endpoint only accepts POST requests. Received a \(method) request.")
  }
  static let malformedBody = request(9_002_313, "Invalid request. Request is malformed or invalid.")
  static let duplicateParameter = request(
    9_000_411, "The request is not properly formatted. A parameter is duplicated.")
  static func missingParameter(_ name: String) -> ProviderError {
    request(900144, "The request body must contain the following parameter: '\(name)'.")
  }
  static func unsupportedParameter(_ name: String) -> ProviderError {
    request(90023, "The value of the parameter '\(name)' is not supported.")
  }
  /// Another site's page sent the form.
  static let crossSite = request(90023, "The request came from a page of another site.", status: 403)
  static func unsupportedGrant(_ grant: String) -> ProviderError {
    other(70003, "unsupported_grant_type", "The app requested an unsupported grant type '\(grant)'.")
  }
  static func signing(_ error: CryptoError) -> ProviderError {
    ProviderError(
      code: 90033, name: "temporarily_unavailable", status: 503,
      message: "A transient error has occurred. Please try again.")
  }
  static func ordered(_ failure: ProviderBehaviour.Failure) -> ProviderError {
    ProviderError(
      code: failure.code, name: failure.error, status: failure.status, message: "This failure was ordered.",
      suberror: failure.suberror, claims: failure.claims, retryAfter: failure.retry_after)
  }

  // MARK: Applications

  static func unknownApplication(_ identifier: String, tenant: String) -> ProviderError {
    other(
      700016, "unauthorized_client",
      "Application with identifier '\(identifier)' was not found in the directory '\(tenant)'.")
  }
  static let noCredential = client(
    7_000_218, "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
  static func wrongSecret(application: String) -> ProviderError {
    client(
      7_000_215,
      "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the "
        + "client secret ID, for a secret added to app '\(application)'.")
  }
  static let unknownCertificate = client(
    700_027,
    "The certificate used to sign the client assertion is not registered on the application, or the assertion is not "
      + "this application's, or for another endpoint.")
  static let unknownAssertion = client(
    70021, "No matching federated identity record found for presented assertion.")
  static let assertionOutOfTime = client(700024, "Client assertion is not within its valid time range.")
  static let secretOfPublicApplication = client(
    700025, "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.")

  // MARK: Scopes

  static func scopeNotDefault(_ scope: String) -> ProviderError {
    other(
      1_002_012, "invalid_scope",
      "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value with "
        + "/.default suffixed to the resource identifier (application ID URI).")
  }
  static func invalidScope(_ scope: String) -> ProviderError {
    other(
      70011, "invalid_scope",
      "The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' "
        + "is not valid. The scope \(scope) is not valid.")
  }
  static func unknownResource(_ resource: String, tenant: String) -> ProviderError {
    other(
      500011, "invalid_resource",
      "The resource principal named \(resource) was not found in the tenant named \(tenant).")
  }
  static func severalResources(_ scope: String) -> ProviderError {
    other(
      28000, "invalid_scope",
      "Provided value for the input parameter scope is not valid because it contains more than one resource. Scope "
        + "\(scope) is not valid.")
  }

  // MARK: Signing in

  /// Nothing may be sent to that address.
  static func unregisteredRedirectURI(_ uri: String, application: String) -> ProviderError {
    request(
      50011,
      "The redirect URI '\(uri)' specified in the request does not match the redirect URIs configured for the "
        + "application '\(application)'.")
  }
  static func unsupportedResponseType(_ type: String) -> ProviderError {
    other(700054, "unsupported_response_type", "response_type '\(type)' is not enabled for the application.")
  }
  static let proofKeyRequired = request(
    9_002_325, "Proof Key for Code Exchange is required for this application.")
  static let signInRequired = other(
    50058, "login_required",
    "Session information is not sufficient for single-sign-on: nobody suitable is signed in, and prompt=none was sent.")
  static let severalAccounts = other(
    16000, "interaction_required", "Several accounts are signed in and none was named, and prompt=none was sent.")
  private static func consentMessage(_ application: String) -> String {
    "The user or administrator has not consented to use the application with ID '\(application)'. Send an interactive "
      + "authorization request for this user and resource."
  }
  static func consentNotAskedFor(_ application: String) -> ProviderError {
    other(65001, "consent_required", consentMessage(application))
  }
  static func consentRequired(_ application: String) -> ProviderError {
    grant(65001, consentMessage(application), suberror: "consent_required")
  }
  static let wrongPassword = grant(50126, "The user name or the password is wrong.")
  static func notInTenant(_ user: String, tenant: String) -> ProviderError {
    grant(
      50020, "User account '\(user)' does not exist in tenant '\(tenant)' and cannot access the application in it.")
  }
  static let wrongCode = grant(500121, "That was another code. A new one is shown below.")
  /// A one-time code is needed, and the person may not be asked.
  static let stepUpNotAskedFor = other(
    50076, "interaction_required",
    "Due to a configuration change made by your administrator, or because you moved to a new location, you must use "
      + "multi-factor authentication to access the resource.")
  /// The same of a token request: a sign-in with these claims helps.
  static func stepUpRequired(claims: String) -> ProviderError {
    var error = stepUpNotAskedFor
    error.suberror = "basic_action"
    error.claims = claims
    return error
  }
  static let declined = other(65004, "access_denied", "User declined to consent to access the app.")
  static let noSuchInteraction = request(
    50089, "This sign-in is over, or it was begun in another browser. Please begin again.")

  // MARK: Redeeming

  static func unknownGrant(_ name: String) -> ProviderError {
    grant(70000, "The provided value for the input parameter '\(name)' is not valid.")
  }
  static let codeExpired = grant(70008, "The provided authorization code is expired.")
  static let codeUsed = grant(
    54005, "OAuth2 Authorization code was already redeemed, please retry with a new valid code.")
  static let redirectURIMismatch = grant(
    500112, "The reply address does not match the reply address provided when requesting the code.")
  static let proofKeyMismatch = grant(
    501481, "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
  static let otherTenant = grant(
    700005, "Provided Authorization Code is intended to use against another tenant.")
  static let refreshTokenExpired = grant(
    700082, "The refresh token has expired due to inactivity.", suberror: "token_expired")
  static let sessionRevoked = grant(
    50173, "The provided grant has expired due to it being revoked, a fresh auth token is needed.",
    suberror: "bad_token")
  static let refreshTokenReplaced = grant(
    70000, "The refresh token has been replaced by a newer one and must not be used again.", suberror: "bad_token")
  static let authorizationPending = other(70016, "authorization_pending", "Pending end-user authorization.")
  static let slowDown = other(70016, "slow_down", "The device asks too often. Wait longer between two requests.")
  static let deviceCodeExpired = other(70020, "expired_token", "The device code has expired.")
  static let deviceDeclined = other(
    65004, "authorization_declined", "User declined to consent to access the app.")
  static let unknownDeviceCode = other(70018, "bad_verification_code", "The verification code is not valid.")
  static let callersTokenExpired = grant(
    500133,
    "Assertion is not within its valid time range. Ensure that the access token is not expired before using it for "
      + "user assertion, or request a new token.")
  static func callersTokenForAnother(_ application: String) -> ProviderError {
    grant(
      500131,
      "Assertion audience does not match the Client app presenting the assertion. The audience in the assertion has to "
        + "be '\(application)'.")
  }
  static let assertionUntrusted = grant(50013, "Assertion failed signature validation, or it is not about a user.")
}

/// The identifiers by which an operator finds a request again.
struct RequestIdentifiers: Hashable {
  /// The provider's own, new for every request.
  var trace = UUID().uuidString.lowercased()
  /// The caller's `client-request-id` if it is a UUID, else a new one.
  var correlation: String

  init(clientRequest: String?) {
    correlation = (clientRequest.flatMap { UUID(uuidString: $0) } ?? UUID()).uuidString.lowercased()
  }
}

/// An error as the token endpoint answers it.
struct ErrorDocument: Encodable {
  var error: String
  var error_description: String
  var error_codes: [Int]
  var timestamp: String
  var trace_id: String
  var correlation_id: String
  var suberror: String?
  var claims: String?

  init(_ error: ProviderError, _ identifiers: RequestIdentifiers, now: UnixTime) {
    let date = Date(timeIntervalSince1970: TimeInterval(now.seconds))
    self.error = error.name
    timestamp = date.formatted(.iso8601.dateTimeSeparator(.space))
    trace_id = identifiers.trace
    correlation_id = identifiers.correlation
    error_codes = [error.code]
    suberror = error.suberror
    claims = error.claims
    error_description =
      "AADSTS\(error.code): \(error.message) Trace ID: \(trace_id) Correlation ID: \(correlation_id) Timestamp: "
      + "\(timestamp)"
  }
}
