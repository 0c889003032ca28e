// The endpoints behind a person's browser: authorization requests, devices' codes, the pages' forms, signing out.

internal import Bytes
internal import HTTPServer
internal import Tokens

extension IdentityProvider {
  func authorize(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    let form = try call.request.form()
    let application = try directory.application(form.required("client_id"), in: call.tenant)
    let reply = try ReplyAddress(form, of: application)
    do throws(Refusal) {
      let interaction = try Interaction(form, application, call.tenant, reply, now: call.now)
      return try begin(interaction, call, &state)
    } catch {
      return refuse(error, to: reply, now: call.now)
    }
  }

  /// Answers a device that asks for a code (RFC 8628 §3.2, with Entra's `message`).
  func deviceAuthorization(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    guard call.request.method == "POST" else { throw .postOnly }
    let form = try call.request.form()
    let proof = try ClientProof(form, authorization: call.request[field: "authorization"])
    let application = try directory.application(proof.client, in: call.tenant)
    try proof.check(application, at: origin, now: call.now)
    _ = try form.required("scope")
    _ = try directory.scopes(form.words("scope"))
    let lifetime = state.behaviour.deviceCodeLifetime
    let (code, userCode) = (try Random.name(), try Random.userCode())
    state.devices[code] = Device(
      userCode: userCode, application: application, tenant: call.tenant, scopes: form.words("scope"),
      expiresAt: call.now + lifetime)
    let address = origin + Endpoint.device.path()
    return DemoAnswer(
      200,
      [
        "device_code": code, "user_code": userCode, "verification_uri": address, "expires_in": lifetime,
        "verification_uri_complete": "\(address)?user_code=\(userCode)", "interval": state.behaviour.deviceInterval,
        "message":
          "To sign in, use a web browser to open the page \(address) and enter the code \(userCode) to authenticate.",
      ], note: "device code for \(application.name)")
  }

  /// The page for a device's code, and its form.
  func device(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    let typed = try call.request.form()["user_code"]
    guard call.request.method == "POST" else { return userCodePage(typed, isWrong: false) }
    guard let device = state.waitingDevice(typed, now: call.now).flatMap({ state.devices[$0] }) else {
      return userCodePage(typed, isWrong: true)
    }
    let interaction = Interaction(
      application: device.application, tenant: device.tenant, scopes: device.scopes,
      expiresAt: call.now + Interaction.lifetime, userCode: device.userCode)
    return try begin(interaction, call, &state)
  }

  /// Signs all people out of the browser, and sends it to the application's address, if that is registered. Refresh
  /// tokens are the applications' own, and stay.
  func logout(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    if let name = Browser.name(inCookies: call.request[field: "cookie"]) { state.browsers[name] = nil }
    let form = try call.request.form()
    if let client = form["client_id"], let uri = form["post_logout_redirect_uri"],
      try directory.application(client, in: call.tenant).allows(redirectURI: uri)
    {
      return seeOther(uri)
    }
    return message("You are signed out", "No account is signed in here any more. You can close this page.")
  }

  /// Answers a form of a sign-in's page.
  func interaction(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    guard call.request.method == "POST" else { throw .postOnly }
    let form = try call.request.form()
    // The hidden field is known to the page alone, and the cookie to its browser alone: another site has neither.
    guard let name = form["interaction"], var interaction = state.interactions[name], call.now < interaction.expiresAt,
      Browser.name(inCookies: call.request[field: "cookie"]) == interaction.browser
    else { throw .noSuchInteraction }
    switch form["action"] {
    case "sign-in":
      guard let person = directory.person(userName: form["user"] ?? ""),
        person.password == Secret(form["password"] ?? "")
      else { return try page(.signIn(form["user"], .wrongPassword), name, &state) }
      state.browsers[interaction.browser]?.signIn(person, Authentication(at: call.now))
      (interaction.person, interaction.hasTypedPassword) = (person, true)
    case "verify":
      guard case .secondFactor(let person, _) = try interaction.step(directory, state, now: call.now) else {
        throw .noSuchInteraction
      }
      guard form["code"]?.filter(\.isNumber) == interaction.oneTimeCode else {
        return try page(.secondFactor(person, .wrongCode), name, &state)
      }
      let proof = state.browsers[interaction.browser]?.authentication(of: person)
      state.browsers[interaction.browser]?.signIn(
        person, Authentication(at: proof?.at ?? call.now, isTwofold: true))
      interaction.person = person
    case "account":
      let people = state.browsers[interaction.browser]?.signedIn.map(\.person) ?? []
      guard let person = people.first(where: { $0.object == form["account"] }) else { throw .noSuchInteraction }
      interaction.person = person
    case "another":
      interaction.wantsAnother = true
    case "accept":
      // Judged again, so that only a page that was due is accepted.
      guard case .consent(let person, let tenant, let scopes) = try interaction.step(directory, state, now: call.now)
      else { throw .noSuchInteraction }
      for (api, names) in scopes {
        for name in names { state.consents.insert(Consent(person, interaction.application, tenant, api, name)) }
      }
      interaction.hasConsented = true
    default:
      state.interactions[name] = nil
      if let reply = interaction.reply { return refuse(.declined(), to: reply, now: call.now) }
      end(interaction, .declined, &state, now: call.now)
      return message(
        "Sign-in cancelled", "\(interaction.application.name) gets no access. You can close this page.",
        note: "device declined")
    }
    state.interactions[name] = interaction
    return try proceed(name, &state, now: call.now)
  }

