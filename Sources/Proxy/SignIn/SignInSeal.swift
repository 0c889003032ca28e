internal import Bytes
internal import Platform
internal import Tokens

/// The proof that a posted form is ours, unchanged, recent, and sent by the browser that was shown it: an HMAC whose
/// key lives as long as the process.
struct SignInSeal: Sendable {
  enum Verdict: Hashable {
    /// Ours, and this browser's.
    case good(browser: String)
    case expired, forged
  }

  private let key: [UInt8]
  /// Seconds in which a form must be sent.
  private let lifetime: Int64

  init(lifetime: Int64) throws(CryptoError) { try self.init(key: RandomBytes.make(32), lifetime: lifetime) }

  /// The same seal with another lifetime.
  init(keeping other: SignInSeal, lifetime: Int64) { self.init(key: other.key, lifetime: lifetime) }

  init(key: [UInt8], lifetime: Int64) {
    self.key = key
    self.lifetime = lifetime
  }

  func seal(_ browser: String, _ form: SignInForm, now: UnixTime) throws(CryptoError) -> String {
    "\(now.seconds).\(try code(browser, form, now))"
  }

  /// Judges a seal that came from a browser with one of these names.
  func judge(_ seal: String, _ browsers: [String], _ form: SignInForm, now: UnixTime) throws(CryptoError) -> Verdict {
    let parts = seal.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let seconds = Int64(parts[0]) else { return .forged }
    let made = UnixTime(seconds)
    for browser in browsers {
      guard constantTimeEqual(Array(parts[1].utf8).span, Array(try code(browser, form, made).utf8).span) else {
        continue
      }
      return (0..<lifetime).contains(now - made) ? .good(browser: browser) : .expired
    }
    return .forged
  }

  private func code(_ browser: String, _ form: SignInForm, _ time: UnixTime) throws(CryptoError) -> String {
    // With lengths, so that no two forms have one text.
    let parts = [
      browser, form.route, form.returnTo?.text ?? "", form.asksBeforeReturn ? "asks" : "", form.signsOut ? "out" : "",
    ]
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    let code = try HMAC.sha256(of: Array("\(time.seconds);\(text)".utf8).span, key: key.span)
    return Base64URL.encode(code)
  }
}

struct SignInForm: Sendable, Hashable {
  var route: String
  /// The browser's next address; nil: it stays.
  var returnTo: ReturnPath?
  /// True if the person is shown that address first, and goes there themselves: the link was on another site's page,
  /// and a request that such a page chose must not become one of ours.
  var asksBeforeReturn = false
  /// True if it is about signing out: its seal is not valid for signing in.
  var signsOut = false

  /// The path and query that lead a person to its page.
  var link: String {
    var query = FormBody()
    query.append("route", route)
    if let returnTo {
      query.append("return", returnTo.text)
      if asksBeforeReturn { query.append("ask", "1") }
    }
    return "\(signsOut ? SignInEndpoint.logoutPath : SignInEndpoint.signInPath)?\(query.text)"
  }

  /// The form that signs out of the same route.
  var signingOut: SignInForm { SignInForm(route: route, signsOut: true) }
}
