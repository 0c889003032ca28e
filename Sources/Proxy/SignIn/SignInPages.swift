// The pages for a person: the question, and the result. The handler decides which one is shown.

internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Identity
internal import Telemetry
internal import Tokens

struct SignInPages: Sendable {
  /// True if the pages answer an address with a code in it.
  var hidesQuery = false

  /// The reason for a page in place of another answer; nil: there is none. `required`: the provider's reason for giving
  /// no token without a person; `challenge`: of an upstream that refuses the token.
  static func reason(_ required: InteractionReason?, _ challenge: RecordedChallenge? = nil) -> String? {
    switch (required, challenge) {
    // Of several who are signed in, one more sign-in chooses none.
    case (.accountAmbiguous, _): nil
    case (let required?, _): required.rawValue
    case (nil, .claims), (nil, .insufficientScope), (nil, .stepUp): "upstream_challenge"
    case (nil, _): nil
    }
  }

  /// The contents of the page with the button.
  struct Question {
    var words: SignInText
    var application: String
    var route: String
    var account: String?
    /// The accounts to choose from; none if it is given.
    var choice: [CachedAccount] = []
    var authority: HTTPURL?
    var form: SignInForm
    var seal: String
    /// Facts for technicians, behind "Details".
    var details: [(name: String, text: String)] = []
  }

  func question(_ question: Question) -> ProxyResponse {
    let words = question.words
    let whose: Markup =
      question.account.map { " on behalf of <b>\($0)</b>" } ?? (question.choice.isEmpty ? " on your behalf" : "")
    let scopes: [Markup] = words.scopes.map { permission, resource in
      let at: Markup = resource.map { " <small>at \($0)</small>" } ?? ""
      return "<li>\(permission)\(at)</li>\n"
    }
    let conditions: [Markup] = words.conditions.map { "<li>\($0)</li>\n" }
    let list: Markup = scopes.isEmpty ? "" : "<h2>What it asks for</h2>\n<ul>\n\(scopes)</ul>\n"
    let more: Markup = conditions.isEmpty ? "" : "<h2>What this takes</h2>\n<ul>\n\(conditions)</ul>\n"
    let provider: Markup = question.authority.map { "<b>\($0.host)</b>" } ?? "your identity provider"
    let back: Markup =
      question.form.returnTo.map {
        "<input type=\"hidden\" name=\"return\" value=\"\($0.text)\">\n"
      } ?? ""
    let asks: Markup =
      question.form.asksBeforeReturn ? "<input type=\"hidden\" name=\"ask\" value=\"1\">\n" : ""
    // Enter continues, unless there is something to choose first.
    let focus: Markup = question.choice.isEmpty ? " autofocus" : ""
    let content: Markup = """
      <p><b>\(question.application)</b> wants to use <b>\(question.route)</b>\(whose).</p>
      \(list)\(more)<form method="post" action="\(SignInEndpoint.signInPath)">
      <input type="hidden" name="route" value="\(question.form.route)">
      \(back)\(asks)<input type="hidden" name="seal" value="\(question.seal)">
      \(choice(question.choice))<p class="quiet">You are sent to \(provider) to sign in, and come back here.</p>
      <div class="buttons"><button class="main"\(focus)>Continue</button></div>
      </form>
      \(Page.details(question.details + Self.request))
      """
    return page(200, words.heading, content, formAction: Self.formAction(question.authority))
  }

  private func choice(_ accounts: [CachedAccount]) -> Markup {
    guard !accounts.isEmpty else { return "" }
    return """
      <fieldset>
      <legend>Who signs in?</legend>
      \(options(accounts))<label class="choice"><input type="radio" name="account" value=""> Another account</label>
      </fieldset>

      """
  }

