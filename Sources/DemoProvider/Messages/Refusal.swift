internal import Bytes
internal import FoundationEssentials
internal import Tokens

/// A reason to refuse a request, with Entra's number and words.
struct Refusal: Error, Hashable {
  /// The number after `AADSTS`.
  var code: Int
  var message: String
  /// The OAuth error (RFC 6749 §5.2, and Entra's `invalid_resource`).
  var error: String
  var status: Int
  /// Entra's second word.
  var suberror: String?
  /// The claims that a sign-in must bring: JSON text.
  var claims: String?

  init(
    _ code: Int, _ message: String, error: String = "invalid_request", status: Int = 400, suberror: String? = nil,
    claims: String? = nil
  ) {
    (self.code, self.message, self.error, self.status) = (code, message, error, status)
    (self.suberror, self.claims) = (suberror, claims)
  }

  /// The refusal as the token endpoint answers it.
  func document(now: UnixTime) -> Members {
    let (trace, correlation) = (UUID().uuidString.lowercased(), UUID().uuidString.lowercased())
    let date = Date(timeIntervalSince1970: TimeInterval(now.seconds))
    let timestamp = date.formatted(.iso8601.dateTimeSeparator(.space))
    return [
      "error": error, "error_codes": [Int64(code)], "timestamp": timestamp, "trace_id": trace,
      "error_description":
        "AADSTS\(code): \(message) Trace ID: \(trace) Correlation ID: \(correlation) Timestamp: \(timestamp)",
      "correlation_id": correlation, "suberror": suberror, "claims": claims,
    ]
  }
}

// Requests.
extension Refusal {
  static func unknownTenant(_ name: String) -> Refusal { Refusal(90002, "Tenant '\(name)' not found.") }
  static let tenantNotSpecific = Refusal(50059, "No tenant-identifying information found in the request.")
  static let unknownPath = Refusal(90023, "This identity provider has no such path.", status: 404)
  static let postOnly = Refusal(900_561, "The endpoint only accepts POST requests.")
  static let malformed = Refusal(9_002_313, "Invalid request. Request is malformed or invalid.")
  static func missingParameter(_ name: String) -> Refusal {
    Refusal(900_144, "The request body must contain the following parameter: '\(name)'.")
  }
  static func unsupportedParameter(_ name: String) -> Refusal {
    Refusal(90023, "The value of the parameter '\(name)' is not supported.")
  }
  static let crossSite = Refusal(90023, "The request came from a page of another site.", status: 403)
  static let transient = Refusal(
    90033, "A transient error has occurred. Please try again.", error: "temporarily_unavailable", status: 503)
}

// Applications.
extension Refusal {
  private static func client(_ code: Int, _ message: String) -> Refusal {
    Refusal(code, message, error: "invalid_client", status: 401)
  }

  static func unknownApplication(_ client: String, _ tenant: String) -> Refusal {
    Refusal(
      700_016, "Application with identifier '\(client)' was not found in the directory '\(tenant)'.",
      error: "unauthorized_client")
  }
  static let noCredential = client(
    7_000_218, "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
  static func wrongSecret(of client: String) -> Refusal {
    self.client(
      7_000_215, "Invalid client secret provided. Ensure that it is the secret's value, not its ID: app '\(client)'.")
  }
  static let unknownCertificate = client(
    700_027, "The certificate that signed the client assertion is not registered, or the assertion is for another use.")
  static let unknownAssertion = client(70021, "No matching federated identity record found for presented assertion.")
  static let assertionOutOfTime = client(700_024, "Client assertion is not within its valid time range.")
}

// Scopes.
extension Refusal {
  private static func scope(_ code: Int, _ scope: String, _ reason: String) -> Refusal {
    Refusal(code, "The value \(scope) for the parameter 'scope' is not valid\(reason).", error: "invalid_scope")
  }