  // MARK: Steps

  /// Begins a sign-in in the browser that sent the request.
  private func begin(
    _ interaction: Interaction, _ call: Call, _ state: inout ProviderState
  ) throws(Refusal) -> DemoAnswer {
    var interaction = interaction
    var cookie: String?
    if let known = Browser.name(inCookies: call.request[field: "cookie"]), state.browsers[known] != nil {
      interaction.browser = known
    } else {
      interaction.browser = try Random.name()
      state.browsers[interaction.browser] = Browser()
      cookie = Browser.cookie(interaction.browser)
    }
    let name = try Random.name()
    state.interactions[name] = interaction
    return try proceed(name, &state, now: call.now).adding("set-cookie", cookie)
  }

  /// The next page of a sign-in, or its end.
  private func proceed(_ name: String, _ state: inout ProviderState, now: UnixTime) throws(Refusal) -> DemoAnswer {
    guard let interaction = state.interactions[name] else { throw .noSuchInteraction }
    let step: SignInStep
    do throws(Refusal) {
      step = try interaction.step(directory, state, now: now)
    } catch {
      state.interactions[name] = nil
      guard let reply = interaction.reply else { throw error }
      return refuse(error, to: reply, now: now)
    }
    guard case .finish(let person, let tenant) = step else { return try page(step, name, &state) }
    state.interactions[name] = nil
    let proof = state.browsers[interaction.browser]?.authentication(of: person)
    let authorization = Authorization(
      person: person, tenant: tenant, application: interaction.application, scopes: interaction.scopes,
      nonce: interaction.nonce, authentication: proof ?? Authentication(at: now))
    guard let reply = interaction.reply else {
      guard end(interaction, .approved(authorization), &state, now: now) else { throw .noSuchInteraction }
      return message(
        "You are signed in", "\(interaction.application.name) goes on by itself. You can close this page.",
        note: "device approved by \(person.userName)")
    }
    let code = try Random.name()
    state.codes[code] = Code(
      authorization: authorization, redirectURI: reply.redirectURI, challenge: interaction.challenge)
    return send([("code", code)], to: reply, note: "code for \(person.userName)")
  }

  /// Ends a device's sign-in. Returns false if the device no longer waits.
  @discardableResult
  private func end(
    _ interaction: Interaction, _ outcome: Device.Outcome, _ state: inout ProviderState, now: UnixTime
  ) -> Bool {
    guard let code = state.waitingDevice(interaction.userCode, now: now) else { return false }
    state.devices[code]?.outcome = outcome
    return true
  }

  private func refuse(_ refusal: Refusal, to reply: ReplyAddress, now: UnixTime) -> DemoAnswer {
    let document = refusal.document(now: now)
    let told = ["error", "error_description", "claims"].compactMap { name in
      document[name]??.json.text.map { (name, $0) }
    }
    return send(told, to: reply, note: "AADSTS\(refusal.code) \(refusal.error)")
  }

  private func page(_ step: SignInStep, _ name: String, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    if case .secondFactor = step { state.interactions[name]?.oneTimeCode = try Random.oneTimeCode() }
    guard let interaction = state.interactions[name] else { throw .noSuchInteraction }
    return page(step, name, interaction)
  }
}
