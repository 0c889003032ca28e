// The endpoints behind a person's browser: authorization requests, devices' codes, the pages' forms, signing out.

internal import Bytes
internal import HTTPServer
internal import Tokens

extension ProviderCall {
  func authorize() throws(Refusal) -> DemoAnswer {
    let form = try request.form()
    let application = try directory.application(form.required("client_id"), in: tenant)
    let uri = try form.required("redirect_uri")
    // Nothing may be sent to an address that the application did not register.
    guard application.allows(redirectURI: uri) else {
      let reason = "is none of those configured for the application '\(application.client)'."
      throw .request(50011, "The redirect URI '\(uri)' \(reason)")
    }
    do throws(Refusal) { return try begin(interaction(form, application)) } catch { return .refuse(error, form, now) }
  }

  /// Answers a device that asks for a code (RFC 8628 §3.2, with Entra's `message`).
  func deviceAuthorization() throws(Refusal) -> DemoAnswer {
    let form = try request.postedForm()
    let application = try application(form)
    _ = try form.required("scope")
    _ = try directory.scopes(form.words("scope"))
    // Consonants in two groups: easily typed, no word, 34 bits (RFC 8628 §6.1).
    let letters = "BCDFGHJKLMNPQRSTVWXZ"
    let userCode = try "\(Random.text(4, of: letters))-\(Random.text(4, of: letters))"
    let (code, lifetime) = (try Random.name(), Interaction.lifetime)
    let interaction = Interaction(
      application: application, tenant: tenant, request: form, expiresAt: now + lifetime, userCode: userCode)
    state.devices[code] = (interaction, nil, nil)
    let address = origin + Endpoint.device.path()
    return DemoAnswer(
      [
        "device_code": code, "user_code": userCode, "verification_uri": address, "expires_in": lifetime,
        "verification_uri_complete": "\(address)?user_code=\(userCode)", "interval": state.behaviour.deviceInterval,
        "message":
          "To sign in, use a web browser to open the page \(address) and enter the code \(userCode) to authenticate.",
      ], note: "device code for \(application.name)")
  }

  /// The page for a device's code, and its form.
  func device() throws(Refusal) -> DemoAnswer {
    guard request.method == "POST" else { return userCodePage(try request.form()["user_code"]) }
    let typed = try request.ownForm(of: origin)["user_code"]
    guard let code = state.waitingDevice(typed, now: now), let device = state.devices[code] else {
      return userCodePage(typed, isWrong: true)
    }
    return try begin(device.signIn)
  }

  /// Signs all people out of the browser, and sends it to the application's address, if that is registered. Refresh
  /// tokens are the applications' own, and stay.
  func logout() throws(Refusal) -> DemoAnswer {
    if let browser { state.browsers[browser] = nil }
    let form = try request.form()
    if let client = form["client_id"], let uri = form["post_logout_redirect_uri"],
      try directory.application(client, in: tenant).allows(redirectURI: uri)
    {
      return .seeOther(uri)
    }
    return .message("You are signed out", "No account is signed in here any more. You can close this page.")
  }

  /// Answers a form of a sign-in's page.
  func interaction() throws(Refusal) -> DemoAnswer {
    let form = try request.ownForm(of: origin)
    // The hidden field is known to the page alone, and the cookie to its browser alone: another site has neither.
    guard let name = form["interaction"], var interaction = state.interactions[name], now < interaction.expiresAt,
      browser == interaction.browser
    else { throw .noSuchInteraction }
    let signedIn = state.browsers[interaction.browser] ?? Browser()
    switch form["action"] {
    case "sign-in":
      guard let person = directory.person(userName: form["user"] ?? ""),
        person.password == Secret(form["password"] ?? "")
      else {
        let wrong = Refusal.grant(50126, "The user name or the password is wrong.")
        return try page(.signIn(form["user"], wrong), name, interaction)
      }
      state.browsers[interaction.browser]?.signIn(person, Authentication(at: now))
      (interaction.person, interaction.hasTypedPassword) = (person, true)
    case "verify":
      guard case .secondFactor(let person, _) = try step(of: interaction) else { throw .noSuchInteraction }
      guard form["code"]?.filter(\.isNumber) == interaction.oneTimeCode else {
        let wrong = Refusal.grant(500_121, "That was another code. A new one is shown below.")
        return try page(.secondFactor(person, wrong), name, interaction)
      }
      let proof = Authentication(at: signedIn.authentication(of: person)?.at ?? now, isTwofold: true)
      state.browsers[interaction.browser]?.signIn(person, proof)
      interaction.person = person
    case "account":
      interaction.person = signedIn.people.first { $0.object == form["account"] }
      if interaction.person == nil { throw .noSuchInteraction }
    case "another":
      interaction.wantsAnother = true
    case "accept":
      // Judged again, so that only a page that was due is accepted.
      guard case .consent(let person, let tenant, let scopes) = try step(of: interaction) else {
        throw .noSuchInteraction
      }
      for (api, names) in scopes {
        let key = [person.object, interaction.application.client, tenant.identifier, api.client]
        for name in names { state.consents.insert(key + [name]) }
      }
      interaction.hasConsented = true
    default:
      let error = interaction.userCode == nil ? "access_denied" : "authorization_declined"
      let refusal = Refusal.request(65004, "User declined to consent to access the app.", error: error)
      return try end(interaction, name, .failure(refusal))
    }
    return try proceed(interaction, name)
  }