  private func options(_ accounts: [CachedAccount]) -> [Markup] {
    accounts.enumerated().map { index, account in
      let checked: Markup = index == 0 ? " checked" : ""
      return """
        <label class="choice"><input type="radio" name="account" value="\(account.homeAccountID)"\(checked)> \
        \(account.name)</label>

        """
    }
  }

  func logout(
    _ people: [CachedAccount], application: String, authority: HTTPURL, form: SignInForm, seal: String
  ) -> ProxyResponse {
    let who: Markup =
      people.count == 1
      ? """
      <input type="hidden" name="account" value="\(people[0].homeAccountID)">
      <p><b>\(people[0].name)</b> is signed in to <b>\(application)</b>.</p>

      """
      : """
      <fieldset>
      <legend>Who signs out of \(application)?</legend>
      \(options(people))</fieldset>

      """
    let content: Markup = """
      <form method="post" action="\(SignInEndpoint.logoutPath)">
      <input type="hidden" name="route" value="\(form.route)">
      <input type="hidden" name="seal" value="\(seal)">
      \(who)<p class="quiet">Everything here that uses this account stops until someone signs in again. You may be \
      sent to <b>\(authority.host)</b> to sign out there, too.</p>
      <div class="buttons"><button class="main">Sign out</button></div>
      </form>
      \(Page.details([("Route", form.route)] + Self.request))
      """
    return page(200, "Sign out", content, formAction: Self.formAction(authority))
  }

  /// The result of signing out. `account`: the one that was signed out here just now. `isAtProvider`: the provider has
  /// been told.
  func signedOut(_ account: String?, isAtProvider: Bool) -> ProxyResponse {
    let who: Markup =
      account.map { "<b>\($0)</b> is signed out here" }
      ?? (isAtProvider ? "You are signed out" : "No account is signed in here")
    let more: Markup =
      account == nil ? "" : "<p>You may still be signed in at your identity provider: sign out there, too.</p>\n"
    return page(
      200, account == nil && !isAtProvider ? "No account is signed in" : "You are signed out",
      "<p role=\"status\">\(who).</p>\n\(more)<p>You can close this page.</p>")
  }

  /// Every https address, because identity providers send browsers on to others; plain http only to the authority
  /// itself.
  private static func formAction(_ authority: HTTPURL?) -> String {
    guard let authority, authority.scheme == .http else { return "'self' https:" }
    return "'self' https: \(authority.origin)"
  }

  /// The success of a sign-in whose browser does not continue by itself. `returnTo`: the target of another site's link.
  func done(_ account: String?, route: String, returnTo: ReturnPath? = nil) -> ProxyResponse {
    let who: Markup = account.map { "<b>\($0)</b> is signed in" } ?? "You are signed in"
    let next: Markup =
      returnTo.map {
        """
        <p>The link that you followed goes on to <b>\($0.text)</b>. Go there if you know what it is; otherwise close \
        this page.</p>
        <div class="buttons"><a class="button" href="\($0.text)">Go there</a></div>
        """
      } ?? "<p>You can close this page.</p>"
    return page(
      200, "You are signed in", "<p role=\"status\">\(who), and <b>\(route)</b> can be used.</p>\n\(next)")
  }

  /// The success for a browser that continues by itself, with a request from this page.
  func goingBack(to path: ReturnPath) -> ProxyResponse {
    page(
      200, "You are signed in",
      """
      <p role="status">You are taken back to where you were.</p>
      <div class="buttons"><a class="button" href="\(path.text)">Go back</a></div>
      """, refresh: path)
  }

  func failure(_ failure: SignInPageFailure) -> ProxyResponse {
    let detail: Markup = failure.detail.map { "<p class=\"problem\">\($0)</p>\n" } ?? ""
    let again: Markup =
      failure.retry.map { "<div class=\"buttons\"><a class=\"button\" href=\"\($0)\">Begin again</a></div>\n" } ?? ""
    let content: Markup = """
      <p role="alert">\(failure.text)</p>
      \(detail)<p>\(failure.next)</p>
      \(again)\(Page.details(failure.facts + Self.request))
      """
    return page(failure.status, failure.heading, content)
  }

