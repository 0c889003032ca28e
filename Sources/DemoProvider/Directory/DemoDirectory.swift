/// Every tenant the identity provider knows.
package struct DemoDirectory: Sendable {
  var tenants: [Tenant]
  /// The sign-in page's hint for visitors.
  var signInHint: String?

  /// The tenant that a path segment means: its GUID or one of its domains, letter case aside.
  func tenant(_ segment: String) -> Tenant? {
    let name = segment.lowercased()
    return tenants.first { $0.identifier == name || $0.domains.contains(name) }
  }

  /// The person with this user name, letter case aside.
  func person(userName: String) -> Person? {
    let name = userName.lowercased()
    return person { $0.userName.lowercased() == name }
  }

  /// The person with this `oid` at home.
  func person(object: String) -> Person? { person { $0.object == object } }

  private func person(where holds: (RegisteredUser) -> Bool) -> Person? {
    for tenant in tenants {
      if let user = tenant.users.first(where: holds) { return Person(user: user, home: tenant) }
    }
    return nil
  }
}

/// A user and the tenant that is their home.
struct Person: Sendable {
  var user: RegisteredUser
  var home: Tenant

  /// Their `oid` in `tenant`: their own at home, a guest's elsewhere, nil if they are unknown.
  func object(in tenant: Tenant) -> String? {
    tenant.identifier == home.identifier ? user.object : tenant.guests[user.object]
  }
}
