// `logout`: one person, out of every application of the configuration at one identity provider.

import Bytes
import Configuration
import Identity
import Proxy
import Tokens

extension LogoutCommand {
  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let network = try context.network()
    var applications: [Application]
    let cache: CacheLocation
    if revokes {
      let loaded = try context.configuration(configuration)
      let provider = context.providers(loaded, network)
      applications = loaded.settings.applications.filter { $0.managedIdentity == nil }.map {
        Application($0, credential: loaded.certificates.credential(of: $0, fetch: provider), fetch: provider($0))
      }
      cache = loaded.cache
    } else {
      let settings: Settings
      (settings, cache) = try context.settingsAndCache(configuration)
      applications = settings.applications.map { Application(offline: $0) }
    }
    let store = try await context.openReadable(cache, network)
    if let name = application {
      guard let chosen = applications.first(where: { $0.name == name }) else {
        throw .unknown("application", name, among: applications.map(\.name), in: configuration)
      }
      applications.removeAll { $0.authority.authorizationServer != chosen.authority.authorizationServer }
    }
    var matches: [LogoutMatch] = []
    for application in applications {
      for known in await SignedInAccounts(application, store: store).accounts(called: account) {
        LogoutMatch.add(known, of: application, to: &matches)
      }
    }
    if matches.isEmpty, cache.place == nil {
      throw .usage(
        "\(configuration) keeps tokens in the memory of the running proxy, where no command can sign a person "
          + "out; its sign-in pages can, or a restart")
    }
    if matches.isEmpty {
      throw .failed(
        "no account '\(account)' is signed in; 'bearer-proxy accounts -c "
          + "\(configuration.shellWord)' lists who is")
    }
    guard let match = matches.count == 1 ? matches[0] : choice(among: matches, at: context.terminal) else {
      throw .failed(
        "'\(account)' is several people; say which with --application, or by the id:\n"
          + matches.map { "  \($0.words)\n" }.joined())
    }
    return try await remove(match, applications, store, path: cache.place, context)
  }

  /// The one that the person at the terminal means.
  private func choice(among matches: [LogoutMatch], at terminal: Terminal) -> LogoutMatch? {
    guard terminal.isInteractive else { return nil }
    let list = matches.enumerated().map { "  \($0 + 1)  \($1.words)\n" }.joined()
    let question = "'\(account)' is several people:\n\(list)Which one is signed out? "
    let number = terminal.ask(question, false).flatMap { Int($0) }
    guard let number, matches.indices.contains(number - 1) else { return nil }
    return matches[number - 1]
  }

  /// Every application of the provider is told, for each has refresh tokens of its own.
  private func remove(
    _ match: LogoutMatch, _ applications: [Application], _ store: CacheStore, path: String?, _ context: CommandContext
  ) async throws(CommandError) -> CommandAnswer {
    let applications = applications.filter { $0.authority.authorizationServer == match.server }
    if revokes { try await revoke(match, applications, store, context) }
    for application in applications {
      do throws(CacheStoreError) {
        try await SignedInAccounts(application, store: store).remove(account: match.account)
      } catch {
        throw .failed("the cache cannot be written: \(error.description(path: path ?? "cache"))")
      }
    }
    return CommandAnswer(
      text: "\(match.account.name.printable(limit: 300)) is signed out of \(match.applications)"
        + "\(revokes ? ", and the provider has ended the tokens" : "")\n", status: .done)
  }

  /// Before anything is removed: what the cache has lost cannot be ended any more.
  private func revoke(
    _ match: LogoutMatch, _ applications: [Application], _ store: CacheStore, _ context: CommandContext
  ) async throws(CommandError) {
    for application in applications {
      do throws(AcquisitionError) {
        try await SignedInAccounts(application, store: store).revoke(account: match.account, now: context.now)
      } catch {
        throw .failed(
          "the tokens of '\(application.name)' were not revoked, so nothing was removed: \(error.detail)",
          advice: "Without --revoke, the person is signed out here, and the provider's tokens end by themselves.")
      }
    }
  }
}

/// A person of one identity provider whom a name may mean.
private struct LogoutMatch {
  let server: String
  let account: CachedAccount
  /// The applications that know the person, and those of them that hold tokens.
  private var known: [String] = []
  private var holders: [String] = []

  /// Adds what an application knows.
  static func add(_ found: SignedInAccount, of application: Application, to matches: inout [LogoutMatch]) {
    let server = application.authority.authorizationServer
    let holds = found.canRefresh || !found.tokens.isEmpty
    let place = matches.firstIndex {
      $0.server == server && $0.account.homeAccountID == found.account.homeAccountID
    }
    var match = place.map { matches[$0] } ?? LogoutMatch(server: server, account: found.account)
    match.known.append(application.name)
    if holds { match.holders.append(application.name) }
    if let place { matches[place] = match } else { matches.append(match) }
  }

  private init(server: String, account: CachedAccount) {
    self.server = server
    self.account = account
  }

  /// The applications that the person was signed in to. Another program's tokens are removed, but its applications not
  /// named.
  var applications: String { (holders.isEmpty ? known : holders).joined(separator: ", ") }

  var words: String {
    "\(account.name) of \(applications), \(server), id \(account.homeAccountID)".printable(limit: 1000)
  }
}
