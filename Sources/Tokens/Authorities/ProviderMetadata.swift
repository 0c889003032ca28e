// What is believed of a provider's OpenID Connect metadata, and when none of it is. Fetching it is Identity's.

import Bytes
package import HTTP

/// Why metadata is not used.
public enum ProviderMetadataError: Error, Sendable, Hashable {
  /// Not a JSON object.
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
  /// Where tokens are asked for.
  case token = "token_endpoint"
  /// Where device codes are asked for (RFC 8628 §4).
  case deviceAuthorization = "device_authorization_endpoint"
  /// Where tokens are ended (RFC 7009).
  case revocation = "revocation_endpoint"
  /// Where what a sign-in asks for is sent ahead of the browser (RFC 9126).
  case pushedAuthorization = "pushed_authorization_request_endpoint"
}

/// The part of a provider's metadata that sign-ins and token requests need (OpenID Connect Discovery 1.0 §3).
package struct ProviderMetadata: Sendable, Hashable {
  /// Who issues, as the provider spells it.
  package let issuer: String
  /// Where tokens are asked for.
  package let tokenEndpoint: HTTPURL
  /// Where a client secret may be written, the preferred placement first; at least one.
  package let secretPlacements: [ClientSecretPlacement]
  /// Where a person's browser is sent to; nil for a provider without sign-ins.
  package let authorizationEndpoint: HTTPURL?
  /// Where a person's browser is sent to after signing out here (OpenID Connect RP-Initiated Logout 1.0 §2.1).
  package let endSessionEndpoint: HTTPURL?
  /// Where the keys stand that ID tokens are signed with.
  package let keysURL: HTTPURL?
  /// How codes come back, by the provider's own account; nothing said is `query` alone for us.
  package let responseModes: Set<String>
  /// Whether answers of the authorization endpoint always name the issuer (RFC 9207 §3).
  package let namesIssuerInReplies: Bool
  /// Whether browsers may come only with what was pushed (RFC 9126 §5).
  package let requiresPushedAuthorization: Bool
  /// Whether a code is of use only to who began the sign-in (PKCE with S256, RFC 7636).
  package let supportsPKCE: Bool
  /// The prompts that the provider knows (`prompt_values_supported`); nil where it does not say.
  package let prompts: Set<String>?
  /// How a sign-in asks for a refresh token.
  package var offlineAccess: OfflineAccess
  private let endpoints: [ProviderEndpoint: HTTPURL]
  /// The same for applications that show a certificate (RFC 8705 §5).
  private let mutualTLSAliases: [ProviderEndpoint: HTTPURL]

  /// Reads and judges a metadata document found at `authority`.
  package init(json: [UInt8], authority: Authority) throws(ProviderMetadataError) {
    guard let members = JSONValue(json: json)?.members else { throw .notJSON }
    guard let issuer = members["issuer"]?.text else { throw .missing(member: "issuer") }
    guard authority.accepts(issuer: issuer) else { throw .issuer(found: String(issuer.prefix(200))) }
    self.issuer = issuer
    tokenEndpoint = try Self.endpoint("token_endpoint", of: members, authority: authority)
    authorizationEndpoint = Self.optionalEndpoint("authorization_endpoint", of: members, authority: authority)
    endSessionEndpoint = Self.optionalEndpoint("end_session_endpoint", of: members, authority: authority)
    keysURL = Self.optionalEndpoint("jwks_uri", of: members, authority: authority)
    endpoints = Self.endpoints(of: members, authority: authority)
    mutualTLSAliases = Self.endpoints(of: members["mtls_endpoint_aliases"]?.members ?? [:], authority: authority)
    responseModes = Set(members.texts("response_modes_supported"))
    namesIssuerInReplies = members["authorization_response_iss_parameter_supported"] == .bool(true)
    requiresPushedAuthorization = members["require_pushed_authorization_requests"] == .bool(true)
    supportsPKCE = members.texts("code_challenge_methods_supported").contains("S256")
    prompts = members["prompt_values_supported"].map { _ in Set(members.texts("prompt_values_supported")) }
    offlineAccess = OfflineAccess(issuer: issuer)
    let methods = members["token_endpoint_auth_methods_supported"]
    secretPlacements = ClientSecretPlacement.offered(supported: methods, authority: authority)
  }

  /// Where a request goes; nil where the provider has no such endpoint. An application that shows a certificate has to
  /// use the alias where there is one (RFC 8705 §5): only that asks for the certificate.
  package func url(of endpoint: ProviderEndpoint, showingCertificate: Bool = false) -> HTTPURL? {
    (showingCertificate ? mutualTLSAliases[endpoint] : nil) ?? endpoints[endpoint]
  }

  private static func endpoints(
    of members: [String: JSONValue], authority: Authority
  ) -> [ProviderEndpoint: HTTPURL] {
    let found = ProviderEndpoint.allCases.compactMap { endpoint in
      optionalEndpoint(endpoint.rawValue, of: members, authority: authority).map { (endpoint, $0) }
    }
    return Dictionary(uniqueKeysWithValues: found)
  }

  /// An endpoint that only sign-ins need: one that cannot be trusted is ignored, because token requests work without
  /// it.
  private static func optionalEndpoint(
    _ member: String, of members: [String: JSONValue], authority: Authority
  ) -> HTTPURL? {
    do throws(ProviderMetadataError) {
      return try endpoint(member, of: members, authority: authority)
    } catch {
      return nil
    }
  }

  private static func endpoint(
    _ member: String, of members: [String: JSONValue], authority: Authority
  ) throws(ProviderMetadataError) -> HTTPURL {
    guard let text = members[member]?.text else { throw .missing(member: member) }
    let url: HTTPURL
    do throws(HTTPURLError) {
      url = try HTTPURL(text)
    } catch {
      throw .endpoint(member: member)
    }
    let isAllowed = url.scheme == .https || (authority.url.scheme == .http && url.isLoopback)
    guard isAllowed else { throw .endpoint(member: member) }
    return url
  }

  /// Google's issuer. Its ID tokens may name it without the scheme.
  static let google = "https://accounts.google.com"

  /// The tenant as the unified cache files it: the first segment of the token endpoint's path (msal-python's rule).
  package var realm: String {
    tokenEndpoint.target.prefix { $0 != "?" }.split(separator: "/").first.map(String.init) ?? ""
  }
}

/// How a sign-in asks for a refresh token.
package enum OfflineAccess: Sendable, Hashable {
  /// By the scope `offline_access` (OpenID Connect Core 1.0 §11).
  case scope
  /// By `access_type=offline`, and a consent each time: Google refuses the scope, and gives a refresh token with the
  /// consent alone.
  case parameter
  /// Not at all: the application is not to outlive its access tokens.
  case declined

  /// What the provider of this name expects.
  init(issuer: String) {
    self = issuer == ProviderMetadata.google ? .parameter : .scope
  }
}

extension ScopeSet {
  /// These scopes and those that a sign-in asks for beside them.
  package func decorated(_ offlineAccess: OfflineAccess) -> ScopeSet {
    switch offlineAccess {
    case .scope: decorated
    case .parameter, .declined: decorated.filtered { $0 != "offline_access" }
    }
  }
}

extension [String: JSONValue] {
  /// The texts of an array; none where there is no array.
  fileprivate func texts(_ member: String) -> [String] {
    guard case .array(let values) = self[member] else { return [] }
    return values.compactMap(\.text)
  }
}
