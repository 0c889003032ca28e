// The pages of a sign-in: who, with which password, for what.

internal import HTTP
internal import HTTPServer

/// The common data of every page of one sign-in.
struct PageContext {
  /// The sign-in's name, which its forms carry.
  var name: String
  /// The target of its forms.
  var action: String
  /// The application's display name.
  var application: String
  /// The redirect URI at its end.
  var returnsTo: String?
  /// The code that the device shows.
  var userCode: String?
  /// The code that would be on the person's telephone.
  var oneTimeCode: String?
  /// The note of the sign-in page to every visitor.
  var hint: String?

  /// The targets of forms: here, and through a redirect the application.
  var formAction: String {
    guard let returnsTo else { return "'self'" }
    do throws(HTTPURLError) {
      return try "'self' \(HTTPURL(returnsTo).origin)"
    } catch {
      return "'self'"
    }
  }
}

extension Pages {
  func step(_ step: SignInStep, _ context: PageContext) -> DemoAnswer {
    switch step {
    case .signIn(let userName, let problem): signIn(userName, problem, context)
    case .secondFactor(let person, let problem): secondFactor(person, problem, context)
    case .choose(let people): choose(people, context)
    case .consent(let person, let tenant, let scopes): consent(person, tenant, scopes, context)
    case .finish, .refuse: preconditionFailure("these end a sign-in")
    }
  }

  private func form(_ content: Markup, _ context: PageContext) -> Markup {
    """
    <form method="post" action="\(context.action)">
    <input type="hidden" name="interaction" value="\(context.name)">
    \(content)
    </form>
    """
  }

  private func signIn(_ userName: String?, _ problem: ProviderError?, _ context: PageContext) -> DemoAnswer {
    let (alert, described) = told(problem)
    // A user who is named already continues with the password.
    let (first, second): (Markup, Markup) = userName == nil ? (" autofocus", "") : ("", " autofocus")
    let content: Markup = """
      \(alert)<label for="user">User name</label>
      <input id="user" name="user" type="email" autocomplete="username" required \
      value="\(userName ?? "")"\(first)\(described)>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" \
      required\(second)\(described)>
      <div class="buttons">
      <button class="main" name="action" value="sign-in">Sign in</button>
      <button name="action" value="cancel" formnovalidate>Cancel</button>
      </div>
      """
    return page(
      "Sign in",
      """
      <p>to go on to <b>\(context.application)</b></p>
      \(form(content, context))
      """, footer: context.hint, formAction: context.formAction)
  }

  /// A problem, and the attributes that lead from a field to it.
  private func told(_ problem: ProviderError?) -> (alert: Markup, described: Markup) {
    guard let problem else { return ("", "") }
    return (
      "<p class=\"problem\" id=\"problem\" role=\"alert\">\(problem.message)</p>\n",
      " aria-describedby=\"problem\" aria-invalid=\"true\""
    )
  }

  private func secondFactor(_ person: Person, _ problem: ProviderError?, _ context: PageContext) -> DemoAnswer {
    let (alert, described) = told(problem)
    let content: Markup = """
      \(alert)<label for="code">One-time code</label>
      <input id="code" class="code" name="code" required autofocus autocomplete="one-time-code" inputmode="numeric" \
      maxlength="7"\(described)>
      <div class="buttons">
      <button class="main" name="action" value="verify">Verify</button>
      <button name="action" value="cancel" formnovalidate>Cancel</button>
      </div>
      """
    return page(
      "Verify that it is you",
      """
      <p><b>\(context.application)</b> needs more than the password of \(person.user.userName).</p>
      \(form(content, context))
      """, footer: context.oneTimeCode.map { "In place of a telephone: the code is \($0)" },
      formAction: context.formAction)
  }

  private func choose(_ people: [Person], _ context: PageContext) -> DemoAnswer {
    // A form each: a button has one value, and the account is one of two.
    let accounts: [Markup] = people.map { person in
      form(
        """
        <input type="hidden" name="account" value="\(person.user.object)">
        <button class="account" name="action" value="account">\(person.user.displayName)
        <small>\(person.user.userName)</small></button>
        """, context)
    }
    let others = form(
      """
      <button class="account" name="action" value="another">Use another account</button>
      <div class="buttons"><button name="action" value="cancel">Cancel</button></div>
      """, context)
    return page(
      "Choose an account",
      """
      <p>to go on to <b>\(context.application)</b></p>
      \(accounts)
      \(others)
      """, formAction: context.formAction)
  }

  private func consent(
    _ person: Person, _ tenant: Tenant, _ scopes: SignInStep.Scopes, _ context: PageContext
  ) -> DemoAnswer {
    let lists: [Markup] = scopes.map { api, names in
      let items: [Markup] = names.map { name in
        "<li>\(api.scope(name)?.description ?? name) <small>\(name)</small></li>\n"
      }
      return "<h2>\(api.displayName)</h2>\n<ul>\n\(items)</ul>\n"
    }
    let device: Markup =
      context.userCode.map {
        """
        <p>Continue only if the device in front of you shows this code: <span class="usercode">\($0)</span></p>

        """
      } ?? ""
    let content: Markup = """
      <div class="buttons">
      <button class="main" name="action" value="accept">Accept</button>
      <button name="action" value="decline">Decline</button>
      </div>
      """
    return page(
      "\(context.application) asks for your permission", title: "Permissions",
      """
      <p>You are <b>\(person.user.userName)</b>, at \(tenant.displayName).</p>
      \(device)\(lists)
      <p class="quiet">If you do not know this application, decline.</p>
      \(form(content, context))
      """, formAction: context.formAction)
  }

  /// The page for the code that a device shows.
  func userCode(_ typed: String?, action: String, isWrong: Bool) -> DemoAnswer {
    let alert: Markup =
      isWrong
      ? """
      <p class="problem" id="problem" role="alert">No device is waiting with this code. It may have expired.</p>

      """
      : ""
    let described: Markup = isWrong ? " aria-describedby=\"problem\" aria-invalid=\"true\"" : ""
    return page(
      "Sign in a device",
      """
      <form method="post" action="\(action)">
      \(alert)<label for="code">Code shown by the device</label>
      <input id="code" class="code" name="user_code" required autofocus autocomplete="off" autocapitalize="characters" \
      spellcheck="false" maxlength="12" placeholder="XXXX-XXXX" value="\(typed ?? "")"\(described)>
      <div class="buttons"><button class="main">Next</button></div>
      </form>
      """, formAction: "'self'")
  }
}
