// Which issuer a provider's metadata may name: the authority itself, and for Microsoft's hosts MSAL's wider rule,
// because they answer with another host, tenant or region of one cloud.

internal import HTTP

extension Authority {
  /// Whether metadata found at this authority may carry `issuer`.
  ///
  /// OpenID Connect issuers: the same URL, one slash at the end aside (OpenID Connect Discovery 1.0 §4.3). Microsoft
  /// kinds: the same origin; a known Microsoft host; one label (a region) before a known host or the authority's own; a
  /// subdomain of B2C's or External ID's domains (msal-python's `has_valid_issuer`) — https on its own port but for the
  /// same origin.
  package func accepts(issuer text: String) -> Bool {
    let issuer: HTTPURL
    do throws(HTTPURLError) {
      issuer = try HTTPURL(text)
    } catch {
      return false
    }
    if kind == .issuer { return issuer.origin == url.origin && issuer.path == url.path }
    if issuer.origin == url.origin { return true }
    guard issuer.scheme == .https, issuer.port == 443 else { return false }
    if EntraCloud(host: issuer.host) != nil || issuer.host.isB2CHost { return true }
    if issuer.host.hasSuffix(".ciamlogin.com") { return true }
    guard let dot = issuer.host.firstIndex(of: "."), dot != issuer.host.startIndex else { return false }
    let central = String(issuer.host[issuer.host.index(after: dot)...])
    return EntraCloud(host: central) != nil || central == url.host
  }
}

extension HTTPURL {
  /// The path and query without the one slash at their end.
  fileprivate var path: Substring {
    target.hasSuffix("/") ? target.dropLast() : target[...]
  }
}
