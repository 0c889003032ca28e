// `accounts`: who is signed in, for people and for programs. No token passes through here.

import Bytes
import Configuration
import Identity
import Tokens

/// Lists the people of every application.
struct AccountsCommand {
  let configuration: String
  let form: OutputForm

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let (settings, cache) = try context.settingsAndCache(configuration)
    let store = try await context.openReadable(cache, context.network())
    var rows: [(ApplicationSettings, [SignedInAccount])] = []
    for application in settings.applications {
      rows.append((application, await SignedInAccounts(Application(offline: application), store: store).accounts()))
    }
    let now = context.now()
    return CommandAnswer(text: form == .json ? json(rows, at: now) : text(rows, at: now), status: .done)
  }

  private func text(_ rows: [(ApplicationSettings, [SignedInAccount])], at now: UnixTime) -> String {
    var lines: [String] = []
    for (application, accounts) in rows {
      lines.append("application \(application.name), \(application.authority.value)")
      if accounts.isEmpty { lines.append("  no account is signed in") }
      for account in accounts { lines += text(account, at: now) }
    }
    return lines.isEmpty ? "no applications\n" : lines.map { $0.printable(limit: 4000) + "\n" }.joined()
  }

  private func text(_ account: SignedInAccount, at now: UnixTime) -> [String] {
    var lines = ["  \(account.account.name)", "    id:      \(account.account.homeAccountID)"]
    if !account.account.tenants.isEmpty {
      lines.append("    tenants: \(account.account.tenants.sorted().joined(separator: ", "))")
    }
    lines.append(
      "    renewal: "
        + (account.canRefresh ? "tokens are renewed silently" : "this application has no refresh token: sign in"))
    for token in account.tokens {
      let left = token.expiresAt - now
      let tenant = token.tenant.map { " (\($0))" } ?? ""
      lines.append(
        "    token:   \(token.scopes.joined(separator: " "))\(tenant), "
          + (left > 0 ? "good for \(words(seconds: left))" : "expired"))
    }
    return lines
  }

  private func json(_ rows: [(ApplicationSettings, [SignedInAccount])], at now: UnixTime) -> String {
    let applications = rows.map { application, accounts in
      JSONValue.object([
        "application": .string(application.name), "authority": .string(application.authority.value.description),
        "accounts": .array(accounts.map { json($0, at: now) }),
      ])
    }
    return JSONValue.object(["applications": .array(applications)]).canonicalText() + "\n"
  }

  private func json(_ account: SignedInAccount, at now: UnixTime) -> JSONValue {
    .object([
      "username": .string(account.account.username), "name": .string(account.account.name),
      "home_account_id": .string(account.account.homeAccountID),
      "local_account_ids": .array(account.account.localAccountIDs.sorted().map(JSONValue.string)),
      "environment": .string(account.account.environment),
      "tenants": .array(account.account.tenants.sorted().map(JSONValue.string)),
      "can_refresh": .bool(account.canRefresh),
      "tokens": .array(
        account.tokens.map { token in
          .object([
            "tenant": token.tenant.map(JSONValue.string) ?? .null, "scopes": .array(token.scopes.map(JSONValue.string)),
            "expires_on": .integer(token.expiresAt.seconds), "expires_in": .integer(max(token.expiresAt - now, 0)),
            "usable": .bool(token.isUsable(at: now)),
          ])
        }),
    ])
  }
}
