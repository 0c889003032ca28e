internal import Bytes
public import HTTP

/// A text that is no authority.
public enum AuthorityError: Error, Sendable, Hashable {
  /// Not an absolute http or https URL.
  case url(HTTPURLError)
  /// `http:` to a host that is not loopback: secrets would travel in clear.
  case plaintext
  /// An issuer has no query (OpenID Connect Discovery 1.0 §2).
  case query
  /// A Microsoft host without a tenant in its path.
  case tenantMissing
  /// The tenant is neither a GUID nor a domain name nor one of `common`, `organizations`, `consumers`.
  case tenant(String)
  /// The cloud of this host was closed.
  case retired(host: String)
}

/// The identity provider that an application belongs to.
public struct Authority: Sendable, Hashable {
  /// The kind of provider; it decides discovery, issuer validation and scope rules.
  package enum Kind: Sendable, Hashable {
    /// Microsoft Entra at one of its known hosts.
    case entra(tenant: EntraTenant, cloud: EntraCloud)
    /// Active Directory Federation Services: the path is `/adfs`.
    case adfs
    /// Azure AD B2C: a policy of a tenant.
    case b2c(tenant: String, policy: String)
    /// Entra External ID: a `ciamlogin.com` host.
    case ciam(tenant: String)
    /// Any OpenID Connect issuer.
    case issuer
  }

  /// The kind, with the values from the path.
  package let kind: Kind
  /// The canonical URL: the path cut to the part that the kind reads, without a slash at its end.
  package let url: HTTPURL

  /// Reads an authority. Microsoft hosts are recognised by name; every other URL is an OpenID Connect issuer.
  package init(_ text: String) throws(AuthorityError) {
    let parsed = try mapping(AuthorityError.url, HTTPURL(text))
    if parsed.scheme == .http, !parsed.isLoopback { throw .plaintext }
    if parsed.target.contains("?") { throw .query }
    let segments = parsed.target.split(separator: "/").map { $0.lowercased() }
    (kind, url) = try Self.classified(parsed, segments)
  }

  /// The same; nil for a text that is none.
  package init?(ifValid text: String) {
    do throws(AuthorityError) { try self.init(text) } catch { return nil }
  }

  private static func classified(_ url: HTTPURL, _ segments: [String]) throws(AuthorityError) -> (Kind, HTTPURL) {
    let host = url.host
    if segments.first == "adfs" { return (.adfs, url.cut(to: ["adfs"])) }
    // MSAL's older form of a policy's address.
    if segments.first == "tfp" { return try classified(url, Array(segments.dropFirst())) }
    if segments.count >= 2, host.isB2CHost || segments[1].hasPrefix("b2c_") {
      return (.b2c(tenant: segments[0], policy: segments[1]), url.cut(to: Array(segments.prefix(2))))
    }
    if host.isB2CHost { throw .tenantMissing }
    if host.hasSuffix(".ciamlogin.com") {
      let tenant = segments.first ?? host.prefix { $0 != "." } + ".onmicrosoft.com"
      return (.ciam(tenant: tenant), url.cut(to: [tenant]))
    }
    if let cloud = EntraCloud(host: host) ?? EntraCloud(regionalHost: host), segments.first != "dstsv2" {
      guard let first = segments.first else { throw .tenantMissing }
      guard let tenant = EntraTenant(first) else { throw .tenant(first) }
      if cloud == .germanyLegacy { throw .retired(host: host) }
      return (.entra(tenant: tenant, cloud: cloud), url.cut(to: [first]))
    }
    return (.issuer, url.withoutTrailingSlash)
  }

  /// The address of the provider's OpenID Connect metadata (`/v2.0` for Entra, B2C and External ID).
  package var metadataURL: HTTPURL {
    let path = url.target == "/" ? "" : url.target
    return url.at(path + (isOfEntra ? "/v2.0" : "") + "/.well-known/openid-configuration")
  }

  /// The same at a provider with OAuth's metadata alone (RFC 8414 §3); nil for Microsoft's kinds.
  package var oauthMetadataURL: HTTPURL? {
    guard kind == .issuer else { return nil }
    return url.at("/.well-known/oauth-authorization-server" + (url.target == "/" ? "" : url.target))
  }

  /// True for Entra in each of its forms. An application requests one scope of them for itself, `<resource>/.default`
  /// (the resource may end in a slash); of every other provider anything that RFC 6749 allows, even nothing.
  package var isOfEntra: Bool {
    switch kind {
    case .entra, .b2c, .ciam: true
    case .adfs, .issuer: false
    }
  }

  /// The names under which cache entries serve this authority, the one for new entries first: a cloud's host names; an
  /// issuer's URL, since it may share its host with others, and the host, which msal uses.
  package var environments: [String] {
    if kind == .issuer { return [description, url.host] }
    guard case .entra(_, let cloud) = kind else { return [url.host] }
    guard cloud.hosts.contains(url.host) else { return cloud.hosts }
    return [url.host] + cloud.hosts.filter { $0 != url.host }
  }
}

extension Authority: CustomStringConvertible {
  /// The canonical URL as text, without a slash at its end.
  public var description: String { url.target == "/" ? url.origin : url.description }
}

