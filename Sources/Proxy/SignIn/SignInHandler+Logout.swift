// Signing out at the pages: the account leaves the cache, and the browser is sent to the provider's own end of the
// session (OpenID Connect RP-Initiated Logout 1.0), if there is one. Forms are sealed like those of a sign-in.

internal import Bytes
internal import HTTP
internal import Identity
internal import Platform
internal import Telemetry
internal import Tokens

extension SignInHandler {
  /// The page that asks which account to sign out.
  func logoutForm(_ request: SignInPageRequest) async throws(SignInPageFailure) -> ProxyResponse {
    let (asked, route, _) = try read(request.query)
    let form = asked.signingOut
    let people = await people(for: route)
    if people.isEmpty { return pages.signedOut(nil, isAtProvider: false) }
    let browser = try browser(request)
    var answer = pages.logout(
      people, application: route.applicationName, authority: route.subscription.application.authority.url, form: form,
      seal: try sealed(form, for: browser))
    answer.fields.append(("Set-Cookie", setCookie(browser)))
    return answer
  }

  func logout(_ request: SignInPageRequest) async throws(SignInPageFailure) -> ProxyResponse {
    if request.source == .otherPage || request.source == .noPage { throw .crossSite }
    let (asked, route, fields) = try read(request.body)
    let form = asked.signingOut
    _ = try owner(of: form, fields, request, now: surroundings.now())
    let people = await people(for: route)
    guard let account = people.first(where: { $0.homeAccountID == fields["account"] }) else {
      return pages.signedOut(nil, isAtProvider: false)
    }
    try await mapping(
      { SignInPageFailure(.store($0)).retrying(form) },
      awaiting: await remove(account, of: route.subscription.application))
    surroundings.log.info(
      "signed out", ["route": .string(route.name), "application": .string(route.subscription.application.name)])
    guard let address = await sessionEnd(of: route) else { return pages.signedOut(account.name, isAtProvider: false) }
    return .seeOther(address)
  }

  /// Signs out of every application of the provider, as `logout` does.
  private func remove(_ account: CachedAccount, of application: Application) async throws(CacheStoreError) {
    let server = application.authority.authorizationServer
    var done: Set<String> = []
    for other in routes.values.map(\.subscription.application) where other.authority.authorizationServer == server {
      guard done.insert(other.clientID).inserted else { continue }
      try await SignedInAccounts(other, store: surroundings.store).remove(account: account)
    }
    await surroundings.store.look()
  }

  /// The address at which the provider ends its own session; nil if there is none. No ID token is sent along: it
  /// identifies the person, and the browser may be another's.
  private func sessionEnd(of route: SignInRoute) async -> String? {
    let metadata: ProviderMetadata
    do throws(AcquisitionError) {
      metadata = try await surroundings.broker.discover(for: route.subscription)
    } catch {
      return nil
    }
    guard let endpoint = metadata.endSessionEndpoint else { return nil }
    var query = FormBody()
    query.append("client_id", route.subscription.application.clientID)
    query.append("post_logout_redirect_uri", origin.text + SignInEndpoint.signedOutPath)
    return endpoint.adding(query: query.text).description
  }
}
