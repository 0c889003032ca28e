/// A person who is signed in, in one or more tenants.
public struct CachedAccount: Sendable, Hashable {
  /// The id that is the same in every tenant.
  public var homeAccountID: String
  /// The host of its entries.
  public var environment: String
  /// The name to show: the home tenant's if it is known.
  public var username: String
  /// Its label if it has no user name: an e-mail address or a name.
  public var label: String?
  /// Every name it has in a tenant.
  public var usernames: Set<String>
  /// Its object id in each tenant it is signed in to.
  public var localAccountIDs: Set<String>
  /// The tenants it is signed in to, as stored.
  public var realms: Set<String>

  /// Its name for people: the user name, else the label, else the id.
  public var name: String { username.isEmpty ? label ?? homeAccountID : username }

  /// The tenant that the person belongs to; nil if the id names none.
  public var homeTenant: String? {
    homeAccountID.split(separator: ".", maxSplits: 1).dropFirst().first.map(String.init)
  }

  /// The tenants it is signed in to.
  public var tenants: Set<String> { Set(realms.map { tenant(ofRealm: $0) }) }

  /// The tenant of tokens that are stored under a realm, the person's own for tokens without a tenant.
  package func tenant(ofRealm realm: String) -> String {
    ["common", "organizations", "consumers"].contains(realm) ? homeTenant ?? realm : realm
  }

  /// True if a name of the configuration means this account: a user name in any letter case, or an id.
  public func isCalled(_ name: String) -> Bool {
    homeAccountID == name || localAccountIDs.contains(name)
      || usernames.contains { $0.lowercased() == name.lowercased() }
  }
}

extension CacheDocument {
  func account(home: String, hosts: Set<String>) -> CachedAccount? {
    var account: CachedAccount?
    for key in keys(.account, clientID: "", homeAccountID: home).sorted() {
      guard let fields = entry(.account, key)?.fields, let environment = fields.lowercased(.environment),
        hosts.contains(environment)
      else { continue }
      account = (account ?? CachedAccount(home: home, environment: environment, entries: [])).adding(fields)
    }
    return account
  }
}

extension CachedAccount {
  init(home: String, environment: String, entries: [CacheFields]) {
    self.init(
      homeAccountID: home, environment: environment, username: "", usernames: [], localAccountIDs: [], realms: [])
    self = entries.reduce(self) { $0.adding($1) }
  }

  /// The account with the values of one of its entries.
  fileprivate func adding(_ entry: CacheFields) -> CachedAccount {
    var result = self
    let username = entry[.username] ?? ""
    let local = entry[.localAccountID] ?? ""
    // The object id of the home tenant is the first half of the home account id: that name is the person's own.
    let isHome = !local.isEmpty && homeAccountID.hasPrefix(local + ".")
    if isHome || result.username.isEmpty { result.username = username }
    if !username.isEmpty { result.usernames.insert(username) }
    if !local.isEmpty { result.localAccountIDs.insert(local) }
    if let realm = entry[.realm] { result.realms.insert(realm) }
    if let name = entry[.name], !name.isEmpty { result.label = result.label ?? name }
    return result
  }
}
