// Owns `login`: one sign-in, from the configuration to the cache's file, and what is said on the way. How a person signs in is
// Identity's.

import Configuration
import HTTPClient
import Identity
import Network
import Tokens

/// Has somebody sign in.
struct LoginCommand {
  let options: LoginOptions
  let environment: [String: String]
  /// Makes the ways to the providers of a configuration's applications.
  var providers: @Sendable (Settings) throws(ConfigurationError) -> (ApplicationSettings) -> Fetch = {
    settings throws(ConfigurationError) in try TokenCommand.network(settings)
  }
  var open = openCommandCache
  /// The wall clock.
  var now: @Sendable () -> UnixTime = { UnixTime(WallClock.now.seconds) }
  /// Waits for seconds between two questions about a device code.
  var sleep: @Sendable (Int64) async -> Void = TokenBroker.sleep
  /// What the person is told while the command runs.
  var tell: @Sendable (String) -> Void = { complain($0) }
  /// Whether the person keeps a sign-in, told in a sentence who it was; nil where there is no terminal to ask at.
  var ask: (@Sendable (String) async -> Bool)? = TerminalQuestion.isPossible ? TerminalQuestion.isAffirmed : nil

  /// Signs in; an interrupt ends that in good order.
  func perform() async -> ExitStatus {
    ProcessSignal.ignoreBrokenPipes()
    let work = Task { await self.answer() }
    let handlers = [ProcessSignal.Name.interrupt, .terminate].map { name in ProcessSignal(name) { work.cancel() } }
    let answer = await work.value
    withExtendedLifetime(handlers) {}
    return answer.perform()
  }

  /// Signs in.
  func answer() async -> CommandAnswer {
    let settings: Settings
    let fetch: (ApplicationSettings) -> Fetch
    do throws(ConfigurationError) {
      settings = try Settings.load(file: options.configuration, environment: environment)
      try checkCache(of: settings)
      fetch = try providers(settings)
    } catch {
      return CommandAnswer(text: "\(error)\n", status: .usage)
    }
    let plan: LoginPlan
    do throws(LoginPlan.Problem) {
      plan = try LoginPlan(options, routes: settings.routes, applications: settings.applications.map(\.name))
    } catch {
      return .usage("\(options.configuration): \(error.message)")
    }
    guard let application = settings.application(named: plan.application) else {
      preconditionFailure("the plan's application is one of the settings'")
    }
    guard let path = settings.cache.place else {
      return .usage(
        "\(options.configuration) keeps tokens in memory, which ends with this command; set cache: {file: PATH}")
    }
    var request = SignInRequest(
      application: Application(application, fetch: fetch(application)), scopes: plan.scopes,
      extraScopes: plan.extraScopes)
    request.claims = options.claims
    let store = await open(settings.cache)
    if let reason = await unwritable(store) {
      return .failure("the cache cannot be written, so nobody is sent to sign in: \(reason.description(path: path))")
    }
    let people = await SignedInAccounts(request.application, store: store).accounts().map(\.account)
    let expectation = LoginExpectation(
      named: plan.account, hint: options.hint, prompt: options.prompt, people: people)
    request.expectedAccount = expectation.account
    request.loginHint = expectation.hint
    request.prompt = expectation.prompt
    if expectation.isOpen { request.confirmation = confirmation(plan, people) }
    let remembered = await RememberedNeed(options.target, plan, request.application, settings.cache, store, now: now)
    if let remembered {
      remembered.add(to: &request)
      tell(remembered.words)
    }
    do throws(SignInError) {
      let result = try await signIn(request, plan, store)
      await remembered?.isMet()
      return CommandAnswer(
        text: LoginReport(
          result: result, plan: plan, authority: request.application.authority, path: path, people: people
        ).text, status: .done)
    } catch {
      return .failure(
        "nobody is signed in to '\(plan.application)': \(error.message(cachePath: path))",
        error.isInteractionRequired ? .interactionRequired : .failed,
        cure: error.cure(
          application, configuration: options.configuration, way: options.way, redirect: redirect(request.application)))
    }
  }

