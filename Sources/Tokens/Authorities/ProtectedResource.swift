package import Bytes
package import HTTP

/// A reason not to use the description of an API, or of a provider that it names.
package enum DiscoveryFault: Error, Sendable, Hashable {
  /// An address that is no absolute URL.
  case address(String)
  /// The challenge names an address at another origin than the API's.
  case otherOrigin(String)
  /// http beyond loopback.
  case plaintext(String)
  /// The address answers with a redirect, which is not followed.
  case redirect(String)
  /// The document is longer than `ProtectedResource.limit`.
  case tooLarge(String)
  /// There is another status than 200, 404 and 410.
  case status(Int, String)
  /// There is no answer, for this reason.
  case unreached(String)
  case notJSON(String)
  /// It describes another resource than the API.
  case otherResource(String)
  /// It names no provider.
  case withoutProvider
  /// `scopes_supported` has something that is no scope.
  case scopes
  /// No metadata are found at the provider.
  case providerUnknown(String)
  /// The provider's metadata name another issuer than the one that was asked for.
  case otherIssuer(asked: String, found: String)
  /// The provider's metadata cannot be used.
  case provider(String, ProviderMetadataError)

  /// A sentence without a full stop.
  package var words: String {
    switch self {
    case .address(let text): "'\(Self.plain(text))' is not an absolute URL"
    case .otherOrigin(let text): "its metadata are at another origin, \(Self.plain(text)), and are not read"
    case .plaintext(let text): "\(Self.plain(text)) is not https, and is not read"
    case .redirect(let text): "\(Self.plain(text)) redirects elsewhere, which is not followed"
    case .tooLarge(let text): "\(Self.plain(text)) is longer than 64 KiB, and is not read"
    case .status(let status, let text): "\(Self.plain(text)) is answered with \(status)"
    case .unreached(let reason): "no metadata: \(reason)"
    case .notJSON(let text): "\(Self.plain(text)) is no JSON object with the members of metadata"
    case .otherResource(let text): "its metadata are about another resource, '\(Self.plain(text))', and are not used"
    case .withoutProvider: "its metadata name no authorization_servers"
    case .scopes: "its scopes_supported has something that is no scope"
    case .providerUnknown(let text): "the provider '\(Self.plain(text))' publishes no metadata"
    case .otherIssuer(let asked, let found):
      "the provider '\(Self.plain(asked))' says that it is '\(Self.plain(found))', and is not used"
    case .provider(let text, let error): "the metadata of the provider '\(Self.plain(text))' are not usable: \(error)"
    }
  }

  private static func plain(_ text: String) -> String { text.printable(limit: 200) }
}

/// An API's description of itself (RFC 9728). The server at its address chooses the content, so every part is judged.
package struct ProtectedResource: Sendable, Hashable {
  /// Its name, which requests for its tokens carry (RFC 8707).
  package let resource: String
  /// The issuers of its tokens, in its order; at least one.
  package let issuers: [String]
  /// The scopes that it knows; none if it does not say.
  package private(set) var scopes: ScopeSet

  /// The largest document that is read, in bytes.
  package static let limit = 64 * 1024

  /// The addresses of the description of an API, in the order in which they are tried: the challenge's, or those with
  /// the well-known part before the API's path and before none (RFC 9728 §3.1).
  package static func places(of api: HTTPURL, challenge: String?) throws(DiscoveryFault) -> [HTTPURL] {
    guard api.scheme == .https || api.isLoopback else { throw .plaintext(api.origin) }
    if let challenge {
      let url = try url(challenge)
      guard url.origin == api.origin else { throw .otherOrigin(url.origin) }
      return [url]
    }
    let path = Self.path(api)
    return path.isEmpty ? [api.at(wellKnown)] : [api.at(wellKnown + path), api.at(wellKnown)]
  }

  /// Reads the description of an API. Its `resource` is the API's address, or one that the API's path begins with, by
  /// whole segments.
  package init(json: [UInt8], of api: HTTPURL, at place: HTTPURL) throws(DiscoveryFault) {
    guard let members = JSONValue(json: json)?.members, let named = members["resource"]?.text else {
      throw .notJSON("\(place)")
    }
    guard let found = HTTPURL(ifValid: named), found.origin == api.origin,
      (Self.path(api) + "/").hasPrefix(Self.path(found) + "/")
    else { throw .otherResource(named) }
    resource = named
    issuers = members["authorization_servers"]?.texts ?? []
    if issuers.isEmpty { throw .withoutProvider }
    scopes = try mapping(
      { (_: ScopeError) in DiscoveryFault.scopes }, ScopeSet(members["scopes_supported"]?.texts ?? []))
  }

  /// The same with the scopes of the challenge, if that names any: it is the authority for what the API needs.
  package func challenging(for scopes: ScopeSet) -> ProtectedResource {
    var resource = self
    if !scopes.isEmpty { resource.scopes = scopes }
    return resource
  }

  /// The addresses of a provider's metadata in MCP's order: RFC 8414's, then OpenID's before and behind the path.
  package static func places(ofProvider issuer: String) throws(DiscoveryFault) -> [HTTPURL] {
    let url = try url(issuer)
    guard url.scheme == .https || url.isLoopback else { throw .plaintext(issuer) }
    let path = Self.path(url)
    let (oauth, openID) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
    let targets = path.isEmpty ? [oauth, openID] : [oauth + path, openID + path, path + openID]
    return targets.map(url.at)
  }

  /// Reads a provider's metadata, which must name exactly the issuer that was asked for (RFC 8414 §3.3).
  package static func provider(
    _ issuer: String, json: [UInt8], at place: HTTPURL
  ) throws(DiscoveryFault) -> (metadata: ProviderMetadata, members: [String: JSONValue]) {
    guard let members = JSONValue(json: json)?.members, let found = members["issuer"]?.text else {
      throw .notJSON("\(place)")
    }
    guard found == issuer else { throw .otherIssuer(asked: issuer, found: found) }
    guard let authority = Authority(ifValid: issuer) else { throw .address(issuer) }
    let metadata = try mapping(
      { DiscoveryFault.provider(issuer, $0) }, ProviderMetadata(json: json, authority: authority))
    return (metadata, members)
  }

  private static let wellKnown = "/.well-known/oauth-protected-resource"

  private static func url(_ text: String) throws(DiscoveryFault) -> HTTPURL {
    guard let url = HTTPURL(ifValid: text) else { throw .address(text) }
    return url
  }

  /// The path without its query and the slash at its end.
  private static func path(_ url: HTTPURL) -> String {
    let path = url.target.prefix { $0 != "?" }
    return String(path.hasSuffix("/") ? path.dropLast() : path)
  }
}
