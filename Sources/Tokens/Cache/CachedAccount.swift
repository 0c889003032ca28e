// Owns who is signed in, and which of them a name means.

/// A person who is signed in, in one or more tenants.
public struct CachedAccount: Sendable, Hashable {
  /// What stays the same in every tenant.
  public var homeAccountID: String
  /// The host it is filed under.
  public var environment: String
  /// The name to show: the home tenant's where it is known.
  public var username: String
  /// Every name it has in a tenant.
  public var usernames: Set<String>
  /// Its object id in each tenant it is signed in to.
  public var localAccountIDs: Set<String>
  /// The tenants it is signed in to, as filed.
  public var realms: Set<String>

  /// Whether a name of the configuration means this account: a user name in any letter case, or an id.
  public func isCalled(_ name: String) -> Bool {
    homeAccountID == name || localAccountIDs.contains(name)
      || usernames.contains { $0.lowercased() == name.lowercased() }
  }
}

/// Which account a request is for.
public enum AccountChoice: Sendable, Hashable {
  /// This one.
  case chosen(CachedAccount)
  /// Nobody is signed in, or nobody of that name.
  case none
  /// Several are, and none was named, or the name is several people's. The application has to choose, never the library.
  case ambiguous([CachedAccount])

  /// Chooses by name, or the only one where none is named.
  public init(_ accounts: [CachedAccount], named name: String?) {
    let matching = name.map { name in accounts.filter { $0.isCalled(name) } } ?? accounts
    switch matching.count {
    case 0: self = .none
    case 1: self = .chosen(matching[0])
    default: self = .ambiguous(matching)
    }
  }
}

extension CacheDocument {
  /// Everybody who is signed in at hosts, one account for each person, by user name.
  public func accounts(environments: [String]) -> [CachedAccount] {
    let hosts = Set(environments.map { $0.lowercased() })
    var found: [String: CachedAccount] = [:]
    for (_, entry) in self[.account].sorted(by: { $0.key < $1.key }) {
      let environment = entry["environment"]?.lowercased() ?? ""
      guard let home = entry["home_account_id"], !home.isEmpty, hosts.contains(environment) else { continue }
      let username = entry["username"] ?? ""
      let local = entry["local_account_id"]
      var account =
        found[home]
        ?? CachedAccount(
          homeAccountID: home, environment: environment, username: username, usernames: [], localAccountIDs: [],
          realms: [])
      // The object id of the home tenant is the first half of the home account id: that name is the person's own.
      let isHome = local.map { !$0.isEmpty && home.hasPrefix($0 + ".") } ?? false
      if isHome || account.username.isEmpty { account.username = username }
      if !username.isEmpty { account.usernames.insert(username) }
      if let local, !local.isEmpty { account.localAccountIDs.insert(local) }
      if let realm = entry["realm"] { account.realms.insert(realm) }
      found[home] = account
    }
    return found.values.sorted { ($0.username, $0.homeAccountID) < ($1.username, $1.homeAccountID) }
  }
}
