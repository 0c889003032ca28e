// One sign-in under way: what it is for, how far it got, in which browser, and how the person proved who they are.

internal import Bytes
internal import Tokens

/// A sign-in between its first page and its last.
struct Interaction {
  /// The action at its end.
  enum Purpose {
    case authorization(AuthorizationRequest)
    /// The device with this user code gets tokens.
    case device(userCode: String, scopes: [String])
  }

  /// Seconds that a person may take.
  static let lifetime: Int64 = 900

  var purpose: Purpose
  /// The tenant segment it began under.
  var segment: String
  /// The application's `client_id`.
  var client: String
  /// The name of the browser it began in: no other may continue it.
  var browser: String
  var expiresAt: UnixTime
  /// The person, by the `oid` at home, once it is known.
  var person: String?
  /// True if the password was typed in this sign-in.
  var hasTypedPassword = false
  /// True if another person than those signed in wants to.
  var wantsAnother = false
  /// True if the consent page was accepted in this sign-in.
  var hasConsented = false

  /// The one-time code that its page waits for.
  var oneTimeCode: String?

  var scopes: [String] {
    switch purpose {
    case .authorization(let request): request.scopes
    case .device(_, let scopes): scopes
    }
  }

  /// The request, unless a device began it.
  var request: AuthorizationRequest? { if case .authorization(let request) = purpose { request } else { nil } }

  /// The code that a device shows.
  var userCode: String? { if case .device(let code, _) = purpose { code } else { nil } }

  /// The page that the application asks for. For a device the person is asked who they are, and whether they mean it
  /// (RFC 8628 §5.4).
  var prompts: Set<Prompt> { request?.prompts ?? [.selectAccount, .consent] }
}

/// A browser, known by an unguessable cookie.
struct Browser {
  /// A person who typed their password there.
  struct SignedIn: Hashable {
    /// The `oid` at home.
    var person: String
    /// The methods of the proof.
    var authentication: Authentication
  }

  /// `__Host-`: set over TLS by this host for all its paths, and by no other.
  static let cookieName = "__Host-demo-browser"

  /// In the order of signing in.
  var signedIn: [SignedIn] = []

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

/// A person's proof.
struct Authentication: Hashable {
  /// When the password was typed.
  var at: UnixTime
  /// True if a one-time code was typed too.
  var isTwofold = false

  /// The authentication contexts that the code is good for.
  static let contexts = ["c1"]
  /// `acr` of who typed the code.
  static let twofold = "mfa"

  /// `acr`.
  var level: String { isTwofold ? Self.twofold : "pwd" }
  /// `amr` (RFC 8176).
  var methods: [String] { isTwofold ? ["pwd", "otp", "mfa"] : ["pwd"] }
  /// `acrs`.
  var contexts: [String] { isTwofold ? Self.contexts : [] }
}
