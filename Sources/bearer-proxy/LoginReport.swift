// Owns what is said of a sign-in that succeeded: who, for what, and what of it does not fit the configuration.

import Identity
import Tokens

/// A sign-in and what it was for.
struct LoginReport {
  let result: AuthenticationResult
  let plan: LoginPlan
  let authority: Authority
  let path: String
  /// Who was signed in before.
  let people: [CachedAccount]

  /// A few lines, never a token.
  var text: String {
    var lines = ["\(result.account?.name ?? "(no name)") is signed in to \(plan.application)"]
    if let account = result.account { lines.append("id:      \(account.homeAccountID)") }
    if let tenant = result.tenantID { lines.append("tenant:  \(tenant)") }
    lines.append("granted: \(result.scopes.isEmpty ? "(nothing stated)" : result.scopes.description)")
    let missing = plan.scopes.words.filter { word in !(isCovered(word)) }
    if !missing.isEmpty { lines.append("missing: \(missing.joined(separator: " "))") }
    lines.append("cache:   \(path)")
    let others = people.filter { $0.homeAccountID != result.account?.homeAccountID }
    if plan.account == nil, !others.isEmpty {
      lines.append(
        "note:    \(others.map(\.name).joined(separator: ", ")) signed in before: routes without 'account' are refused until "
          + "they name one")
    }
    return lines.map { $0.printable(limit: 4000) + "\n" }.joined()
  }

  /// Whether a scope was granted. Providers answer with full names for short ones and with the API's own for `.default`.
  private func isCovered(_ word: String) -> Bool {
    if word.hasSuffix("/.default") { return true }
    let name = word.lowercased()
    return result.scopes.words.contains { $0.lowercased() == name || $0.lowercased().hasSuffix("/" + name) }
  }
}
