// What the identity provider refuses, with Entra's numbers and words. How that becomes a document is `ErrorDocument`'s.

internal import Bytes
internal import FoundationEssentials
internal import Platform
internal import Tokens

/// Why the identity provider refuses a request.
enum ProviderError: Error, Hashable {
  /// There is no such tenant.
  case unknownTenant(String)
  /// `common`, `organizations` or `consumers` cannot serve this grant.
  case tenantNotSpecific
  /// The path means nothing here.
  case unknownPath
  /// The token endpoint takes POST only.
  case postOnly(received: String)
  /// The body is no form.
  case malformedBody
  /// A parameter stands there twice.
  case duplicateParameter(String)
  case missingParameter(String)
  /// The grant type is not one of ours.
  case unsupportedGrant(String)
  /// The tenant has no such application.
  case unknownApplication(String, tenant: String)
  /// The application did not try to prove itself.
  case noCredential
  /// The application's secret is another one.
  case wrongSecret(application: String)
  /// The application's assertion is signed by no certificate of its own, or for another audience.
  case unknownCertificate
  /// The application's assertion is from no issuer and subject that it trusts.
  case unknownAssertion
  /// The application's assertion has expired.
  case assertionOutOfTime
  /// An application asked for a scope that is not `<resource>/.default`.
  case scopeNotDefault(String)
  /// A scope that cannot be granted, several resources at once included.
  case invalidScope(String)
  /// The tenant has no such API.
  case unknownResource(String, tenant: String)
  /// Scopes of several APIs in one token request.
  case severalResources(String)
  /// The token could not be signed.
  case signing(CryptoError)
  /// A public application sent a secret.
  case secretOfPublicApplication

  // Signing in.

  /// The application did not register this redirect URI: nothing may be sent there.
  case unregisteredRedirectURI(String, application: String)
  /// A parameter has a value that means nothing here.
  case unsupportedParameter(String)
  /// The response type is not `code`.
  case unsupportedResponseType(String)
  /// A public application asks for a code without a PKCE challenge.
  case proofKeyRequired
  /// No account is signed in, and the person may not be asked.
  case signInRequired
  /// Several people are signed in, and none may be asked.
  case severalAccounts
  /// Consent is missing, and the person may not be asked.
  case consentNotAskedFor(String)
  /// The user name or the password is wrong.
  case wrongPassword
  /// The user is neither at home in the tenant nor its guest.
  case notInTenant(String, tenant: String)
  /// The one-time code is another one.
  case wrongCode
  /// A one-time code is needed, and the person may not be asked.
  case stepUpNotAskedFor
  /// The user said no.
  case declined
  /// The sign-in is over, or was begun in another browser.
  case noSuchInteraction
  /// Another site's page sent the form.
  case crossSite

  // Redeeming.

  /// A code or refresh token that this application was not given.
  case unknownGrant(String)
  /// The authorization code came too late.
  case codeExpired
  /// The authorization code was redeemed before.
  case codeUsed
  /// The redirect URI is not the one of the authorization request.
  case redirectURIMismatch
  /// The PKCE verifier does not fit.
  case proofKeyMismatch
  /// The code was issued for another tenant.
  case otherTenant
  /// The user did not consent to the scopes.
  case consentRequired(String)
  /// The user signed in without what is needed now: a sign-in with these claims brings it.
  case stepUpRequired(claims: String)
  /// The refresh token was not used for too long.
  case refreshTokenExpired
  /// The user's sessions were revoked.
  case sessionRevoked
  /// The refresh token has been replaced, and reuse is not tolerated.
  case refreshTokenReplaced
  /// The device has to wait for the user.
  case authorizationPending
  /// The device asks too often.
  case slowDown
  /// The user code was not typed in time.
  case deviceCodeExpired
  /// The user refused the device.
  case deviceDeclined
  /// There is no such device code, or it has been redeemed.
  case unknownDeviceCode
  /// The token that the application was called with has ended.
  case callersTokenExpired
  /// That token is for another application.
  case callersTokenForAnother(String)
  /// That token is no person's, or not of this provider.
  case assertionUntrusted
  /// What was ordered.
  case ordered(ProviderBehaviour.Failure)

