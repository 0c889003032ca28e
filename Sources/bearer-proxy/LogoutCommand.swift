// Owns `logout`: one person, out of every application of the configuration.

import Configuration
import Identity
import Network
import Tokens

/// Signs somebody out.
struct LogoutCommand {
  let configuration: String
  /// Who, as written on the command line.
  let name: String
  let environment: [String: String]
  var open = openCommandCache

  func perform() async -> ExitStatus {
    await answer().perform()
  }

  func answer() async -> CommandAnswer {
    let settings: Settings
    do throws(ConfigurationError) {
      settings = try Settings.load(file: configuration, environment: environment)
      try checkCache(of: settings)
    } catch {
      return CommandAnswer(text: "\(error)\n", status: .usage)
    }
    let store = await open(settings.cache)
    if store.blindness != nil { return .unknown }
    let applications = settings.applications.map { Application(offline: $0) }
    var named: [CachedAccount] = []
    for application in applications {
      for known in await SignedInAccounts(application, store: store).accounts() where known.account.isCalled(name) {
        let isNew = named.allSatisfy { $0.homeAccountID != known.account.homeAccountID }
        if isNew { named.append(known.account) }
      }
    }
    guard let account = named.first else {
      return .failure("nobody called '\(name)' is signed in; 'bearer-proxy accounts' lists who is")
    }
    guard named.count == 1 else {
      let ids = named.map(\.homeAccountID).sorted().joined(separator: ", ")
      return .failure("'\(name)' is several accounts; use one of their ids: \(ids)")
    }
    return await remove(account, from: applications, store, path: settings.cache.place)
  }

  /// Every application of the account's cloud, or issuer, is told, for each has refresh tokens of its own.
  private func remove(
    _ account: CachedAccount, from applications: [Application], _ store: any TokenCacheStore, path: String?
  ) async -> CommandAnswer {
    let concerned = applications.filter { $0.authority.holds(account) }
    var holders: [String] = []
    for application in concerned {
      let held = await SignedInAccounts(application, store: store).accounts()
        .first { $0.account.homeAccountID == account.homeAccountID }
      if let held, held.canRefresh || !held.tokens.isEmpty { holders.append(application.name) }
      do throws(CacheStoreError) {
        try await SignedInAccounts(application, store: store).remove(account: account)
      } catch {
        return .failure("the cache cannot be written: \(error.description(path: path ?? "cache"))")
      }
    }
    // Another program's tokens go too; those that the configuration does not know are not named.
    let names = holders.isEmpty ? concerned.map(\.name) : holders
    return CommandAnswer(
      text: "\(account.name.printable(limit: 300)) is signed out of \(names.joined(separator: ", "))\n", status: .done)
  }
}
