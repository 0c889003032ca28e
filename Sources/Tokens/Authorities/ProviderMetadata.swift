import Bytes
package import HTTP

/// Metadata that is not used.
public enum ProviderMetadataError: Error, Sendable, Hashable {
  case notJSON
  /// A required member is absent or not a string.
  case missing(member: String)
  /// The issuer is not one that this authority may name.
  case issuer(found: String)
  /// An endpoint is not an https URL (or http on loopback, for an authority that is so itself).
  case endpoint(member: String)
}

/// An endpoint for requests in which an application proves itself, by its name in metadata.
package enum ProviderEndpoint: String, Sendable, Hashable, CaseIterable {
  case token = "token_endpoint"
  /// For device codes (RFC 8628 §4).
  case deviceAuthorization = "device_authorization_endpoint"
  /// For ending tokens (RFC 7009).
  case revocation = "revocation_endpoint"
  /// For the parameters of a sign-in, ahead of the browser (RFC 9126).
  case pushedAuthorization = "pushed_authorization_request_endpoint"
}

/// The part of a provider's metadata that sign-ins and token requests need (OpenID Connect Discovery 1.0 §3).
package struct ProviderMetadata: Sendable, Hashable {
  /// The issuer, as the provider spells it.
  package let issuer: String
  package let tokenEndpoint: HTTPURL
  /// The places that a client secret may have, the preferred one first; at least one.
  package let secretPlacements: [ClientSecretPlacement]
  /// The address that a person's browser is sent to; nil for a provider without sign-ins.
  package let authorizationEndpoint: HTTPURL?
  /// The address for a person's browser after signing out here (OpenID Connect RP-Initiated Logout 1.0 §2.1).
  package let endSessionEndpoint: HTTPURL?
  /// The address of the keys that sign ID tokens.
  package let keysURL: HTTPURL?
  /// The ways in which codes come back; if the provider names none, we assume `query` alone.
  package let responseModes: Set<String>
  /// True if answers of the authorization endpoint always name the issuer (RFC 9207 §3).
  package let namesIssuerInReplies: Bool
  /// True if browsers may bring pushed requests only (RFC 9126 §5).
  package let requiresPushedAuthorization: Bool
  /// True if only the beginner of a sign-in can redeem its code (PKCE with S256, RFC 7636).
  package let supportsPKCE: Bool
  /// The prompts that the provider knows (`prompt_values_supported`); nil if it does not say.
  package let prompts: Set<String>?
  /// The way in which a sign-in requests a refresh token.
  package var offlineAccess: OfflineAccess
  private let endpoints: [ProviderEndpoint: HTTPURL]
  /// The endpoints for applications that show a certificate (RFC 8705 §5).
  private let mutualTLSAliases: [ProviderEndpoint: HTTPURL]

  /// Reads and checks a metadata document found at `authority`.
  package init(json: [UInt8], authority: Authority) throws(ProviderMetadataError) {
    guard let members = JSONValue(json: json)?.members else { throw .notJSON }
    guard let issuer = members["issuer"]?.text else { throw .missing(member: "issuer") }
    guard authority.accepts(issuer: issuer) else { throw .issuer(found: String(issuer.prefix(200))) }
    self.issuer = issuer
    let token = ProviderEndpoint.token.rawValue
    guard members[token]?.text != nil else { throw .missing(member: token) }
    guard let url = Self.endpoint(token, of: members, authority) else { throw .endpoint(member: token) }
    tokenEndpoint = url
    authorizationEndpoint = Self.endpoint("authorization_endpoint", of: members, authority)
    endSessionEndpoint = Self.endpoint("end_session_endpoint", of: members, authority)
    keysURL = Self.endpoint("jwks_uri", of: members, authority)
    endpoints = Self.endpoints(of: members, authority)
    mutualTLSAliases = Self.endpoints(of: members["mtls_endpoint_aliases"]?.members ?? [:], authority)
    responseModes = Set(members["response_modes_supported"]?.texts ?? [])
    namesIssuerInReplies = members["authorization_response_iss_parameter_supported"] == .bool(true)
    requiresPushedAuthorization = members["require_pushed_authorization_requests"] == .bool(true)
    supportsPKCE = members["code_challenge_methods_supported"]?.texts.contains("S256") ?? false
    prompts = members["prompt_values_supported"].map { Set($0.texts) }
    offlineAccess = OfflineAccess(issuer: issuer)
    let methods = members["token_endpoint_auth_methods_supported"]
    secretPlacements = ClientSecretPlacement.offered(supported: methods, authority: authority)
  }

  /// The address for a request; nil if the provider has no such endpoint. An application that shows a certificate must
  /// use the alias if there is one (RFC 8705 §5): only the alias asks for the certificate.
  package func url(of endpoint: ProviderEndpoint, showingCertificate: Bool = false) -> HTTPURL? {
    (showingCertificate ? mutualTLSAliases[endpoint] : nil) ?? endpoints[endpoint]
  }

  private static func endpoints(of members: [String: JSONValue], _ authority: Authority) -> [ProviderEndpoint: HTTPURL]
  {
    let found = ProviderEndpoint.allCases.compactMap { endpoint in
      self.endpoint(endpoint.rawValue, of: members, authority).map { (endpoint, $0) }
    }
    return Dictionary(uniqueKeysWithValues: found)
  }

  /// An endpoint; nil if there is none, or it cannot be trusted. Only sign-ins need those beside the token endpoint.
  private static func endpoint(
    _ member: String, of members: [String: JSONValue], _ authority: Authority
  ) -> HTTPURL? {
    guard let url = members[member]?.text.flatMap({ HTTPURL(ifValid: $0) }) else { return nil }
    return url.scheme == .https || (authority.url.scheme == .http && url.isLoopback) ? url : nil
  }

  /// Google's issuer. Its ID tokens may name it without the scheme.
  static let google = "https://accounts.google.com"

  /// The tenant as the unified cache stores it: the first segment of the token endpoint's path (msal-python's rule).
  package var realm: String {
    tokenEndpoint.target.prefix { $0 != "?" }.split(separator: "/").first.map(String.init) ?? ""
  }
}

/// The way in which a sign-in requests a refresh token.
package enum OfflineAccess: Sendable, Hashable {
  /// By the scope `offline_access` (OpenID Connect Core 1.0 §11).
  case scope
  /// By `access_type=offline` and a consent each time, as Google demands, which rejects the scope.
  case parameter
  /// Not at all: the application must not outlive its access tokens.
  case declined

  /// The way of the provider of this name.
  init(issuer: String) {
    self = issuer == ProviderMetadata.google ? .parameter : .scope
  }
}

extension ScopeSet {
  /// These scopes and those that a sign-in adds to them.
  package func decorated(_ offlineAccess: OfflineAccess) -> ScopeSet {
    switch offlineAccess {
    case .scope: decorated
    case .parameter, .declined: decorated.filtered { $0 != "offline_access" }
    }
  }
}
