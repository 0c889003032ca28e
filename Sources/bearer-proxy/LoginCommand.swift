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
  /// Opens a browser at an address; false where there is none.
  var browse: (@Sendable (String) -> Bool)?

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
    let remembered = await RememberedNeed(options.target, plan, request.application, settings.cache, store, now: now)
    if let remembered {
      remembered.add(to: &request)
      tell(remembered.words)
    }
    do throws(SignInError) {
      let result = try await signIn(request, plan, store)
      await remembered?.isMet()
      return CommandAnswer(
        text: LoginReport(result: result, plan: plan, authority: request.application.authority, path: path).text,
        status: .done)
    } catch {
      return .failure(
        "nobody is signed in to '\(plan.application)': \(error.message(cachePath: path))",
        error.isInteractionRequired ? .interactionRequired : .failed,
        cure: error.cure(application, configuration: options.configuration, way: options.way))
    }
  }

  private func signIn(
    _ request: SignInRequest, _ plan: LoginPlan, _ store: any TokenCacheStore
  ) async throws(SignInError) -> AuthenticationResult {
    switch options.way {
    case .deviceCode:
      let progress = WaitingLine(now: now, tell: tell)
      defer { progress.end() }
      return try await DeviceCodeSignIn(request, store: store, now: now, sleep: sleep).acquireToken { codes in
        tell(Self.instructions(codes))
        progress.begin(until: now() + codes.expiresIn)
      }
    case .browser(let prompt, let hint):
      var request = request
      request.prompt = prompt
      // An id means nothing to a sign-in page.
      request.loginHint = hint ?? plan.account.flatMap { $0.contains("@") ? $0 : nil }
      let loop: EventLoop
      do throws(SystemError) {
        loop = try EventLoop()
      } catch {
        throw .listener(error)
      }
      let (tell, name, browse) = (tell, plan.application, browse ?? systemBrowser)
      return try await InteractiveSignIn(
        request, store: store, loop: loop, timeout: .seconds(options.timeout), now: now
      ).acquireToken { address in
        let isOpen = browse(address)
        tell(
          (isOpen
            ? "A browser is opened for the sign-in to '\(name)'. If it does not show the page, go there on this machine:"
            : "To sign in to '\(name)', go there with a browser on this machine (--device-code: on any):")
            + "\n\n  \(address)\n\n")
      }
    }
  }

  private var systemBrowser: @Sendable (String) -> Bool {
    let browser = Browser(environment: environment, isRoot: isRoot())
    return { browser?.open($0) ?? false }
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
