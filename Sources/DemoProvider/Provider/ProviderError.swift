// Owns what the identity provider refuses, with Entra's numbers and words. How that becomes a document is
// `ErrorDocument`'s.

internal import Network

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
  /// A parameter is missing.
  case missingParameter(String)
  /// The grant type is not one of ours.
  case unsupportedGrant(String)
  /// The tenant has no such application.
  case unknownApplication(String, tenant: String)
  /// The application did not try to prove itself.
  case noCredential
  /// The application's secret is another one.
  case wrongSecret(application: String)
  /// An application asked for a scope that is not `<resource>/.default`.
  case scopeNotDefault(String)
  /// A scope that cannot be granted, several resources at once included.
  case invalidScope(String)
  /// The tenant has no such API.
  case unknownResource(String, tenant: String)
  /// The token could not be signed.
  case signing(CryptoError)

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
    case .scopeNotDefault: 1_002_012
    case .invalidScope: 70011
    case .unknownResource: 500011
    case .signing: 90033
    }
  }

  /// The OAuth error (RFC 6749 §5.2, and Entra's `invalid_resource`).
  var name: String {
    switch self {
    case .unknownTenant, .tenantNotSpecific, .unknownPath, .postOnly, .malformedBody, .duplicateParameter,
      .missingParameter:
      "invalid_request"
    case .unsupportedGrant: "unsupported_grant_type"
    case .unknownApplication: "unauthorized_client"
    case .noCredential, .wrongSecret: "invalid_client"
    case .scopeNotDefault, .invalidScope: "invalid_scope"
    case .unknownResource: "invalid_resource"
    case .signing: "temporarily_unavailable"
    }
  }

  /// The HTTP status.
  var status: Int {
    switch self {
    case .noCredential, .wrongSecret: 401
    case .unknownPath: 404
    case .signing: 503
    default: 400
    }
  }

  /// What went wrong, in words.
  var message: String {
    switch self {
    case .unknownTenant(let name):
      "Tenant '\(name)' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud."
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
      "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '\(application)'."
    case .scopeNotDefault(let scope):
      "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI)."
    case .invalidScope(let scope):
      "The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid. The scope \(scope) is not valid."
    case .unknownResource(let resource, let tenant):
      "The resource principal named \(resource) was not found in the tenant named \(tenant)."
    case .signing: "A transient error has occurred. Please try again."
    }
  }
}
