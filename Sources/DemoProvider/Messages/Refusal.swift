internal import Bytes
internal import FoundationEssentials
internal import Platform

/// A reason to refuse a request, with Entra's number and words.
struct Refusal: Error, Hashable {
  /// The number after `AADSTS`.
  var code: Int
  var message: String
  /// The OAuth error (RFC 6749 §5.2, and Entra's `invalid_resource`).
  var error = "invalid_request"
  var status = 400
  /// Entra's second word.
  var suberror: String?
  /// The claims that a sign-in must bring: JSON text.
  var claims: String?

  /// The refusal in the demonstration's log.
  var note: String { "AADSTS\(code) \(error)" }

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

// The kinds. A refusal of one place has its number and words there; those of several are below.
extension Refusal {
  static func request(
    _ code: Int, _ message: String, error: String = "invalid_request", status: Int = 400
  ) -> Refusal {
    Refusal(code: code, message: message, error: error, status: status)
  }

  static func client(_ code: Int, _ message: String) -> Refusal {
    .request(code, message, error: "invalid_client", status: 401)
  }

  static func grant(_ code: Int, _ message: String, suberror: String? = nil) -> Refusal {
    Refusal(code: code, message: message, error: "invalid_grant", suberror: suberror)
  }

  static func scope(_ code: Int, _ scope: String, _ reason: String = "") -> Refusal {
    .request(code, "The value \(scope) for the parameter 'scope' is not valid\(reason).", error: "invalid_scope")
  }
}

extension Refusal {
  static let unknownPath = request(90023, "This identity provider has no such path.", status: 404)
  static let postOnly = request(900_561, "The endpoint only accepts POST requests.")
  static let malformed = request(9_002_313, "Invalid request. Request is malformed or invalid.")
  static let crossSite = request(90023, "The request came from a page of another site.", status: 403)
  static func missingParameter(_ name: String) -> Refusal {
    request(900_144, "The request body must contain the following parameter: '\(name)'.")
  }
  static func unsupportedParameter(_ name: String) -> Refusal {
    request(90023, "The value of the parameter '\(name)' is not supported.")
  }
  static func transient(_: CryptoError) -> Refusal {
    request(90033, "A transient error has occurred. Please try again.", error: "temporarily_unavailable", status: 503)
  }
  static func unknownApplication(_ client: String, _ tenant: String) -> Refusal {
    request(
      700_016, "Application with identifier '\(client)' was not found in the directory '\(tenant)'.",
      error: "unauthorized_client")
  }
  static let noCredential = client(
    7_000_218, "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
  /// `error` is `consent_required` at the authorization endpoint.
  static func consentRequired(_ client: String, error: String = "invalid_grant") -> Refusal {
    Refusal(
      code: 65001, message: "The user or administrator has not consented to use the application with ID '\(client)'.",
      error: error, suberror: error == "invalid_grant" ? "consent_required" : nil)
  }
  static let signInRequired = request(
    50058, "Nobody suitable is signed in, and prompt=none was sent.", error: "login_required")
  static let noSuchInteraction = request(
    50089, "This sign-in is over, or it was begun in another browser. Please begin again.")
  static func notInTenant(_ user: String, _ tenant: String) -> Refusal {
    grant(50020, "User account '\(user)' does not exist in tenant '\(tenant)' and cannot access the application in it.")
  }
  /// A one-time code is needed. `claims`: of a sign-in that brings it; nil if the person may not be asked.
  static func stepUp(claims: String?) -> Refusal {
    Refusal(
      code: 50076,
      message: "Due to a configuration change, you must use multi-factor authentication to access the resource.",
      error: "interaction_required", suberror: claims == nil ? nil : "basic_action", claims: claims)
  }
  static func unknownGrant(_ name: String) -> Refusal { grant(70000, "The parameter '\(name)' is not valid.") }
  static let untrustedAssertion = grant(50013, "Assertion failed signature validation, or it is not about a user.")
}
