// The provider's pages: HTML in which interpolated text is always escaped.

internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Tokens

extension DemoAnswer {
  /// A page whose body is `content`. `formAction` lists the targets of its forms, redirects included: browsers check
  /// those too.
  fileprivate static func page(
    _ heading: String, title: String? = nil, _ content: Markup, footer: String? = nil, status: Int = 200,
    formAction: String = "'none'", submitsItself: Bool = false, note: String = ""
  ) -> DemoAnswer {
    var page = Page(heading, title: "\(title ?? heading) · demonstration provider", content)
    page.footer = footer.map { "Demonstration provider. \($0)" } ?? "Demonstration provider"
    (page.formAction, page.submitsItself) = (formAction, submitsItself)
    // With `no-referrer`, browsers would hide the origin of our own forms from us.
    page.referrerPolicy = "same-origin"
    return DemoAnswer(response: page.response(status), note: note)
  }

  /// A page without a form. `detail`: a few technical words below.
  static func message(
    _ heading: String, _ text: String, detail: String? = nil, _ status: Int = 200, note: String = ""
  ) -> DemoAnswer {
    let detail: Markup = detail.map { "<p class=\"quiet\">\($0)</p>" } ?? ""
    return page(heading, "<p role=\"status\">\(text)</p>\n\(detail)", status: status, note: note)
  }

  /// Sends the browser on by GET.
  static func seeOther(_ location: String, note: String = "") -> DemoAnswer {
    let fields = [
      (name: "location", value: location), ("referrer-policy", "no-referrer"), ("cache-control", "no-store"),
    ]
    return DemoAnswer(response: ServerResponse(status: 303, fields: fields, content: .whole([])), note: note)
  }

  /// Carries parameters and the request's state to the application: in the redirect, or in a form that a script sends,
  /// or without scripts a button (OAuth 2.0 Form Post Response Mode §2).
  static func send(_ parameters: [(String, String)], to request: ReplyForm, note: String) -> DemoAnswer {
    var all = parameters
    if let state = request["state"] { all.append(("state", state)) }
    let uri = request["redirect_uri"] ?? ""
    if request["response_mode"] == "form_post" {
      let fields: [Markup] = all.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\($1)\">\n" }
      return page(
        "Going back to the application", title: "Continue",
        """
        <form method="post" action="\(uri)">
        \(fields)<p>If nothing happens, press the button.</p>
        <div class="buttons"><button class="main">Continue</button></div>
        </form>
        """, formAction: HTTPURL(ifValid: uri)?.origin ?? "'none'", submitsItself: true, note: note)
    }
    var query = FormBody()
    for (name, value) in all { query.append(name, value) }
    return seeOther(uri + (uri.contains("?") ? "&" : "?") + String(decoding: query.bytes, as: UTF8.self), note: note)
  }

  /// Carries a refusal to the application.
  static func refuse(_ refusal: Refusal, _ request: ReplyForm, _ now: UnixTime) -> DemoAnswer {
    let document = refusal.document(now: now)
    let names = ["error", "error_description", "claims"]
    let told = names.compactMap { name in document[name]??.json.text.map { (name, $0) } }
    return send(told, to: request, note: refusal.note)
  }
}

extension ProviderCall {
  /// The page of a step of the sign-in `name`.
  func page(of step: SignInStep, _ name: String, _ interaction: Interaction) -> DemoAnswer {
    let application = interaction.application.name
    let goesOn: Markup = "<p>to go on to <b>\(application)</b></p>"
    func form(_ content: Markup) -> Markup {
      """
      <form method="post" action="\(Endpoint.interaction.path(interaction.tenant?.identifier ?? "organizations"))">
      <input type="hidden" name="interaction" value="\(name)">
      \(content)
      </form>
      """
    }
    func buttons(_ action: String, _ text: String, or other: String = "Cancel") -> Markup {
      """
      <div class="buttons">
      <button class="main" name="action" value="\(action)">\(text)</button>
      <button name="action" value="\(other.lowercased())" formnovalidate>\(other)</button>
      </div>
      """
    }
    func page(
      _ heading: String, title: String? = nil, _ content: Markup, footer: String? = nil, _ problem: Refusal? = nil
    ) -> DemoAnswer {
      let target = interaction.userCode == nil ? interaction.request["redirect_uri"] : nil
      let origins = ["'self'", target.flatMap { HTTPURL(ifValid: $0)?.origin }].compactMap(\.self)
      return .page(
        heading, title: title, content, footer: footer, formAction: origins.joined(separator: " "),
        note: problem?.note ?? "")
    }
    switch step {
    case .signIn(let userName, let problem):
      let (alert, described) = Self.alert(problem?.message)
      // A user who is named already continues with the password.
      let (first, second): (Markup, Markup) = userName == nil ? (" autofocus", "") : ("", " autofocus")
      let content: Markup = """
        \(alert)<label for="user">User name</label>
        <input id="user" name="user" type="email" autocomplete="username" required \
        value="\(userName ?? "")"\(first)\(described)>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" \
        required\(second)\(described)>
        \(buttons("sign-in", "Sign in"))
        """
      typealias Sample = DemoDirectory.Sample
      return page(
        "Sign in", "\(goesOn)\n\(form(content))",
        footer: "Sample users: \(Sample.alice), \(Sample.bob) and \(Sample.fay). The password of each is "
          + Sample.password, problem)
    case .secondFactor(let person, let problem):
      let (alert, described) = Self.alert(problem?.message)
      let content: Markup = """
        \(alert)<label for="code">One-time code</label>
        <input id="code" class="code" name="code" required autofocus autocomplete="one-time-code" inputmode="numeric" \
        maxlength="7"\(described)>
        \(buttons("verify", "Verify"))
        """
      return page(
        "Verify that it is you",
        "<p><b>\(application)</b> needs more than the password of \(person.userName).</p>\n\(form(content))",
        footer: interaction.oneTimeCode.map { "In place of a telephone: the code is \($0)" }, problem)
    case .choose(let people):
      // A form each: a button has one value, and the account is one of two.
      let accounts: [Markup] = people.map { person in
        form(
          """
          <input type="hidden" name="account" value="\(person.object)">
          <button class="account" name="action" value="account">\(person.name)
          <small>\(person.userName)</small></button>
          """)
      }
      let others = form(
        """
        <button class="account" name="action" value="another">Use another account</button>
        <div class="buttons"><button name="action" value="cancel">Cancel</button></div>
        """)
      return page("Choose an account", "\(goesOn)\n\(accounts)\n\(others)")
    case .consent(let person, let tenant, let scopes):
      let lists: [Markup] = scopes.map { api, names in
        let items = api.scopes.filter { names.contains($0.name) }.map { ($0.text, $0.name) }
        return "<h2>\(api.name)</h2>\n\(Self.list(items))\n"
      }
      let device: Markup =
        interaction.userCode.map {
          "<p>Continue only if the device in front of you shows this code: <span class=\"usercode\">\($0)</span></p>\n"
        } ?? ""
      return page(
        "\(application) asks for your permission", title: "Permissions",
        """
        <p>You are <b>\(person.userName)</b>, at \(tenant.name).</p>
        \(device)\(lists)
        <p class="quiet">If you do not know this application, decline.</p>
        \(form(buttons("accept", "Accept", or: "Decline")))
        """)
    case .finish: preconditionFailure("the end of a sign-in has no page")
    }
  }