  /// The number after `AADSTS`.
  var code: Int {
    switch self {
    case .unknownTenant: 90002
    case .tenantNotSpecific: 50059
    case .unknownPath: 90023
    case .postOnly: 900561
    case .malformedBody: 9_002_313
    case .duplicateParameter: 9_000_411
    case .missingParameter: 900144
    case .unsupportedGrant: 70003
    case .unknownApplication: 700016
    case .noCredential: 7_000_218
    case .wrongSecret: 7_000_215
    case .unknownCertificate: 700_027
    case .unknownAssertion: 70021
    case .assertionOutOfTime: 700024
    case .scopeNotDefault: 1_002_012
    case .invalidScope: 70011
    case .unknownResource: 500011
    case .severalResources: 28000
    case .signing: 90033
    case .secretOfPublicApplication: 700025
    case .unregisteredRedirectURI: 50011
    case .unsupportedParameter, .crossSite: 90023
    case .unsupportedResponseType: 700054
    case .proofKeyRequired: 9_002_325
    case .signInRequired: 50058
    case .severalAccounts: 16000
    case .consentNotAskedFor, .consentRequired: 65001
    case .wrongPassword: 50126
    case .wrongCode: 500121
    case .stepUpNotAskedFor, .stepUpRequired: 50076
    case .notInTenant: 50020
    case .declined, .deviceDeclined: 65004
    case .noSuchInteraction: 50089
    case .unknownGrant, .refreshTokenReplaced: 70000
    case .codeExpired: 70008
    case .codeUsed: 54005
    case .redirectURIMismatch: 500112
    case .proofKeyMismatch: 501481
    case .otherTenant: 700005
    case .refreshTokenExpired: 700082
    case .sessionRevoked: 50173
    case .authorizationPending, .slowDown: 70016
    case .deviceCodeExpired: 70020
    case .unknownDeviceCode: 70018
    case .callersTokenExpired: 500133
    case .callersTokenForAnother: 500131
    case .assertionUntrusted: 50013
    case .ordered(let failure): failure.code
    }
  }

  /// The OAuth error (RFC 6749 §5.2, and Entra's `invalid_resource`).
  var name: String {
    switch self {
    case .unknownTenant, .tenantNotSpecific, .unknownPath, .postOnly, .malformedBody, .duplicateParameter,
      .missingParameter, .unregisteredRedirectURI, .unsupportedParameter, .crossSite, .proofKeyRequired,
      .noSuchInteraction:
      "invalid_request"
    case .unsupportedGrant: "unsupported_grant_type"
    case .unknownApplication: "unauthorized_client"
    case .noCredential, .wrongSecret, .unknownCertificate, .unknownAssertion, .assertionOutOfTime,
      .secretOfPublicApplication:
      "invalid_client"
    case .scopeNotDefault, .invalidScope, .severalResources: "invalid_scope"
    case .unknownResource: "invalid_resource"
    case .signing: "temporarily_unavailable"
    case .unsupportedResponseType: "unsupported_response_type"
    case .signInRequired: "login_required"
    case .severalAccounts, .stepUpNotAskedFor, .stepUpRequired: "interaction_required"
    case .consentNotAskedFor: "consent_required"
    case .declined: "access_denied"
    case .wrongPassword, .wrongCode, .notInTenant, .unknownGrant, .codeExpired, .codeUsed, .redirectURIMismatch,
      .proofKeyMismatch, .otherTenant, .consentRequired, .refreshTokenExpired, .sessionRevoked, .refreshTokenReplaced,
      .callersTokenExpired, .callersTokenForAnother, .assertionUntrusted:
      "invalid_grant"
    case .authorizationPending: "authorization_pending"
    case .slowDown: "slow_down"
    case .deviceCodeExpired: "expired_token"
    case .deviceDeclined: "authorization_declined"
    case .unknownDeviceCode: "bad_verification_code"
    case .ordered(let failure): failure.error
    }
  }

  /// Entra's second word, where there is one.
  var suberror: String? {
    switch self {
    case .consentRequired: "consent_required"
    case .stepUpRequired: "basic_action"
    case .refreshTokenExpired: "token_expired"
    case .sessionRevoked, .refreshTokenReplaced: "bad_token"
    case .ordered(let failure): failure.suberror
    default: nil
    }
  }

  /// The claims that a sign-in would have to bring, where it says so: JSON text.
  var claims: String? {
    switch self {
    case .stepUpRequired(let claims): claims
    case .ordered(let failure): failure.claims
    default: nil
    }
  }

  /// The HTTP status.
  var status: Int {
    switch self {
    case .noCredential, .wrongSecret, .unknownCertificate, .unknownAssertion, .assertionOutOfTime,
      .secretOfPublicApplication:
      401
    case .crossSite: 403
    case .unknownPath: 404
    case .signing: 503
    case .ordered(let failure): failure.status
    default: 400
    }
  }

