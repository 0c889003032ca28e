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
  /// Where device codes are asked for (RFC 8628 §4); nil where there are none.
  package let deviceAuthorizationEndpoint: HTTPURL?
  /// Where the keys stand that ID tokens are signed with.
  package let keysURL: HTTPURL?
  /// How codes come back, by the provider's own account; nothing said is `query` alone for us.
  package let responseModes: Set<String>
  /// Whether answers of the authorization endpoint always name the issuer (RFC 9207 §3).
  package let namesIssuerInReplies: Bool

  /// Reads and judges a metadata document found at `authority`.
  package init(json: [UInt8], authority: Authority) throws(ProviderMetadataError) {
    guard let members = JSONValue(json: json)?.members else { throw .notJSON }
    guard let issuer = members["issuer"]?.text else { throw .missing(member: "issuer") }
    guard authority.accepts(issuer: issuer) else { throw .issuer(found: String(issuer.prefix(200))) }
    self.issuer = issuer
    tokenEndpoint = try Self.endpoint("token_endpoint", of: members, authority: authority)
    authorizationEndpoint = Self.optionalEndpoint("authorization_endpoint", of: members, authority: authority)
    deviceAuthorizationEndpoint = Self.optionalEndpoint(
      "device_authorization_endpoint", of: members, authority: authority)
    keysURL = Self.optionalEndpoint("jwks_uri", of: members, authority: authority)
    if case .array(let modes) = members["response_modes_supported"] {
      responseModes = Set(modes.compactMap(\.text))
    } else {
      responseModes = []
    }
    namesIssuerInReplies = members["authorization_response_iss_parameter_supported"] == .bool(true)
    let methods = members["token_endpoint_auth_methods_supported"]
    secretPlacements = ClientSecretPlacement.offered(supported: methods, authority: authority)
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

  /// The tenant as the unified cache files it: the first segment of the token endpoint's path (msal-python's rule).
  package var realm: String {
    tokenEndpoint.target.prefix { $0 != "?" }.split(separator: "/").first.map(String.init) ?? ""
  }
}
