// The device authorization endpoint, the page for a device's code, and the end of sessions.

internal import Bytes
internal import HTTPServer
internal import Tokens

/// The answer to a device (RFC 8628 §3.2, with Entra's `message`).
private struct DeviceDocument: Encodable {
  var device_code: String
  var user_code: String
  var verification_uri: String
  var verification_uri_complete: String
  var expires_in: Int64
  var interval: Int64
  var message: String
}

extension IdentityProvider {
  /// Answers a device that asks for a code.
  func deviceAuthorization(
    _ request: DemoRequest, segment: String, _ state: inout ProviderState, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    guard request.method == "POST" else { throw .postOnly(received: request.method) }
    let form = try ReplyForm(request: request.body.bytes)
    let client = try ClientAuthentication(form: form, authorization: request["authorization"])
    let (application, tenant) = try directory.application(client.clientIdentifier, segment: segment)
    try client.prove(application, at: origin, now: now)
    guard let scope = form["scope"] else { throw .missingParameter("scope") }
    let scopes = scope.split(separator: " ").map(String.init)
    _ = try RequestedScopes(scopes, in: tenant)
    let lifetime = state.behaviour.deviceCodeLifetime
    let userCode = try OpaqueText.userCode()
    let code = try state.devices.begin(
      DeviceAuthorizations.Device(
        userCode: userCode, client: application.clientIdentifier, segment: segment, scopes: scopes,
        expiresAt: now + lifetime),
      now: now)
    let address = origin + ProviderEndpoint.device.path
    let document = DeviceDocument(
      device_code: code, user_code: userCode, verification_uri: address,
      verification_uri_complete: "\(address)?user_code=\(userCode)", expires_in: lifetime,
      interval: state.behaviour.deviceInterval,
      message:
        "To sign in, use a web browser to open the page \(address) and enter the code \(userCode) to authenticate.")
    return DemoAnswer(status: 200, json: document).noted("device code for \(application.displayName)")
  }

  /// The page for a code, and its form.
  func device(
    _ request: DemoRequest, _ state: inout ProviderState, _ identifiers: RequestIdentifiers, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    let address = ProviderEndpoint.device.path
    guard request.method == "POST" else {
      let typed = try ReplyForm(request: Array(request.query.utf8))["user_code"]
      return pages.userCode(typed, action: address, isWrong: false)
    }
    let typed = try ownForm(request)["user_code"] ?? ""
    guard let device = state.devices.waiting(userCode: typed, now: now) else {
      return pages.userCode(typed, action: address, isWrong: true).noted("no device shows that code")
    }
    let (browser, isNew) = try browser(of: request, &state)
    let name = try state.begin(
      Interaction(
        purpose: .device(userCode: device.userCode, scopes: device.scopes), segment: device.segment,
        client: device.client, browser: browser, expiresAt: now + Interaction.lifetime),
      now: now)
    return try proceed(name, &state, identifiers, now: now)
      .adding(isNew ? [("set-cookie", Browser.cookie(browser))] : [])
  }

  /// Signs all people out of the browser, and sends it to the application's address, if that is registered.
  /// Refresh tokens are the applications' own, and stay.
  func logout(_ request: DemoRequest, _ state: inout ProviderState) -> DemoAnswer {
    if let name = Browser.name(inCookies: request["cookie"]) { state.browsers[name] = nil }
    if let target = target(afterLogout: request) { return DemoAnswer(seeOther: target) }
    return pages.message("You are signed out", "No account is signed in here any more. You can close this page.")
  }

  private func target(afterLogout request: DemoRequest) -> String? {
    do throws(ReplyForm.Problem) {
      let query = try ReplyForm(Array(request.query.utf8))
      guard let client = query["client_id"], let uri = query["post_logout_redirect_uri"] else { return nil }
      let registered = directory.tenants.compactMap { $0.application(client) }.flatMap(\.redirectURIs)
      return RedirectURIRule.allows(uri, registered: registered) ? uri : nil
    } catch {
      return nil
    }
  }
}
