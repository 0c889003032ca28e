// What is said of a sign-in that succeeded: who, for what, and what of it does not fit the configuration.

import Bytes
import Configuration
import Identity
import Tokens

/// A sign-in and what it was for.
struct LoginReport {
  let result: AuthenticationResult
  let plan: LoginPlan
  let application: ShownName
  let path: String
  /// Who was signed in before.
  let people: [CachedAccount]
  /// Whether there is a refresh token.
  let canRefresh: Bool
  let now: UnixTime

  /// A few lines, never a token.
  var text: String {
    var lines = ["\(result.account?.name ?? "(no name)") is signed in to \(application.both)"]
    if let account = result.account { lines.append("id:      \(account.homeAccountID)") }
    if let tenant = result.tenantID { lines.append("tenant:  \(tenant)") }
    lines.append("granted: \(result.scopes.isEmpty ? "(nothing stated)" : result.scopes.description)")
    let missing = plan.scopes.words.filter { word in !(isCovered(word)) }
    if !missing.isEmpty { lines.append("missing: \(missing.joined(separator: " "))") }
    if !plan.routes.isEmpty {
      let names = plan.routes.map(\.both).joined(separator: ", ")
      lines.append("\(plan.routes.count == 1 ? "route:  " : "routes: ") \(names)")
    }
    let end = "good for \(words(seconds: result.expiresOn - now))"
    lines.append("token:   \(end), \(canRefresh ? "then refreshed silently" : "then a person has to sign in again")")
    lines.append("cache:   \(path)")
    let others = people.filter { $0.homeAccountID != result.account?.homeAccountID }
    if plan.account == nil, !others.isEmpty {
      lines.append(
        "note:    \(others.map(\.name).joined(separator: ", ")) signed in before: routes without 'account' are refused "
          + "until they name one")
    }
    return lines.map { $0.printable(limit: 4000) + "\n" }.joined()
  }

  /// Whether a scope was granted. Providers answer with full names for short ones and with the API's own for
  /// `.default`.
  private func isCovered(_ word: String) -> Bool {
    if word.hasSuffix("/.default") { return true }
    let name = word.lowercased()
    return result.scopes.words.contains { $0.lowercased() == name || $0.lowercased().hasSuffix("/" + name) }
  }
}

extension SignInError {
  /// How the command ends. Another person than the expected one is a mistake, not a need for a person.
  var exitStatus: ExitStatus {
    if case .otherAccount = self { return .failed }
    return isInteractionRequired ? .interactionRequired : .failed
  }

  /// What to do, with its line's end; nothing where the sentence itself says it, or no user of this command can do
  /// anything.
  /// - Parameter application: the one that was signed in to, as `configuration` has it.
  /// - Parameter redirect: where the browser was to bring the answer.
  func cure(
    _ application: ApplicationSettings, configuration: String, way: LoginOptions.Way, redirect: LoopbackRedirect
  ) -> String {
    let place = "application '\(application.name)' in \(configuration)"
    let words: String
    switch self {
    case .provider(.providerUnavailable(.answered, _)):
      words = "The provider has trouble of its own: try again later."
    case .provider(.providerUnavailable):
      words = "Does this machine reach \(application.authority.value)? Then try again."
    case .provider(.rejected): words = "Check client_id and credential of \(place)."
    case .provider(.unusableMetadata): words = "Check the authority of \(place)."
    case .unsupported(.browser): words = "Try --device-code."
    case .unsupported(.deviceCode): words = "Sign in without --device-code, on a machine with a browser."
    case .unsupported(.registration):
      words = "Create the account at the provider first, then sign in without --prompt create."
    case .unsupported(.domainHint): words = "Sign in without --domain-hint."
    case .timedOut:
      words =
        "If the browser showed an error, look there: client_id of \(place) needs the redirect URI \(redirect) at the "
        + "provider"
        + (application.callback == .shared ? "" : ", or 'redirect_uri: shared' where it knows http://localhost") + ". "
        + "For a provider that compares ports choose one with --port, or the whole URI with --redirect-uri. "
        + "On a machine without a browser: --device-code."
    case .codeExpired: words = "Run the command again for a new code."
    case .answer: words = "Run the command again, and finish the sign-in in the window that it opens."
    case .refused where way.isSilent: words = "Nothing may be shown with --prompt none: sign in without it."
    case .otherAccount: words = "Sign in with the account that was meant; --prompt select_account offers a choice."
    case .notConfirmed: words = "If you did not sign in as that person, another user of this machine may have tried."
    case .listener(_, port: .some): words = "Another program may use that port."
    case .refused where isInteractionRequired: words = "Run the command again; codes are good once, and for minutes."
    case .provider(.interactionRequired), .provider(.cacheUnavailable), .provider(.assertionRefused), .refused,
      .declined, .cancelled, .idToken,
      .withoutAccount, .listener,
      .crypto,
      .store:
      return ""
    }
    return words + "\n"
  }
}

extension LoginOptions.Way {
  /// Whether the person is to see nothing.
  fileprivate var isSilent: Bool {
    if case .browser(prompt: .some(.none), _) = self { true } else { false }
  }
}
