// Owns the address by which browsers know a listener, and what follows from it: links, the redirect URI, the cookie's name.

public import HTTP

/// The origin of a listener's sign-in pages.
public struct SignInOrigin: Sendable, Hashable {
  /// Scheme, host and port, as browsers write them.
  public let text: String
  /// What `Host` says in requests to it.
  public let authority: String
  let cookieName: String
  let isSecure: Bool

  /// The origin of a URL; its path does not count.
  public init(_ url: HTTPURL) {
    text = url.origin
    authority = url.authority
    isSecure = url.scheme == .https
    // Cookies know no ports: the name does, so that listeners of one host do not take one another's. `__Secure-` is what
    // no page without TLS can plant.
    cookieName = (isSecure ? "__Secure-" : "") + "bearer-sign-in-\(url.port)"
  }

  /// Where the identity provider sends browsers back to: to be registered there.
  public var redirectURI: String { text + SignInEndpoint.callbackPath }

  /// The link that a person follows to sign in for a route, and to come back from to `returnTo`, a path of this listener; where it
  /// is none that may be returned to, the pages end with themselves.
  public func link(route: String, returnTo: String?) -> String {
    text + SignInEndpoint.link(SignInForm(route: route, returnTo: returnTo.flatMap(ReturnPath.init)))
  }

  /// The `Set-Cookie` field's value. Lax: the identity provider's redirect comes from another site. It is for the pages alone, so
  /// no upstream ever sees it.
  func setCookie(_ browser: String, lifetime: Int64) -> String {
    "\(cookieName)=\(browser); Path=\(SignInEndpoint.root); Max-Age=\(lifetime)\(isSecure ? "; Secure" : ""); HttpOnly; SameSite=Lax"
  }

  /// The browser's name in a `Cookie` field: 43 characters that we made, or nothing.
  func browser(inCookies field: String) -> String? {
    var found: String?
    for pair in field.split(separator: ";") {
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == cookieName else { continue }
      // Of two, nobody can tell which is ours.
      if found != nil { return nil }
      found = String(parts[1])
    }
    guard let found, found.utf8.count == 43,
      found.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    else { return nil }
    return found
  }
}