  /// The id by which the operator finds the request in the log. Empty if no request of this page is known; a page in
  /// place of another answer brings its own.
  private static var request: [(name: String, text: String)] {
    [("Request", RequestScope.current?.request.requestID ?? "")]
  }

  private func page(
    _ status: Int, _ title: String, _ content: Markup, formAction: String = "'none'", refresh: ReturnPath? = nil
  ) -> ProxyResponse {
    var page = Page(title, content)
    page.formAction = formAction
    page.refresh = refresh?.text
    page.hidesQuery = hidesQuery
    return ProxyResponse(status: status, fields: page.fields, body: page.html)
  }
}

/// A requirement in words for the person who can meet it.
struct SignInText {
  var heading: String
  /// The required scopes: a permission, and its resource, if that is named.
  var scopes: [(permission: String, resource: String?)]
  /// The conditions of the sign-in, beyond an ordinary one.
  var conditions: [String]

  /// The words for a requirement. `configured`: the route's scopes; `isSignedIn`: its account is signed in.
  init(_ requirement: RouteSignInRequirement, configured: ScopeSet, isSignedIn: Bool) {
    scopes = requirement.scopes.words.map(Self.scope)
    let need = requirement.need
    let asked = need.claims.map { Self.claimNames($0) } ?? []
    var conditions: [String] = []
    let levels = need.authenticationContexts + (need.claims.map { Self.contexts($0) } ?? [])
    let isStepUp = !levels.isEmpty || asked.contains("acrs")
    if isStepUp {
      let names = levels.isEmpty ? "" : " (\(levels.joined(separator: ", ")))"
      conditions.append("a stronger sign-in, such as with a one-time code\(names)")
    }
    if let seconds = need.maxAge { conditions.append(Self.age(seconds)) }
    if asked.contains("nbf") {
      conditions.append("a new token: something about your access changed since the last one")
    }
    if !asked.subtracting(["acrs", "nbf"]).isEmpty { conditions.append("what a policy of your organisation asks for") }
    self.conditions = conditions
    let isMore = !Set(requirement.scopes.words.map { $0.lowercased() }).isSubset(
      of: configured.words.map { $0.lowercased() })
    heading =
      if !isSignedIn {
        "Sign in"
      } else if isStepUp || need.maxAge != nil || !asked.subtracting(["nbf"]).isEmpty {
        "Confirm that it is you"
      } else {
        isMore ? "More permissions are needed" : "Sign in again"
      }
  }

  /// `api://orders/Orders.Read` is the permission Orders.Read at api://orders.
  static func scope(_ word: String) -> (permission: String, resource: String?) {
    guard let slash = word.lastIndex(of: "/") else { return (word, nil) }
    let name = String(word[word.index(after: slash)...])
    let resource = String(word[..<slash])
    return (name == ".default" ? "Everything it is registered for" : name, resource)
  }

  private static func age(_ seconds: Int64) -> String {
    switch seconds {
    case ..<1: "that you sign in now, whenever you did before"
    case ..<120: "a sign-in of the last \(seconds) seconds"
    default: "a sign-in of the last \(seconds / 60) minutes"
    }
  }

  private static func claimNames(_ claims: Claims) -> Set<String> {
    Set(members(claims).keys).subtracting(["xms_cc"])
  }

  private static func contexts(_ claims: Claims) -> [String] {
    guard let asked = members(claims)["acrs"]?.members else { return [] }
    if let value = asked["value"]?.text { return [value] }
    guard case .array(let values) = asked["values"] else { return [] }
    return values.compactMap(\.text)
  }

  private static func members(_ claims: Claims) -> [String: JSONValue] {
    JSONValue(json: Array(claims.text.utf8))?.members?["access_token"]?.members ?? [:]
  }
}
