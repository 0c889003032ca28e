// The authorization endpoint and the pages behind it: from a request to the next page, or to the redirect that ends the
// sign-in. What comes next is `SignInStep`'s.

internal import Bytes
internal import HTTPServer
internal import Tokens

extension IdentityProvider {
  /// Answers an authorization request.
  func authorize(
    _ request: DemoRequest, segment: String, _ state: inout ProviderState, _ identifiers: RequestIdentifiers,
    now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    let parameters = try ReplyForm(
      request: request.method == "POST" ? request.body.bytes : Array(request.query.utf8))
    guard let client = parameters["client_id"] else { throw .missingParameter("client_id") }
    let (application, _) = try directory.application(client, segment: segment)
    let address = try ReplyAddress(parameters, of: application)
    do throws(ProviderError) {
      let asked = try AuthorizationRequest(parameters, of: application, to: address)
      let (browser, isNew) = try browser(of: request, &state)
      let name = try state.begin(
        Interaction(
          purpose: .authorization(asked), segment: segment, client: application.clientIdentifier, browser: browser,
          expiresAt: now + Interaction.lifetime),
        now: now)
      return try proceed(name, &state, identifiers, now: now)
        .adding(isNew ? [("set-cookie", Browser.cookie(browser))] : [])
    } catch {
      return refuse(error, to: address, identifiers, now: now)
    }
  }

  /// Answers a form of a sign-in's page.
  func interaction(
    _ request: DemoRequest, _ state: inout ProviderState, _ identifiers: RequestIdentifiers, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    let form = try ownForm(request)
    // The hidden field is known to the page alone, and the cookie to its browser alone: another site has neither.
    guard let name = form["interaction"], var interaction = state.interactions[name], now < interaction.expiresAt,
      Browser.name(inCookies: request["cookie"]) == interaction.browser
    else { throw .noSuchInteraction }
    var cookie: String?
    switch form["action"] {
    case "sign-in":
      guard let person = directory.person(userName: form["user"] ?? ""),
        person.user.password == Secret(form["password"] ?? "")
      else {
        return try page(.signIn(userName: form["user"], problem: .wrongPassword), name, &state)
          .noted("AADSTS\(ProviderError.wrongPassword.code), wrong password")
      }
      // Another name for the browser, so that one planted before the sign-in is worth nothing after it.
      let renamed = try OpaqueText.make()
      var browser = state.browsers.removeValue(forKey: interaction.browser) ?? Browser()
      browser.signIn(person.user.object, at: now)
      state.browsers[renamed] = browser
      for (other, waiting) in state.interactions where waiting.browser == interaction.browser {
        state.interactions[other]?.browser = renamed
      }
      interaction.browser = renamed
      interaction.person = person.user.object
      interaction.hasTypedPassword = true
      cookie = Browser.cookie(renamed)
    case "verify":
      // A code serves once: right or wrong, the next page has another.
      let sent = interaction.oneTimeCode
      interaction.oneTimeCode = nil
      state.interactions[name] = interaction
      guard case .secondFactor(let person, _) = step(interaction, state, now: now), let sent else {
        throw .noSuchInteraction
      }
      guard form["code"]?.filter(\.isNumber) == sent else {
        return try page(.secondFactor(person, problem: .wrongCode), name, &state)
          .noted("AADSTS\(ProviderError.wrongCode.code), wrong code")
      }
      state.browsers[interaction.browser]?.confirm(person.user.object)
    case "account":
      guard let chosen = form["account"], state.browsers[interaction.browser]?.session(chosen) != nil else {
        throw .noSuchInteraction
      }
      interaction.person = chosen
    case "another":
      interaction.wantsAnother = true
      interaction.person = nil
      interaction.hasTypedPassword = false
    case "accept":
      return try accept(name, interaction, &state, identifiers, now: now)
    default:
      return try decline(name, interaction, &state, identifiers, now: now)
    }
    state.interactions[name] = interaction
    return try proceed(name, &state, identifiers, now: now).adding(cookie.map { [("set-cookie", $0)] } ?? [])
  }

  /// The next page of a sign-in, or its end.
  func proceed(
    _ name: String, _ state: inout ProviderState, _ identifiers: RequestIdentifiers, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    guard let interaction = state.interactions[name] else { throw .noSuchInteraction }
    let step = step(interaction, state, now: now)
    switch step {
    case .signIn, .secondFactor, .choose, .consent:
      return try page(step, name, &state)
    case .refuse(let error):
      state.interactions[name] = nil
      guard let request = interaction.request else { throw error }
      return refuse(error, to: request.address, identifiers, now: now)
    case .finish(let person, let tenant):
      state.interactions[name] = nil
      let authorization = Authorization(
        person: person.user.object, tenant: tenant.identifier, client: interaction.client, scopes: interaction.scopes,
        nonce: interaction.request?.nonce,
        authentication: state.browsers[interaction.browser]?.session(person.user.object)?.authentication
          ?? Authentication(at: now))
      return try finish(interaction, authorization, person, &state, now: now)
    }
  }

