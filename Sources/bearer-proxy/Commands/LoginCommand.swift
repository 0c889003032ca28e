// `login`: one sign-in, from the configuration to the cache's file, and its output. Identity has the ways to sign in.

import Bytes
import Configuration
import HTTPClient
import Identity
import Platform
import Telemetry
import Tokens

extension LoginCommand {
  /// The same; an interrupt ends it in good order.
  func answerUntilInterrupted(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    ProcessSignal.ignoreBrokenPipes()
    let work = Task { () async -> Result<CommandAnswer, CommandError> in
      do throws(CommandError) {
        return .success(try await self.answer(in: context))
      } catch {
        return .failure(error)
      }
    }
    let handlers = [ProcessSignal.Name.interrupt, .terminate].map { name in ProcessSignal(name) { work.cancel() } }
    let answer = await work.value
    withExtendedLifetime(handlers) {}
    return try answer.get()
  }

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let loaded = try context.configuration(configuration)
    let settings = loaded.settings
    let plan = try LoginPlan(self, routes: settings.routes, applications: settings.applications.map(\.name))
    guard let application = settings.application(named: plan.token.application) else {
      preconditionFailure("the plan's application is one of the settings'")
    }
    guard let path = loaded.cache.place else {
      throw .usage(
        "\(configuration) keeps tokens in memory, which ends with this command; set cache: {file: PATH}")
    }
    let network = try context.network()
    let providers = context.providers(loaded, network)
    var request = SignInRequest(
      application: Application(
        application, credential: loaded.certificates.credential(of: application, fetch: providers),
        fetch: providers(application)), scopes: plan.token.scopes, extraScopes: plan.extraScopes)
    if let authority = plan.token.authority { request.application.move(to: authority) }
    request.terms.parameters = plan.token.parameters
    request.terms.claims = claims
    let shown = ShownName(application.name, application.displayName)
    request.displayName = shown.shown
    request.purpose = plan.routes.isEmpty ? nil : plan.routes.map { $0.displayName ?? $0.name }.joined(separator: ", ")
    let store = await context.open(loaded.cache, network)
    if let reason = await unwritable(store) {
      throw .failed(
        "the cache cannot be written, so the sign-in does not begin: \(reason.description(path: path))",
        advice: reason.cure.words())
    }
    let signedIn = SignedInAccounts(request.application, store: store)
    // If the cache is too large to hold, the named one is among some.
    if let name = plan.account { _ = await signedIn.accounts(called: name) }
    let people = await signedIn.accounts().map(\.account)
    let expectation = LoginExpectation(named: plan.account, hint: hint, prompt: prompt, people: people)
    request.expectedAccount = expectation.account
    request.terms.loginHint = expectation.hint
    request.terms.prompt = expectation.prompt
    request.terms.domainHint = domainHint
    if expectation.isOpen { request.confirmation = confirmation(shown, people, at: context.terminal) }
    let remembered = await RememberedRequirement(target, plan, request.application, store, now: context.now)
    if let remembered {
      remembered.add(to: &request.terms)
      context.writeProgress(remembered.words)
    }
    do throws(SignInError) {
      let result = try await signIn(request, shown, store, network.loop, context)
      await remembered?.isMet()
      return CommandAnswer(
        text: LoginReport(
          result: result, plan: plan, application: shown, path: path, people: people,
          canRefresh: await canRefresh(result, request.application, store), now: context.now()
        ).text, status: .done)
    } catch {
      throw .failed(
        "no person is signed in to '\(plan.token.application)': \(error.message(cachePath: path))",
        status: error.exitStatus,
        advice: error.cure(
          application, configuration: configuration, way: way, redirect: loopback(request.application)))
    }
  }

  private func signIn(
    _ request: SignInRequest, _ application: ShownName, _ store: CacheStore, _ loop: EventLoop,
    _ context: CommandContext
  ) async throws(SignInError) -> AuthenticationResult {
    let writeProgress = context.writeProgress
    switch way {
    case .deviceCode:
      let countdown = CountdownLine(now: context.now, write: writeProgress)
      defer { countdown.end() }
      var request = request
      if case .program(let keeps) = request.confirmation {
        request.confirmation = .program { account in
          countdown.end()
          return await keeps(account)
        }
      }
      return try await DeviceCodeSignIn(request, store: store, now: context.now, sleep: context.sleep).acquireToken {
        codes in
        writeProgress(Self.instructions(codes))
        countdown.begin(until: context.now() + codes.expiresIn)
      }
    case .browser:
      let (name, browser) = (application.both, Browser(environment: context.environment, isRoot: Machine.isRoot))
      // The address is in the browser's arguments then, and every user of the machine can read it.
      let users = browser == nil ? nil : browserUsers(context.environment)
      return try await InteractiveSignIn(
        request, store: store, loop: loop, redirect: loopback(request.application), timeout: .seconds(timeout),
        users: users, now: context.now
      ).acquireToken { address in
        let isOpen = browser?.open(address) ?? false
        writeProgress(
          (isOpen
            ? "A browser is opened for the sign-in to '\(name)'. If it does not show the page, go there on this "
              + "machine:"
            : "To sign in to '\(name)', go there with a browser on this machine (--device-code: on any):")
            + "\n\n  \(address)\n\nThe address works once.\n")
      }
    }
  }

  private func canRefresh(
    _ result: AuthenticationResult, _ application: Application, _ store: CacheStore
  ) async -> Bool {
    guard application.hasOfflineAccess else { return false }
    guard let home = result.account?.homeAccountID else { return false }
    return await SignedInAccounts(application, store: store).accounts(called: home).contains { known in
      known.canRefresh && known.account.homeAccountID == home
    }
  }

  /// The reason why the cache could not be written; nil if it could.
  private func unwritable(_ store: CacheStore) async -> CacheStoreError? {
    if let reason = store.blindness { return reason }
    do throws(CacheStoreError) {
      try await store.tryLock()
      return nil
    } catch {
      return error
    }
  }

  /// The person's confirmation of the sign-in: at the terminal, or by the page if there is none.
  private func confirmation(
    _ application: ShownName, _ people: [CachedAccount], at terminal: Terminal
  ) -> SignInConfirmation {
    guard terminal.isInteractive else { return .page }
    let name = application.both
    return .program { account in
      let others = people.filter { $0.homeAccountID != account.homeAccountID }.map { $0.name.printable(limit: 100) }
      let note =
        others.isEmpty
        ? ""
        : "\(others.joined(separator: ", ")) \(others.count == 1 ? "is" : "are") signed in already: "
          + "routes without 'account' are refused until they name one.\n"
      return await terminal.confirm(
        "\(account.name.printable(limit: 300)) signed in to '\(name)'.\n\(note)Keep this sign-in? [y/N] ")
    }
  }

  private func loopback(_ application: Application) -> LoopbackRedirect {
    switch redirect {
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

extension LoginCommand {
  /// The prompt that the provider is asked for; device codes have no such choice.
  fileprivate var prompt: Prompt? { if case .browser(let prompt, _) = way { prompt } else { nil } }

  /// The person that the command line names.
  fileprivate var hint: String? { if case .browser(_, let hint) = way { hint } else { nil } }
}
