// Failures on the sign-in pages: the event, the provider's words, the next step.

internal import Identity
internal import Tokens

struct SignInPageFailure: Error {
  var status: Int
  var heading: String
  var text: String
  /// The provider's or the log's words about it.
  var detail: String?
  var next: String
  /// Facts for technicians, behind "Details".
  var facts: [(name: String, text: String)] = []
  /// The link to begin again.
  var retry: String?

  private init(_ status: Int, _ heading: String, _ text: String, detail: String? = nil, next: String) {
    self.status = status
    self.heading = heading
    self.text = text
    self.detail = detail
    self.next = next
  }

  /// The same with a link to begin again.
  func retrying(_ form: SignInForm) -> SignInPageFailure {
    var failure = self
    failure.retry = form.link
    return failure
  }

  static let unknownRoute = SignInPageFailure(
    404, "Unknown link", "This link names nothing that a person can sign in for.",
    next: "Go back to the application and follow its link again.")
  static let foreignReturn = SignInPageFailure(
    400, "Unsafe link", "This link would lead to another place than it came from. Nothing was done.",
    next: "Go back to the application and follow its own link.")
  static let malformed = SignInPageFailure(
    400, "Unreadable request", "What your browser sent cannot be read. Nothing was done.",
    next: "Go back to the application and follow its link again.")
  static let crossSite = SignInPageFailure(
    403, "Refused", "Another site's page sent this form. Nothing was done.",
    next: "If you meant to sign in, go back to the application and follow its own link.")
  static let noCookie = SignInPageFailure(
    400, "No cookie",
    "Your browser did not send the cookie that this page gave it, or it was given too long ago. Nothing was done.",
    next: "Allow cookies for this address, and begin again.")
  static let forged = SignInPageFailure(
    400, "Changed form", "This form is not as this page made it, or it was made for another browser. Nothing was done.",
    next: "Begin again from the application's link.")
  static let expiredForm = SignInPageFailure(
    400, "This page has expired", "It was open for too long. Nothing was done.", next: "Begin again; it takes a moment."
  )
  static let expired = SignInPageFailure(
    400, "This sign-in has expired", "You came back too late from the identity provider. Nothing was kept of it.",
    next: "Begin again; you may still be signed in there.")
  static let used = SignInPageFailure(
    400, "This sign-in is over", "Its answer has arrived before, and counts once. Nothing was done.",
    next: "If the application still asks you to sign in, begin again.")
  static let unknownState = SignInPageFailure(
    400, "Unknown sign-in",
    "No sign-in is waiting for this answer here. It may be another's, or the proxy was restarted. "
      + "Nothing was done.",
    next: "Go back to the application and follow its link again.")
  static let otherBrowser = SignInPageFailure(
    403, "Another browser's sign-in",
    "This answer is to a sign-in that was begun in another browser, or whose cookie is gone. "
      + "Nothing was done.",
    next:
      "Begin and end a sign-in in the same browser. If you began none, this address was sent to you: close the page.")
  static let otherApplication = SignInPageFailure(
    400, "Another application's sign-in",
    "The answer came to another application's address than the one that this sign-in is for. Nothing was done.",
    next: "One of the identity providers may be trying to get at another's answers: tell the operator of this proxy.")
  static let nothingHere = SignInPageFailure(
    404, "Nothing here", "There is no page at this address.", next: "Go back to the application.")
  static let method = SignInPageFailure(
    405, "Not like this", "This address does not take that kind of request.", next: "Go back to the application.")
  static let tooLarge = SignInPageFailure(
    413, "Too large", "What your browser sent is longer than any form of these pages.",
    next: "Go back to the application.")
  static let busy = SignInPageFailure(
    500, "This does not work now", "The proxy's cryptography library fails.", next: "Tell the operator of this proxy.")

  /// A person signed in, but the route still has no token.
  static func stillRequired(_ words: String) -> SignInPageFailure {
    SignInPageFailure(
      409, "Signed in, but not done", "You are signed in, and the application still cannot be used.", detail: words,
      next: "Begin again if you chose another account than meant; otherwise tell the operator of this proxy.")
  }

  init(_ error: SignInError) {
    let again = "Begin again if that was not what you wanted."
    let operatorNext = "Tell the operator of this proxy; its log says more."
    switch error {
    case .declined(let reply):
      self.init(
        403, "Sign-in cancelled", "The sign-in was declined, so nothing was changed.", next: again)
      facts = Self.facts(reply)
    case .refused(let reply):
      self.init(
        403, "Not signed in", "The identity provider did not sign you in.", detail: Self.words(reply),
        next: "Begin again, or ask your administrator about what it says.")
      facts = Self.facts(reply)
    case .provider(let met) where met.isProviderUnavailable:
      if case .providerUnavailable(let status?) = met.kind {
        self.init(
          503, "The identity provider has a problem",
          "It answered with status \(status). Sign-in is not possible until it works again.",
          next: "Begin again in a moment.")
      } else {
        self.init(
          503, "The identity provider does not answer", "Sign-in is not possible while it does not.",
          next: "Begin again in a moment.")
      }
    case .provider, .unsupported, .crypto, .listener, .withoutAccount, .idToken, .codeExpired, .cancelled, .timedOut:
      self.init(502, "Not signed in", "The sign-in did not succeed.", detail: error.message(), next: operatorNext)
    case .answer:
      self.init(400, "Not signed in", "The answer is not to this sign-in.", detail: error.message(), next: again)
    case .otherAccount(let name), .notConfirmed(let name):
      self.init(
        403, "Another account is needed",
        "You signed in as \(name), and another account is meant. "
          + "Nothing of it was kept.", next: "Begin again with the account that is meant.")
    case .store:
      self.init(
        500, "Signed in, but not kept", "You are signed in, and the proxy cannot write that down.",
        detail: error.message(), next: operatorNext)
    }
  }

  /// The provider's words for people, its codes only if there are no others. Entra's traces are for "Details".
  private static func words(_ reply: TokenErrorReply) -> String {
    guard let description = reply.description else { return reply.detail }
    return String(description[..<(description.firstRange(of: " Trace ID:")?.lowerBound ?? description.endIndex)])
  }

  private static func facts(_ reply: TokenErrorReply) -> [(name: String, text: String)] {
    [("Error", reply.error), ("Provider", reply.description ?? "")]
  }
}