  /// The name of the browser that sent the request.
  private var browser: String? { Browser.name(inCookies: request[field: "cookie"]) }

  /// Begins a sign-in in the browser that sent the request.
  private func begin(_ interaction: Interaction) throws(Refusal) -> DemoAnswer {
    var interaction = interaction
    if let browser, state.browsers[browser] != nil {
      interaction.browser = browser
      return try proceed(interaction, Random.name())
    }
    interaction.browser = try Random.name()
    state.browsers[interaction.browser] = Browser()
    // Lax: a sign-in begins by a navigation from elsewhere.
    let cookie = "\(Browser.cookieName)=\(interaction.browser); Path=/; Secure; HttpOnly; SameSite=Lax"
    return try proceed(interaction, Random.name()).adding("set-cookie", cookie)
  }

  /// The next page of a sign-in, or its end.
  private func proceed(_ interaction: Interaction, _ name: String) throws(Refusal) -> DemoAnswer {
    let next: SignInStep
    do throws(Refusal) {
      next = try step(of: interaction)
    } catch {
      if interaction.userCode != nil { throw error }
      return try end(interaction, name, .failure(error))
    }
    guard case .finish(let person, let tenant) = next else { return try page(next, name, interaction) }
    let proof = state.browsers[interaction.browser]?.authentication(of: person) ?? Authentication(at: now)
    let authorization = Authorization(
      person: person, tenant: tenant, application: interaction.application, request: interaction.request,
      authentication: proof)
    return try end(interaction, name, .success(authorization))
  }

  /// Shows a page, and remembers the sign-in until its form comes.
  private func page(_ step: SignInStep, _ name: String, _ interaction: Interaction) throws(Refusal) -> DemoAnswer {
    var interaction = interaction
    if case .secondFactor = step { interaction.oneTimeCode = try Random.text(6, of: "0123456789") }
    state.interactions[name] = interaction
    return page(of: step, name, interaction)
  }

  /// Ends a sign-in: its application or its device gets the outcome.
  private func end(
    _ interaction: Interaction, _ name: String, _ outcome: Result<Authorization, Refusal>
  ) throws(Refusal) -> DemoAnswer {
    state.interactions[name] = nil
    let application = interaction.application.name
    switch outcome {
    case .failure(let refusal) where interaction.userCode == nil: return .refuse(refusal, interaction.request, now)
    case .success(let authorization) where interaction.userCode == nil:
      let code = try Random.name()
      state.codes[code] = (authorization, isRedeemed: false)
      return .send([("code", code)], to: interaction.request, note: "code for \(authorization.person.userName)")
    default:
      guard let code = state.waitingDevice(interaction.userCode, now: now) else { throw .noSuchInteraction }
      state.devices[code]?.outcome = outcome
      guard case .success(let authorization) = outcome else {
        return .message(
          "Sign-in cancelled", "\(application) gets no access. You can close this page.", note: "device declined")
      }
      return .message(
        "You are signed in", "\(application) goes on by itself. You can close this page.",
        note: "device approved by \(authorization.person.userName)")
    }
  }
}
