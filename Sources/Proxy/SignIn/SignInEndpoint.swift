// The addresses below `/.bearer/` that are the sign-in pages', and the paths that they may return to.

internal import Bytes
package import HTTP
package import Tokens

/// A part of the sign-in pages.
enum SignInEndpoint: Sendable, Hashable {
  /// The page with the question.
  case form
  /// The button of that page.
  case begin
  /// The address to which the identity provider sends the browser back.
  case callback
  /// The page that asks which account to sign out.
  case logoutForm
  /// The button of that page.
  case logout
  /// The address to which the identity provider sends the browser back after that.
  case signedOut
  case otherMethod(allow: String)
  case nothing

  /// The beginning of every path of these pages.
  static let root = "/.bearer/"
  static let signInPath = "/.bearer/sign-in"
  static let logoutPath = "/.bearer/logout"
  static let signedOutPath = "/.bearer/signed-out"

  init(method: String, path: String) {
    // Of one application, or of all: the answered sign-in decides.
    let isCallback = path == CallbackPath.root || path.hasPrefix(CallbackPath.root + "/")
    switch (method, path) {
    case ("GET", Self.signInPath), ("HEAD", Self.signInPath): self = .form
    case ("POST", Self.signInPath): self = .begin
    case ("GET", _) where isCallback: self = .callback
    case ("GET", Self.logoutPath), ("HEAD", Self.logoutPath): self = .logoutForm
    case ("POST", Self.logoutPath): self = .logout
    case ("GET", Self.signedOutPath), ("HEAD", Self.signedOutPath): self = .signedOut
    case (_, Self.signInPath), (_, Self.logoutPath): self = .otherMethod(allow: "GET, HEAD, POST")
    case (_, Self.signedOutPath): self = .otherMethod(allow: "GET, HEAD")
    // No POST: the cookie of a sign-in does not come along with another site's form.
    case _ where isCallback: self = .otherMethod(allow: "GET")
    default: self = .nothing
    }
  }
}

/// A path, perhaps with a query, of the listener's own.
struct ReturnPath: Sendable, Hashable {
  /// As it follows the listener's origin.
  let text: String

  /// Reads an address to return to; nil if it could lead elsewhere. It has to begin with one slash: two, or one and a
  /// backslash, begin another host in browsers, which also drop tabs and line ends first (WHATWG URL §4.4).
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= 2048,
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
    else { return nil }
    if bytes.count > 1, bytes[1] == UInt8(ascii: "/") { return nil }
    // Returning to these pages would be a circle. Browsers resolve dot segments, encoded ones too, before they send a
    // path.
    var normal = ByteBuffer(capacity: 64)
    let path = Array(text.prefix { $0 != "?" }.utf8)
    guard ReservedPath(path.span, normal: &normal) == .routes else { return nil }
    self.text = text
  }
}

/// The origin of a listener's sign-in pages.
package struct SignInOrigin: Sendable, Hashable {
  /// Scheme, host and port, as browsers write them.
  package let text: String
  /// The value of `Host` in requests to it.
  package let authority: String
  let cookie: SignInCookie

  /// The origin of a URL; its path does not count.
  package init(_ url: HTTPURL) {
    text = url.origin
    authority = url.authority
    cookie = SignInCookie(port: url.port, isSecure: url.scheme == .https)
  }

  /// The redirect URI of a sign-in to an application, to be registered at the identity provider.
  package func redirectURI(_ callback: CallbackPath) -> String { text + callback.path }

  /// The link to sign in for a route and return to `returnTo`, a path of this listener; if it is none that may be
  /// returned to, the pages lead nowhere.
  package func link(route: String, returnTo: String?) -> String {
    text + SignInForm(route: route, returnTo: returnTo.flatMap(ReturnPath.init)).link
  }
}