  private func step(_ interaction: Interaction, _ state: ProviderState, now: UnixTime) -> SignInStep {
    SignInStep(
      interaction, state.browsers[interaction.browser] ?? Browser(), directory, state.consents,
      SecondFactorRule(state.behaviour), now: now)
  }

  private func finish(
    _ interaction: Interaction, _ authorization: Authorization, _ person: Person, _ state: inout ProviderState,
    now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    switch interaction.purpose {
    case .authorization(let request):
      let code = try state.codes.issue(authorization, for: request, now: now)
      return pages.reply(to: request.address, [("code", code)]).noted("code for \(person.user.userName)")
    case .device(let userCode, _):
      guard state.devices.end(userCode: userCode, .approved(authorization), now: now) else {
        throw .noSuchInteraction
      }
      return pages.message(
        "You are signed in", "\(applicationName(interaction)) goes on by itself. You can close this page."
      ).noted("device approved by \(person.user.userName)")
    }
  }

  /// Remembers the consent that the page asked for, and goes on.
  private func accept(
    _ name: String, _ interaction: Interaction, _ state: inout ProviderState, _ identifiers: RequestIdentifiers,
    now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    // Asked again, so that only a page that was due is accepted.
    guard case .consent(let person, let tenant, let scopes) = step(interaction, state, now: now) else {
      throw .noSuchInteraction
    }
    state.consents.grant(
      scopes,
      Consents.Party(person: person.user.object, client: interaction.client, tenant: tenant.identifier))
    state.interactions[name]?.hasConsented = true
    return try proceed(name, &state, identifiers, now: now)
  }

  private func decline(
    _ name: String, _ interaction: Interaction, _ state: inout ProviderState, _ identifiers: RequestIdentifiers,
    now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    state.interactions[name] = nil
    switch interaction.purpose {
    case .authorization(let request):
      return refuse(.declined, to: request.address, identifiers, now: now)
    case .device(let userCode, _):
      _ = state.devices.end(userCode: userCode, .declined, now: now)
      return pages.message(
        "Sign-in cancelled", "\(applicationName(interaction)) gets no access. You can close this page."
      ).noted("device declined")
    }
  }

  private func refuse(
    _ error: ProviderError, to address: ReplyAddress, _ identifiers: RequestIdentifiers, now: UnixTime
  ) -> DemoAnswer {
    let document = ErrorDocument(error, identifiers, now: now)
    var told = [("error", document.error), ("error_description", document.error_description)]
    if let claims = document.claims { told.append(("claims", claims)) }
    return pages.reply(to: address, told).noted("AADSTS\(error.code) \(error.name)")
  }

  private func page(
    _ step: SignInStep, _ name: String, _ state: inout ProviderState
  ) throws(ProviderError) -> DemoAnswer {
    if case .secondFactor = step { state.interactions[name]?.oneTimeCode = try OpaqueText.oneTimeCode() }
    guard let interaction = state.interactions[name] else { throw .noSuchInteraction }
    return pages.step(
      step,
      .init(
        name: name, action: ProviderEndpoint.interaction(tenant: interaction.segment).path,
        application: applicationName(interaction), returnsTo: interaction.request?.address.redirectURI,
        userCode: interaction.userCode, oneTimeCode: interaction.oneTimeCode, hint: directory.signInHint))
  }

  private func applicationName(_ interaction: Interaction) -> String {
    for tenant in directory.tenants {
      if let application = tenant.application(interaction.client) { return application.displayName }
    }
    return interaction.client
  }

  /// The name of the browser that sent a request, and whether it was given just now.
  func browser(of request: DemoRequest, _ state: inout ProviderState) throws(ProviderError) -> (String, isNew: Bool) {
    if let name = Browser.name(inCookies: request["cookie"]), state.browsers[name] != nil { return (name, false) }
    let name = try OpaqueText.make()
    state.browsers[name] = Browser()
    return (name, true)
  }

  /// The form that one of our own pages posted.
  func ownForm(_ request: DemoRequest) throws(ProviderError) -> ReplyForm {
    guard request.method == "POST" else { throw .postOnly(received: request.method) }
    // A browser sends a form's origin; another program sends none and has no cookies to be abused.
    if let from = request["origin"], from != origin { throw .crossSite }
    if let site = request["sec-fetch-site"], site != "same-origin" { throw .crossSite }
    return try ReplyForm(request: request.body.bytes)
  }
}