  /// A problem, and the attributes that lead from a field to it.
  private static func alert(_ problem: String?) -> (Markup, described: Markup) {
    guard let problem else { return ("", "") }
    return (
      "<p class=\"problem\" id=\"problem\" role=\"alert\">\(problem)</p>\n",
      " aria-describedby=\"problem\" aria-invalid=\"true\""
    )
  }

  /// The page for the code that a device shows.
  func userCodePage(_ typed: String?, isWrong: Bool = false) -> DemoAnswer {
    let (alert, described) = Self.alert(isWrong ? "No device is waiting with this code. It may have expired." : nil)
    return .page(
      "Sign in a device",
      """
      <form method="post" action="\(Endpoint.device.path())">
      \(alert)<label for="code">Code shown by the device</label>
      <input id="code" class="code" name="user_code" required autofocus autocomplete="off" autocapitalize="characters" \
      spellcheck="false" maxlength="12" placeholder="XXXX-XXXX" value="\(typed ?? "")"\(described)>
      <div class="buttons"><button class="main">Next</button></div>
      </form>
      """, formAction: "'self'", note: isWrong ? "no device shows that code" : "")
  }

  /// The page at the root: users, applications, and what can be tried.
  func rootPage() -> DemoAnswer {
    typealias Sample = DemoDirectory.Sample
    let tenants: [Markup] = directory.tenants.map { tenant in
      let people = directory.people.filter { $0.home == tenant && $0.password != nil }
      let applications = directory.applications.filter { $0.tenants.contains(tenant.identifier) }
      return """
        <h2>\(tenant.name)</h2>
        <p class="quiet">Issuer \(IdentityProvider.issuer(origin, tenant.identifier))</p>
        \(Self.list(people.map { ($0.name, $0.userName) }))
        <p>Applications</p>
        \(Self.list(applications.map { ($0.name, "\($0.client), \($0.kind)") }))

        """
    }
    let links: [Markup] = [
      (Endpoint.device, "Sign in a device with its code"), (.logout, "Sign out in this browser"),
      (.discovery, "The metadata that a client reads first"), (.keys, "The public keys"),
    ].map { "<li><a href=\"\($0.path(Sample.tenant))\">\($1)</a></li>\n" }
    return .page(
      "Demonstration provider", title: "Sample users",
      """
      <p>It issues tokens as Microsoft Entra does, to samples only, on this machine only.</p>
      <p class="note">The password of every user is <b>\(Sample.password)</b></p>
      \(tenants)<h2>In this browser</h2>
      <ul>
      \(links)</ul>
      <h2>In a terminal</h2>
      <p>POST with <small>{"user": "\(Sample.alice)"}</small> to:</p>
      \(Self.list([
        ("APIs refuse a user's earlier access tokens:", Endpoint.criticalEvent.path()),
        ("end a user's sessions and refresh tokens:", Endpoint.revoke.path()),
        ("forget what a user consented to:", Endpoint.withdraw.path()),
      ]))
      """)
  }

  /// A list of items, each with a detail in small letters.
  private static func list(_ items: [(text: String, detail: String)]) -> Markup {
    let items: [Markup] = items.map { "<li>\($0) <small>\($1)</small></li>\n" }
    return "<ul>\n\(items)</ul>"
  }
}

extension Application {
  /// The proof of the application, and the party that it acts for.
  fileprivate var kind: String {
    if isPublic { return "public client: people sign in" }
    if isMachine { return "managed identity: its machine's service hands out tokens" }
    if blueprint != nil { return "agent identity: its blueprint's tokens prove it" }
    if secret != nil { return "client secret: acts for itself" }
    return (federated.contains(where: \.isCertificate) ? "certificate" : "federated credential") + ": acts for itself"
  }
}