  private func signIn(
    _ request: SignInRequest, _ plan: LoginPlan, _ store: any TokenCacheStore
  ) async throws(SignInError) -> AuthenticationResult {
    switch options.way {
    case .deviceCode:
      let progress = WaitingLine(now: now, tell: tell)
      defer { progress.end() }
      var request = request
      if case .program(let keeps) = request.confirmation {
        request.confirmation = .program { account in
          progress.end()
          return await keeps(account)
        }
      }
      return try await DeviceCodeSignIn(request, store: store, now: now, sleep: sleep).acquireToken { codes in
        tell(Self.instructions(codes))
        progress.begin(until: now() + codes.expiresIn)
      }
    case .browser:
      let loop: EventLoop
      do throws(SystemError) {
        loop = try EventLoop()
      } catch {
        throw .listener(error, port: nil)
      }
      let (tell, name, browser) = (tell, plan.application, Browser(environment: environment, isRoot: isRoot()))
      // The address stands in the browser's arguments then, where every user of the machine can read it.
      let users = browser == nil ? nil : browserUsers(environment)
      return try await InteractiveSignIn(
        request, store: store, loop: loop, redirect: redirect(request.application), timeout: .seconds(options.timeout),
        users: users, now: now
      ).acquireToken { address in
        let isOpen = browser?.open(address) ?? false
        tell(
          (isOpen
            ? "A browser is opened for the sign-in to '\(name)'. If it does not show the page, go there on this machine:"
            : "To sign in to '\(name)', go there with a browser on this machine (--device-code: on any):")
            + "\n\n  \(address)\n\nThe address works once.\n")
      }
    }
  }

  /// Why nothing could be kept; nil where it could.
  private func unwritable(_ store: any TokenCacheStore) async -> CacheStoreError? {
    if let reason = store.blindness { return reason }
    do throws(CacheStoreError) {
      try await store.tryLock()
      return nil
    } catch {
      return error
    }
  }

  /// How the person is asked whether it was them: at the terminal, or by the page where there is none.
  private func confirmation(_ plan: LoginPlan, _ people: [CachedAccount]) -> SignInConfirmation {
    guard let ask else { return .page }
    let name = plan.application
    return .program { account in
      let others = people.filter { $0.homeAccountID != account.homeAccountID }.map { $0.name.printable(limit: 100) }
      let note =
        others.isEmpty
        ? ""
        : "\(others.joined(separator: ", ")) \(others.count == 1 ? "is" : "are") signed in already: routes without 'account' are refused "
          + "until they name one.\n"
      return await ask(
        "\(account.name.printable(limit: 300)) signed in to '\(name)'.\n\(note)Keep this sign-in? [y/N] ")
    }
  }

  private func redirect(_ application: Application) -> LoopbackRedirect {
    switch options.redirect {
    case .uri(let redirect): redirect
    case .port(let port): LoopbackRedirect(application.callback, port: port)
    case nil: LoopbackRedirect(application.callback)
    }
  }

  private static func instructions(_ codes: DeviceAuthorizationReply) -> String {
    let shortcut = codes.completeURI.map { "\nOr go to \($0) and confirm the code.\n" } ?? ""
    return """
      To sign in, go to this address with any browser, and type in the code:

        address: \(codes.verificationURI)
        code:    \(codes.userCode)
      \(shortcut)

      """
  }
}

extension LoginOptions {
  /// What the provider is asked to show; device codes have no such choice.
  fileprivate var prompt: Prompt? {
    if case .browser(let prompt, _) = way { prompt } else { nil }
  }

  /// Whom the command line names.
  fileprivate var hint: String? {
    if case .browser(_, let hint) = way { hint } else { nil }
  }
}
