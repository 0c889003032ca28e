// The report of a successful sign-in: the person, the applications, and differences from the configuration.

import Bytes
import Configuration
import Identity
import Telemetry
import Tokens

/// A sign-in and what it was for.
struct LoginReport {
  let result: AuthenticationResult
  let plan: LoginPlan
  let application: ShownName
  let path: String
  /// The accounts before the sign-in.
  let people: [CachedAccount]
  /// True if there is a refresh token.
  let canRefresh: Bool
  let now: UnixTime

  /// A few lines, never a token.
  var text: String {
    var lines = ["\(result.account?.name ?? "(no name)") is signed in to \(application.both)"]
    if let account = result.account { lines.append("id:      \(account.homeAccountID)") }
    if let tenant = result.tenantID { lines.append("tenant:  \(tenant)") }
    lines.append("granted: \(result.scopes.isEmpty ? "(nothing stated)" : result.scopes.description)")
    let missing = plan.token.scopes.words.filter { word in !(isCovered(word)) }
    if !missing.isEmpty { lines.append("missing: \(missing.joined(separator: " "))") }
    if !plan.routes.isEmpty {
      let names = plan.routes.map { ShownName($0.name, $0.displayName).both }.joined(separator: ", ")
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

  /// True if a scope was granted. Providers answer with full names for short ones and with the API's own for
  /// `.default`.
  private func isCovered(_ word: String) -> Bool {
    if word.hasSuffix("/.default") { return true }
    let name = word.lowercased()
    return result.scopes.words.contains { $0.lowercased() == name || $0.lowercased().hasSuffix("/" + name) }
  }
}

extension SignInError {
  /// The exit status. Another person than the expected one is a mistake, not a need for a person.
  var exitStatus: ExitStatus {
    if case .otherAccount = self { return .failed }
    return isInteractionRequired ? .interactionRequired : .failed
  }

  /// The cure; empty if there is none.
  /// - Parameters:
  ///   - application: the one that was signed in to, as `configuration` has it.
  ///   - redirect: the place for the browser's answer.
  func cure(
    _ application: ApplicationSettings, configuration: String, way: LoginCommand.Way, redirect: LoopbackRedirect
  ) -> String {
    var parts: [Cure.Part: String] = [
      .application: "application '\(application.name)'", .configuration: configuration,
      .authority: "\(application.authority.value)", .redirectURI: "\(redirect)",
    ]
    if application.callback == .shared { parts[.sharedRedirectURI] = "" }
    return Cure(self, isSilent: way.isSilent)?.words(parts) ?? ""
  }
}

extension LoginCommand.Way {
  /// True if the person is to see nothing.
  fileprivate var isSilent: Bool {
    if case .browser(prompt: .some(.none), _) = self { true } else { false }
  }
}
