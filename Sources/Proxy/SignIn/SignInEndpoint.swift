// Owns which request is which part of the sign-in pages, and the link that leads to them.

internal import Tokens

/// A part of the sign-in pages.
enum SignInEndpoint: Sendable, Hashable {
  /// The page that says what is asked for.
  case form
  /// The button of that page.
  case begin
  /// Where the identity provider sends the browser back to.
  case callback
  /// Another method than the place takes.
  case otherMethod(allow: String)
  /// There is nothing of that name.
  case nothing

  /// What every path of these pages begins with.
  static let root = "/.bearer/"
  static let signInPath = "/.bearer/sign-in"

  init(method: String, path: String) {
    // Of an application, or of all: the sign-in that is answered knows which.
    let isCallback = path == CallbackPath.root || path.hasPrefix(CallbackPath.root + "/")
    switch (method, path) {
    case ("GET", Self.signInPath), ("HEAD", Self.signInPath): self = .form
    case ("POST", Self.signInPath): self = .begin
    case ("GET", _) where isCallback: self = .callback
    case (_, Self.signInPath): self = .otherMethod(allow: "GET, HEAD, POST")
    // No POST: the cookie that an answer is bound to does not come along with another site's form.
    case _ where isCallback: self = .otherMethod(allow: "GET")
    default: self = .nothing
    }
  }

  /// The path and query that lead a person to the page for a route.
  static func link(_ form: SignInForm) -> String {
    var query = FormBody()
    query.append("route", form.route)
    if let returnTo = form.returnTo {
      query.append("return", returnTo.text)
      if form.asksBeforeReturn { query.append("ask", "1") }
    }
    return "\(signInPath)?\(String(decoding: query.bytes, as: UTF8.self))"
  }
}
