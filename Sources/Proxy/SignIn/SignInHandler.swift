package import Bytes
internal import HTTP
package import Identity
package import Platform
package import Telemetry
internal import Tokens

/// Answers requests to a listener's sign-in pages, and holds the sign-ins under way.
package final class SignInHandler: Sendable {
  package struct Surroundings: Sendable {
    package var store: CacheStore
    /// The broker whose next token shows if a route can be used.
    package var broker: TokenBroker
    package var now: @Sendable () -> UnixTime
    /// The log of sign-ins and their failures.
    package var log: Log
    /// Seconds in which a form must be sent, and then its sign-in answered.
    package var lifetime: Int64

    package init(
      store: CacheStore, broker: TokenBroker, now: @escaping @Sendable () -> UnixTime,
      log: Log, lifetime: Int64
    ) {
      self.store = store
      self.broker = broker
      self.now = now
      self.log = log
      self.lifetime = lifetime
    }
  }

  struct SignInRoute {
    var name: String
    var displayName: String
    var applicationName: String
    var subscription: TokenSubscription
    /// The account in the configuration.
    var account: String?
  }

  /// The listener's origin in browsers.
  package let origin: SignInOrigin
  /// True if requests by another name of the listener are sent to this one first; false if a proxy in front may have
  /// changed the name.
  private let hasOneName: Bool
  let routes: [String: SignInRoute]
  let surroundings: Surroundings
  let pages: SignInPages
  private let hasLogout: Bool
  let callbackPages: SignInPages
  let seal: SignInSeal
  let requirements: SignInRequirements
  let commands: OperatorCommands
  let pending: Locked<PendingSignIns>

  static let formLimit = 16 * 1024

  /// A handler for the routes of `service` that carry a person's token. Forms and sign-ins of `former` are valid here
  /// too.
  package init(
    _ origin: SignInOrigin, hasOneName: Bool, hasLogout: Bool = false, service: Service, _ surroundings: Surroundings,
    succeeding former: SignInHandler? = nil
  ) throws(CryptoError) {
    self.origin = origin
    self.hasOneName = hasOneName
    self.hasLogout = hasLogout
    self.surroundings = surroundings
    requirements = service.process.signInRequirements
    commands = service.description.commands
    pages = SignInPages()
    callbackPages = SignInPages(hidesQuery: true)
    let lifetime = surroundings.lifetime
    if let former {
      seal = SignInSeal(keeping: former.seal, lifetime: lifetime)
    } else {
      seal = try SignInSeal(lifetime: lifetime)
    }
    pending = former?.pending ?? Locked(PendingSignIns())
    var routes: [String: SignInRoute] = [:]
    for route in service.plan.routes {
      guard let slot = route.bearerSlot, case .account(let account) = service.plan.subscriptions[slot].key.subject
      else {
        continue
      }
      routes[route.name] = SignInRoute(
        name: route.name, displayName: route.displayName ?? route.name,
        applicationName: route.applicationName ?? service.plan.subscriptions[slot].application.name,
        subscription: service.plan.subscriptions[slot], account: account)
    }
    self.routes = routes
  }

  /// The redirect URIs to register at identity providers, each once.
  package var redirectURIs: [String] {
    Set(routes.values.map { origin.redirectURI($0.subscription.application.callback) }).sorted()
  }

  func answer(_ request: SignInPageRequest) async -> ProxyResponse {
    do throws(SignInPageFailure) {
      return try await answer(request, SignInEndpoint(method: request.method, path: request.path))
    } catch {
      return pages.failure(error)
    }
  }

  private func answer(
    _ request: SignInPageRequest, _ endpoint: SignInEndpoint
  ) async throws(SignInPageFailure) -> ProxyResponse {
    switch endpoint {
    case .nothing: throw .nothingHere
    case .otherMethod(let allow):
      var answer = pages.failure(.method)
      answer.fields.append(("Allow", allow))
      return answer
    case .form, .logoutForm:
      if endpoint == .logoutForm, !hasLogout { throw .nothingHere }
      if hasOneName, request.authority.lowercased() != origin.authority {
        return .seeOther("\(origin.text)\(request.path)?\(String(decoding: request.query, as: UTF8.self))")
      }
      return endpoint == .form ? try await form(request) : try await logoutForm(request)
    case .logout where hasLogout: return try await logout(request)
    case .signedOut where hasLogout: return pages.signedOut(nil, isAtProvider: true)
    case .logout, .signedOut: throw .nothingHere
    case .begin: return try await begin(request)
    case .callback: return await callback(request)
    }
  }

  /// The connection's answer if a form is too long.
  func tooLarge() -> ProxyResponse { pages.failure(.tooLarge) }

  // MARK: The page with the button

  private func form(
    _ request: SignInPageRequest, _ details: [(name: String, text: String)] = []
  ) async throws(SignInPageFailure) -> ProxyResponse {
    let (asked, route, _) = try read(request.query)
    var form = asked
    if request.source == .otherPage { form.asksBeforeReturn = true }
    let application = route.subscription.application
    let people = await people(for: route)
    let requirement = await requirement(of: route)
    let browser = try browser(request)
    var question = SignInPages.Question(
      words: SignInText(requirement, configured: route.subscription.key.scopes, isSignedIn: !people.isEmpty),
      application: route.applicationName, route: route.displayName, account: route.account,
      authority: application.authority.url, form: form, seal: try sealed(form, for: browser),
      details: [
        ("Route", route.name), ("Application", application.name), ("Scopes", requirement.scopes.description),
      ] + details)
    if route.account == nil {
      if people.count == 1 { question.account = people[0].name } else { question.choice = people }
    }
    var answer = pages.question(question)
    answer.fields.append(("Set-Cookie", setCookie(browser)))
    return answer
  }

  /// The name by which a browser is known from here on.
  func browser(_ request: SignInPageRequest) throws(SignInPageFailure) -> String {
    if let known = origin.cookie.browsers(in: request.cookies).first { return known }
    do throws(CryptoError) { return try Base64URL.encode(RandomBytes.make(32)) } catch { throw .busy }
  }

  /// The seal of a form that a browser is shown now.
  func sealed(_ form: SignInForm, for browser: String) throws(SignInPageFailure) -> String {
    do throws(CryptoError) { return try seal.seal(browser, form, now: surroundings.now()) } catch { throw .busy }
  }

  func read(
    _ text: [UInt8]
  ) throws(SignInPageFailure) -> (form: SignInForm, route: SignInRoute, fields: ReplyForm) {
    let fields = try mapping({ (_: ReplyForm.Problem) in SignInPageFailure.malformed }, ReplyForm(text))
    guard let name = fields["route"], let route = routes[name] else { throw .unknownRoute }
    var form = SignInForm(route: name)
    if let text = fields["return"] {
      guard let path = ReturnPath(text) else { throw .foreignReturn }
      form.returnTo = path
      form.asksBeforeReturn = fields["ask"] != nil
    }
    return (form, route, fields)
  }

  /// The people who are signed in to the route's application, and whom the route may mean.
  func people(for route: SignInRoute) async -> [CachedAccount] {
    // A person may have signed in elsewhere a moment ago.
    await surroundings.store.look()
    return await SignedInAccounts(route.subscription.application, store: surroundings.store)
      .accounts(called: route.account).map(\.account)
  }

  private func requirement(of route: SignInRoute) async -> RouteSignInRequirement {
    RouteSignInRequirement(
      await requirements.requirement(of: route.name), configured: route.subscription.key.scopes, now: surroundings.now()
    )
  }

  /// The page with the button, in place of an answer to a browser that navigates to `target` and lacks a sign-in for
  /// `route`: its content and fields. nil if the browser called the listener by another name than the pages have, or no
  /// one signs in for the route.
  func page(
    insteadOf target: String, route: String, _ visit: SignInPageRequest, details: [(name: String, text: String)]
  ) async -> ProxyResponse? {
    guard routes[route] != nil, !hasOneName || visit.authority.lowercased() == origin.authority else { return nil }
    let form = SignInForm(route: route, returnTo: ReturnPath(target))
    var request = visit
    request.query = Array(form.link.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst())
    request.source = .unsaid
    do throws(SignInPageFailure) { return try await self.form(request, details) } catch { return nil }
  }

  /// The browser that was shown a form, which it sends now.
  func owner(
    of form: SignInForm, _ fields: ReplyForm, _ request: SignInPageRequest, now: UnixTime
  ) throws(SignInPageFailure) -> String {
    let browsers = origin.cookie.browsers(in: request.cookies)
    let verdict = try mapping(
      { (_: CryptoError) in SignInPageFailure.busy }, seal.judge(fields["seal"] ?? "", browsers, form, now: now))
    switch verdict {
    case _ where browsers.isEmpty: throw .noCookie.retrying(form)
    case .good(let owner): return owner
    case .expired: throw .expiredForm.retrying(form)
    case .forged: throw .forged.retrying(form)
    }
  }

  // MARK: Its button

  private func begin(_ request: SignInPageRequest) async throws(SignInPageFailure) -> ProxyResponse {
    if request.source == .otherPage || request.source == .noPage { throw .crossSite }
    let (form, route, fields) = try read(request.body)
    let now = surroundings.now()
    let browser = try owner(of: form, fields, request, now: now)
    let requirement = await requirement(of: route)
    let people = await people(for: route)
    var wanted = SignInRequest(application: route.subscription.application, scopes: requirement.scopes)
    wanted.terms.parameters = route.subscription.key.parameters
    wanted.terms.claims = requirement.need.claims
    wanted.terms.authenticationContexts = requirement.need.authenticationContexts
    wanted.terms.maxAge = requirement.need.maxAge
    let meant =
      route.account != nil || people.count == 1 ? people.first : people.first { $0.homeAccountID == fields["account"] }
    wanted.expectedAccount = route.account ?? meant?.homeAccountID
    // A provider's page does not know ids.
    wanted.terms.loginHint = meant?.username ?? route.account.flatMap { $0.contains("@") ? $0 : nil }
    if wanted.terms.loginHint == nil, !people.isEmpty { wanted.terms.prompt = .selectAccount }
    do throws(SignInError) {
      let signIn = try await BrowserSignIn.begin(
        wanted, redirectURI: origin.redirectURI(wanted.application.callback), store: surroundings.store,
        broker: surroundings.broker, now: surroundings.now)
      let address = try await signIn.address()
      pending.withLock {
        $0.begin(
          PendingSignIns.Entry(
            state: signIn.state, signIn: signIn, browser: Secret(browser), caller: request.caller, form: form,
            requirement: requirement, wanted: route.subscription.key, since: now))
      }
      var answer = ProxyResponse.seeOther(address)
      answer.fields.append(("Set-Cookie", setCookie(browser)))
      return answer
    } catch {
      record(error, route)
      throw SignInPageFailure(error).retrying(form)
    }
  }

  /// The cookie outlives its sign-in by ten minutes, in which a page can explain that it was too late.
  func setCookie(_ browser: String) -> String {
    origin.cookie.field(browser, lifetime: surroundings.lifetime + 600)
  }

  func record(_ error: SignInError, _ route: SignInRoute) {
    surroundings.log.warning(
      "sign-in failed",
      [
        "route": .string(route.name), "reason": .string(error.message()),
        "next": .string(
          error.nextStep(commands, route.name, link: origin.text + SignInForm(route: route.name).link)),
      ])
  }
}

extension SignInError {
  /// The next step: the person's link to begin again, or the operator's command that finds the cause.
  func nextStep(_ commands: OperatorCommands, _ route: String, link: String) -> String {
    switch self {
    case .declined, .answer, .codeExpired, .cancelled, .timedOut: Cure.pageAgain.words([.link: link])
    case .otherAccount, .notConfirmed: Cure.pageAccount.words([.link: link])
    case .store: commands.liveCheck()
    case .provider, .refused, .unsupported, .idToken, .withoutAccount, .listener, .crypto:
      commands.liveCheck(route: route)
    }
  }
}