  /// What went wrong, in words.
  var message: String {
    switch self {
    case .unknownTenant(let name):
      "Tenant '\(name)' not found. Check to make sure you have the correct tenant ID and are signing into the correct "
        + "cloud."
    case .tenantNotSpecific:
      "No tenant-identifying information found in either the request or implied by any provided credentials."
    case .unknownPath: "The request path means nothing to this identity provider."
    case .postOnly(let method): "The endpoint only accepts POST requests. Received a \(method) request."
    case .malformedBody: "Invalid request. Request is malformed or invalid."
    case .duplicateParameter(let name): "The request is not properly formatted. The parameter '\(name)' is duplicated."
    case .missingParameter(let name): "The request body must contain the following parameter: '\(name)'."
    case .unsupportedGrant(let grant): "The app requested an unsupported grant type '\(grant)'."
    case .unknownApplication(let identifier, let tenant):
      "Application with identifier '\(identifier)' was not found in the directory '\(tenant)'."
    case .noCredential:
      "The request body must contain the following parameter: 'client_assertion' or 'client_secret'."
    case .wrongSecret(let application):
      "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the "
        + "client secret ID, for a secret added to app '\(application)'."
    case .unknownCertificate:
      "The certificate used to sign the client assertion is not registered on the application, or the assertion is not "
        + "this application's, or for another endpoint."
    case .unknownAssertion:
      "No matching federated identity record found for presented assertion."
    case .assertionOutOfTime:
      "Client assertion is not within its valid time range."
    case .scopeNotDefault(let scope):
      "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value with "
        + "/.default suffixed to the resource identifier (application ID URI)."
    case .invalidScope(let scope):
      "The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' "
        + "is not valid. The scope \(scope) is not valid."
    case .unknownResource(let resource, let tenant):
      "The resource principal named \(resource) was not found in the tenant named \(tenant)."
    case .severalResources(let scope):
      "Provided value for the input parameter scope is not valid because it contains more than one resource. Scope "
        + "\(scope) is not valid."
    case .signing: "A transient error has occurred. Please try again."
    case .secretOfPublicApplication:
      "Client is public so neither 'client_assertion' nor 'client_secret' should be presented."
    case .unregisteredRedirectURI(let uri, let application):
      "The redirect URI '\(uri)' specified in the request does not match the redirect URIs configured for the "
        + "application '\(application)'."
    case .unsupportedParameter(let name): "The value of the parameter '\(name)' is not supported."
    case .unsupportedResponseType(let type): "response_type '\(type)' is not enabled for the application."
    case .proofKeyRequired: "Proof Key for Code Exchange is required for this application."
    case .signInRequired:
      "Session information is not sufficient for single-sign-on: nobody suitable is signed in, and prompt=none was "
        + "sent."
    case .severalAccounts: "Several accounts are signed in and none was named, and prompt=none was sent."
    case .consentNotAskedFor(let application), .consentRequired(let application):
      "The user or administrator has not consented to use the application with ID '\(application)'. Send an "
        + "interactive authorization request for this user and resource."
    case .wrongPassword: "The user name or the password is wrong."
    case .wrongCode: "That was another code. A new one is shown below."
    case .stepUpNotAskedFor, .stepUpRequired:
      "Due to a configuration change made by your administrator, or because you moved to a new location, you must use "
        + "multi-factor authentication to access the resource."
    case .notInTenant(let user, let tenant):
      "User account '\(user)' does not exist in tenant '\(tenant)' and cannot access the application in it."
    case .declined, .deviceDeclined: "User declined to consent to access the app."
    case .noSuchInteraction: "This sign-in is over, or it was begun in another browser. Please begin again."
    case .crossSite: "The request came from a page of another site."
    case .unknownGrant(let name): "The provided value for the input parameter '\(name)' is not valid."
    case .codeExpired: "The provided authorization code is expired."
    case .codeUsed: "OAuth2 Authorization code was already redeemed, please retry with a new valid code."
    case .redirectURIMismatch: "The reply address does not match the reply address provided when requesting the code."
    case .proofKeyMismatch: "The Code_Verifier does not match the code_challenge supplied in the authorization request."
    case .otherTenant: "Provided Authorization Code is intended to use against another tenant."
    case .refreshTokenExpired: "The refresh token has expired due to inactivity."
    case .sessionRevoked:
      "The provided grant has expired due to it being revoked, a fresh auth token is needed."
    case .refreshTokenReplaced: "The refresh token has been replaced by a newer one and must not be used again."
    case .authorizationPending: "Pending end-user authorization."
    case .slowDown: "The device asks too often. Wait longer between two requests."
    case .deviceCodeExpired: "The device code has expired."
    case .unknownDeviceCode: "The verification code is not valid."
    case .callersTokenExpired:
      "Assertion is not within its valid time range. Ensure that the access token is not expired before using it for "
        + "user assertion, or request a new token."
    case .callersTokenForAnother(let application):
      "Assertion audience does not match the Client app presenting the assertion. The audience in the assertion has to "
        + "be '\(application)'."
    case .assertionUntrusted:
      "Assertion failed signature validation, or it is not about a user."
    case .ordered: "This failure was ordered."
    }
  }
}

/// By which an operator finds one request again.
struct RequestIdentifiers: Hashable {
  /// The provider's own, new for every request.
  var trace: String
  /// The caller's `client-request-id`, or the provider's where it sent none.
  var correlation: String

  /// `clientRequest` is the caller's header; only a UUID is taken over.
  init(clientRequest: String?) {
    trace = UUID().uuidString.lowercased()
    correlation = (clientRequest.flatMap { UUID(uuidString: $0) } ?? UUID()).uuidString.lowercased()
  }
}

/// An error as the token endpoint answers it.
struct ErrorDocument: Codable, Hashable {
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
