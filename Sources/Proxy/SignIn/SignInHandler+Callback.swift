// The provider's answer: its sign-in, and the way back for the browser.

internal import HTTP
internal import Identity
internal import Platform
internal import Telemetry
internal import Tokens

extension SignInHandler {
  /// Ends the sign-in of the provider's answer.
  func callback(_ request: SignInPageRequest) async -> ProxyResponse {
    do throws(SignInPageFailure) { return try await end(request) } catch { return callbackPages.failure(error) }
  }

  private func end(_ request: SignInPageRequest) async throws(SignInPageFailure) -> ProxyResponse {
    let state: String?
    do throws(ReplyForm.Problem) { state = try ReplyForm(request.query)["state"] } catch { throw .malformed }
    guard let state else { throw .unknownState }
    let browsers = origin.cookie.browsers(in: request.cookies)
    let (entry, signIn) = try pending.withLock { pending throws(SignInPageFailure) in
      try pending.take(state: state, browsers: browsers, now: surroundings.now(), lifetime: surroundings.lifetime)
    }
    // Another application's answer would hand its code to this one's provider (RFC 9700 §4.4.2).
    guard origin.text + request.path == signIn.redirectURI else {
      surroundings.log.warning(
        "sign-in answered at another application's address",
        [
          "route": .string(entry.form.route), "expected": .string(signIn.redirectURI),
          "next": .next(.redirectURIs),
        ])
      throw .otherApplication.retrying(entry.form)
    }
    // A reload may have given the name to another route.
    guard let route = routes[entry.form.route], Self.areServedByOneSignIn(route.subscription.key, entry.wanted) else {
      throw .unknownRoute
    }
    do throws(SignInError) {
      let result = try await signIn.finish(query: request.query)
      await requirements.met(by: entry.requirement.met, routes: related(to: route))
      surroundings.log.info(
        "signed in", ["route": .string(route.name), "application": .string(route.subscription.application.name)])
      return await end(entry.form, route, result.account, request.source)
    } catch {
      record(error, route)
      throw SignInPageFailure(error).retrying(entry.form)
    }
  }

  /// Returns the browser to its page, if the route can be used now.
  private func end(
    _ form: SignInForm, _ route: SignInRoute, _ account: CachedAccount?, _ source: SignInPageRequest.Source
  ) async -> ProxyResponse {
    let pages = callbackPages
    do throws(AcquisitionError) {
      _ = try await surroundings.broker.currentBearer(for: route.subscription)
    } catch {
      // Other failures do not concern the person, and the route itself reports them.
      if let required = error.interactionRequired {
        return pages.failure(
          .stillRequired(required.words(route: route.name, link: form.link, commands)).retrying(form))
      }
    }
    if let path = form.returnTo {
      if form.asksBeforeReturn { return pages.done(account?.name, route: route.displayName, returnTo: path) }
      // A redirect would continue the provider's: the browser would mark the next request as another site's, which is
      // refused.
      return source == .otherPage || source == .noPage ? pages.goingBack(to: path) : .seeOther(origin.text + path.text)
    }
    return pages.done(account?.name, route: route.displayName)
  }

  /// The routes that a sign-in for one of them serves: the application's, for the same account.
  private func related(to route: SignInRoute) -> [String] {
    let key = route.subscription.key
    return routes.values.filter { Self.areServedByOneSignIn($0.subscription.key, key) }.map(\.name)
  }

  private static func areServedByOneSignIn(_ one: AcquisitionKey, _ other: AcquisitionKey) -> Bool {
    one.authority == other.authority && one.clientID == other.clientID && one.subject == other.subject
  }
}