extension EntraCloud {
  /// The global cloud for `<region>.login.microsoft.com`, a region being one label.
  init?(regionalHost host: String) {
    let suffix = ".login.microsoft.com"
    guard host.hasSuffix(suffix), host.count > suffix.count, !host.dropLast(suffix.count).contains(".") else {
      return nil
    }
    self = .global
  }
}

extension String {
  var isB2CHost: Bool {
    [".b2clogin.com", ".b2clogin.cn", ".b2clogin.us", ".b2clogin.de"].contains { hasSuffix($0) }
  }

  /// True if it has ASCII letters and digits, `-`, `.` and `_` alone.
  var isPlainName: Bool { utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) } }

  /// True if this is a GUID in its usual form, in either letter case.
  package var isGUID: Bool {
    let parts = split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}

extension HTTPURL {
  fileprivate func cut(to segments: [String]) -> HTTPURL { at("/" + segments.joined(separator: "/")) }

  fileprivate var withoutTrailingSlash: HTTPURL {
    target.count > 1 && target.hasSuffix("/") ? at(String(target.dropLast())) : self
  }
}

extension Authority {
  /// True if metadata found at this authority may carry `issuer`.
  ///
  /// OpenID Connect issuers: the same URL, except for one slash at the end (OpenID Connect Discovery 1.0 §4.3).
  /// Microsoft kinds: the same origin; or https on its own port and a known Microsoft host; one label (a region) before
  /// a known host or the authority's own; a subdomain of B2C's or External ID's domains (msal-python's
  /// `has_valid_issuer`).
  package func accepts(issuer text: String) -> Bool {
    guard let issuer = HTTPURL(ifValid: text) else { return false }
    if kind == .issuer { return issuer.normal == url.normal || isExternalTenant(issuer) }
    if issuer.origin == url.origin { return true }
    guard issuer.scheme == .https, issuer.port == 443 else { return false }
    if EntraCloud(host: issuer.host) != nil || issuer.host.isB2CHost { return true }
    if issuer.host.hasSuffix(".ciamlogin.com") { return true }
    guard let dot = issuer.host.firstIndex(of: "."), dot != issuer.host.startIndex else { return false }
    let central = String(issuer.host[issuer.host.index(after: dot)...])
    return EntraCloud(host: central) != nil || central == url.host
  }

  /// True if an issuer that an API names is this provider.
  package func isIssuer(_ text: String) -> Bool {
    accepts(issuer: text) && (kind == .issuer || Authority(ifValid: text)?.url.target == url.target)
  }

  /// True if an issuer is this External ID tenant, behind a custom domain (MSAL for .NET's rule).
  private func isExternalTenant(_ issuer: HTTPURL) -> Bool {
    guard let tenant = url.target.split(separator: "/").first.map({ $0.lowercased() }), tenant.isGUID else {
      return false
    }
    return issuer.scheme == .https && issuer.port == 443 && issuer.host == "\(tenant).ciamlogin.com"
      && ["", "/", "/\(tenant)", "/\(tenant)/", "/\(tenant)/v2.0", "/\(tenant)/v2.0/"]
        .contains(issuer.target.lowercased())
  }

  /// The same provider for another tenant; nil for a provider without Entra's tenants.
  package func forTenant(_ name: String) throws(AuthorityError) -> Authority? {
    guard case .entra(_, let cloud) = kind else { return nil }
    guard let tenant = EntraTenant(name) else { throw .tenant(name) }
    return Authority(kind: .entra(tenant: tenant, cloud: cloud), url: url.cut(to: [name.lowercased()]))
  }

  private init(kind: Kind, url: HTTPURL) {
    self.kind = kind
    self.url = url
  }

  /// True if an account may be of this policy: B2C marks ids with the policy that the person signed in by.
  func hasPolicy(of homeAccountID: String) -> Bool {
    guard case .b2c(_, let policy) = kind else { return true }
    let user = homeAccountID.prefix { $0 != "." }.lowercased()
    return user.hasSuffix("-\(policy)") || !user.contains("-b2c_")
  }

  /// The separator of an application's own tokens (`ext_cache_key`): for B2C the policy, for an issuer itself.
  package var applicationIsolation: String? {
    if case .b2c = kind { description } else { isolation }
  }

  /// The tenant of stored tokens; nil if only the metadata gives it, as for a domain name.
  package var knownRealm: String? {
    switch kind {
    case .entra(.common, _): "common"
    case .entra(.organizations, _): "organizations"
    case .entra(.consumers, _): "consumers"
    case .entra(.specific(let tenant), _): tenant.isGUID ? tenant : nil
    case .adfs: "adfs"
    case .b2c, .ciam, .issuer: nil
    }
  }

  /// True if it names no tenant: each token names its own.
  package var isOfManyTenants: Bool {
    if case .entra(let tenant, _) = kind { !tenant.servesApplications } else { false }
  }

  /// The same provider for one tenant, by its id; nil if the authority names one itself or knows none.
  package func ofTenant(_ tenant: String) -> Authority? {
    guard isOfManyTenants, tenant.isGUID else { return nil }
    do throws(AuthorityError) { return try forTenant(tenant) } catch { return nil }
  }
}