  static func invalidScope(_ scope: String) -> Refusal { self.scope(70011, scope, "") }
  static func scopeNotDefault(_ scope: String) -> Refusal {
    self.scope(1_002_012, scope, ": client credential flows need a scope value with /.default at its end")
  }
  static func severalResources(_ scope: String) -> Refusal {
    self.scope(28000, scope, " because it contains more than one resource")
  }
  static func unknownResource(_ resource: String) -> Refusal {
    Refusal(
      500_011, "The resource principal named \(resource) was not found in the tenant.", error: "invalid_resource")
  }
  /// `error` is `consent_required` at the authorization endpoint.
  static func consentRequired(_ client: String, error: String = "invalid_grant") -> Refusal {
    Refusal(
      65001, "The user or administrator has not consented to use the application with ID '\(client)'.", error: error,
      suberror: error == "invalid_grant" ? "consent_required" : nil)
  }
}

// Signing in.
extension Refusal {
  static func unregistered(redirectURI uri: String, of client: String) -> Refusal {
    Refusal(50011, "The redirect URI '\(uri)' is none of those configured for the application '\(client)'.")
  }
  static let signInRequired = Refusal(
    50058, "Nobody suitable is signed in, and prompt=none was sent.", error: "login_required")
  static let severalAccounts = Refusal(
    16000, "Several accounts are signed in and none was named, and prompt=none was sent.",
    error: "interaction_required")
  static let wrongPassword = grant(50126, "The user name or the password is wrong.")
  static let wrongCode = grant(500_121, "That was another code. A new one is shown below.")
  static func notInTenant(_ user: String, _ tenant: String) -> Refusal {
    grant(50020, "User account '\(user)' does not exist in tenant '\(tenant)' and cannot access the application in it.")
  }
  /// A one-time code is needed. `claims`: of a sign-in that brings it; nil if the person may not be asked.
  static func stepUp(claims: String?) -> Refusal {
    Refusal(
      50076, "Due to a configuration change, you must use multi-factor authentication to access the resource.",
      error: "interaction_required", suberror: claims == nil ? nil : "basic_action", claims: claims)
  }
  /// `error` is `authorization_declined` for a device.
  static func declined(error: String = "access_denied") -> Refusal {
    Refusal(65004, "User declined to consent to access the app.", error: error)
  }
  static let noSuchInteraction = Refusal(
    50089, "This sign-in is over, or it was begun in another browser. Please begin again.")
}

// Grants.
extension Refusal {
  private static func grant(_ code: Int, _ message: String, suberror: String? = nil) -> Refusal {
    Refusal(code, message, error: "invalid_grant", suberror: suberror)
  }

  static func unknownGrant(_ name: String) -> Refusal { grant(70000, "The parameter '\(name)' is not valid.") }
  static let codeUsed = grant(54005, "OAuth2 Authorization code was already redeemed.")
  static let redirectURIMismatch = grant(500_112, "The reply address is not the one that requested the code.")
  static let proofKeyMismatch = grant(501_481, "The Code_Verifier does not match the code_challenge.")
  static let sessionRevoked = grant(
    50173, "The provided grant has expired due to it being revoked, a fresh auth token is needed.",
    suberror: "bad_token")
  static let refreshTokenReplaced = grant(
    70000, "The refresh token has been replaced by a newer one and must not be used again.", suberror: "bad_token")
  static let authorizationPending = Refusal(
    70016, "Pending end-user authorization.", error: "authorization_pending")
  static let slowDown = Refusal(70016, "The device asks too often.", error: "slow_down")
  static let deviceCodeExpired = Refusal(70020, "The device code has expired.", error: "expired_token")
  static let unknownDeviceCode = Refusal(
    70018, "The verification code is not valid.", error: "bad_verification_code")
  static let callersTokenExpired = grant(500_133, "Assertion is not within its valid time range.")
  static func callersTokenForAnother(_ client: String) -> Refusal {
    grant(500_131, "The audience of the assertion must be the app that presents it, '\(client)'.")
  }
  static let untrustedAssertion = grant(50013, "Assertion failed signature validation, or it is not about a user.")
}
