// Owns what the provider remembers of one browser: who is signed in there. Its name is a cookie.

internal import Bytes
internal import Tokens

/// A browser, known by an unguessable cookie.
struct Browser {
  /// A person who typed their password there.
  struct SignedIn: Hashable {
    /// The `oid` at home.
    var person: String
    /// How they proved it.
    var authentication: Authentication
  }

  /// `__Host-`: set over TLS by this host for all its paths, and by no other.
  static let cookieName = "__Host-demo-browser"

  /// In the order of signing in.
  var signedIn: [SignedIn] = []

  /// The session of a person.
  func session(_ person: String) -> SignedIn? { signedIn.first { $0.person == person } }

  /// Remembers that a password was typed.
  mutating func signIn(_ person: String, at now: UnixTime) {
    signedIn.removeAll { $0.person == person }
    signedIn.append(SignedIn(person: person, authentication: Authentication(at: now)))
  }

  /// Remembers that the one-time code was typed, after the password.
  mutating func confirm(_ person: String) {
    guard let index = signedIn.firstIndex(where: { $0.person == person }) else { return }
    signedIn[index].authentication.isTwofold = true
  }

  /// The browser's name in a `Cookie` field.
  static func name(inCookies field: String?) -> String? {
    for pair in (field ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookieName { return String(parts[1]) }
    }
    return nil
  }

  /// The `Set-Cookie` field's value that names it. Lax: a sign-in begins by a navigation from elsewhere.
  static func cookie(_ name: String) -> String { "\(cookieName)=\(name); Path=/; Secure; HttpOnly; SameSite=Lax" }
}
