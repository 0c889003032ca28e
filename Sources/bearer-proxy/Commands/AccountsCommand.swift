// `accounts`: who is signed in, for people and for programs. No token passes through here.

import Bytes
import Configuration
import Identity
import Telemetry
import Tokens

extension AccountsCommand {
  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let (settings, cache) = try context.settingsAndCache(configuration)
    var applications = settings.applications
    if let name = application {
      applications.removeAll { $0.name != name }
      if applications.isEmpty {
        throw .unknown("application", name, among: settings.applications.map(\.name), in: configuration)
      }
    }
    let store = try await context.openReadable(cache, context.network())
    var list = AccountsList(form: form, now: context.now())
    for application in applications {
      list.begin(application)
      let people = SignedInAccounts(Application(offline: application), store: store)
      if let name = account {
        list.add(await people.accounts(called: name))
        continue
      }
      do throws(CacheStoreError) {
        var isFirst = true
        try await people.pages { page in
          // The last page is part of the answer.
          if !isFirst, !context.writePage(list.take()) { return false }
          isFirst = false
          list.add(page)
          return true
        }
      } catch {
        throw .failed(
          "the list of accounts is incomplete: \(error.description(path: cache.place ?? "cache"))",
          advice: error.cure.words())
      }
    }
    return CommandAnswer(text: list.end(), status: .done)
  }
}

/// The list under construction.
struct AccountsList {
  let form: OutputForm
  let now: UnixTime
  private var output = ""
  private var application: ApplicationSettings?
  private var isFirstApplication = true
  private var isFirstPerson = true

  init(form: OutputForm, now: UnixTime) {
    (self.form, self.now) = (form, now)
    if form == .json { output = #"{"applications":["# }
  }

  /// The finished text since the last call.
  mutating func take() -> String {
    defer { output = "" }
    return output
  }

  mutating func begin(_ next: ApplicationSettings) {
    endApplication()
    application = next
    isFirstPerson = true
    if form == .json {
      output += (isFirstApplication ? "" : ",") + #"{"accounts":["#
    } else {
      line("application \(next.name), \(next.authority.value)")
    }
    isFirstApplication = false
  }

  mutating func add(_ people: [SignedInAccount]) {
    for person in people {
      if form == .json {
        output += (isFirstPerson ? "" : ",") + json(person, at: now).canonicalText()
      } else {
        for words in text(person, at: now) { line(words) }
      }
      isFirstPerson = false
    }
  }

  mutating func end() -> String {
    endApplication()
    if form == .json { output += "]}\n" } else if isFirstApplication { output = "no applications\n" }
    return take()
  }

  private mutating func endApplication() {
    guard let application else { return }
    if form == .json {
      let authority = JSONValue.string(application.authority.value.description).canonicalText()
      output += #"],"application":\#(JSONValue.string(application.name).canonicalText()),"authority":\#(authority)}"#
    } else if isFirstPerson {
      line("  no account is signed in")
    }
  }

  private mutating func line(_ text: String) { output += text.printable(limit: 4000) + "\n" }

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

  private func json(_ account: SignedInAccount, at now: UnixTime) -> JSONValue {
    JSONValue([
      "username": account.account.username, "name": account.account.name,
      "home_account_id": account.account.homeAccountID,
      "local_account_ids": account.account.localAccountIDs.sorted(), "environment": account.account.environment,
      "tenants": account.account.tenants.sorted(), "can_refresh": account.canRefresh,
      "tokens": account.tokens.map { token in
        JSONValue([
          "tenant": token.tenant.map(JSONValue.string) ?? .null, "scopes": token.scopes, "expires_on": token.expiresAt,
          "expires_in": max(token.expiresAt - now, 0), "usable": token.isUsable(at: now),
        ])
      },
    ])
  }
}
