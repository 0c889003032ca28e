// Owns the address by which browsers know a listener, and what follows from it: links, redirect URIs, the cookie.

package import HTTP
package import Tokens

/// The origin of a listener's sign-in pages.
package struct SignInOrigin: Sendable, Hashable {
  /// Scheme, host and port, as browsers write them.
  package let text: String
  /// What `Host` says in requests to it.
  package let authority: String
  let cookie: SignInCookie

  /// The origin of a URL; its path does not count.
  package init(_ url: HTTPURL) {
    text = url.origin
    authority = url.authority
    cookie = SignInCookie(port: url.port, isSecure: url.scheme == .https)
  }

  /// Where the identity provider sends browsers back to after a sign-in to an application: to be registered there.
  package func redirectURI(_ callback: CallbackPath) -> String { text + callback.path }

  /// The link that a person follows to sign in for a route, and to come back from to `returnTo`, a path of this
  /// listener; where it is none that may be returned to, the pages end with themselves.
  package func link(route: String, returnTo: String?) -> String {
    text + SignInEndpoint.link(SignInForm(route: route, returnTo: returnTo.flatMap(ReturnPath.init)))
  }
}
