// Owns the whole in-memory directory, and the sample that the demonstration starts with.

public import Tokens

/// Every tenant the identity provider knows.
public struct DemoDirectory: Sendable {
  /// The tenants.
  public var tenants: [Tenant]

  /// A directory.
  public init(tenants: [Tenant]) {
    self.tenants = tenants
  }

  /// The tenant that a path segment means: its GUID or one of its domains, letter case aside.
  func tenant(_ segment: String) -> Tenant? {
    let name = segment.lowercased()
    return tenants.first { $0.identifier == name || $0.domains.contains(name) }
  }
}

extension DemoDirectory {
  /// The sample directory: tenant Contoso, an orders API, an application that may read and write orders, and one that
  /// was granted nothing.
  public enum Sample {
    /// Contoso's GUID.
    public static let tenant = "c0a7050d-0000-4000-8000-000000000001"
    /// The `client_id` of the application that was granted `Orders.Read` and `Orders.Write`.
    public static let portal = "c0a7050d-0000-4000-8000-0000000000a1"
    /// The `client_id` of the application that was granted nothing.
    public static let visitor = "c0a7050d-0000-4000-8000-0000000000a2"
    /// The orders API's own `client_id`.
    public static let ordersAPI = "c0a7050d-0000-4000-8000-0000000000b1"
    /// The orders API's identifier URI.
    public static let ordersURI = "api://orders"
  }

  /// The sample directory, in which both applications prove themselves with `secret`.
  public static func sample(secret: Secret) -> DemoDirectory {
    let portal = RegisteredApplication(
      clientIdentifier: Sample.portal, object: "c0a7050d-0000-4000-8000-0000000000c1", displayName: "orders-portal",
      secrets: [secret], grantedRoles: [Sample.ordersAPI: ["Orders.Read", "Orders.Write"]])
    let visitor = RegisteredApplication(
      clientIdentifier: Sample.visitor, object: "c0a7050d-0000-4000-8000-0000000000c2", displayName: "visitor",
      secrets: [secret], grantedRoles: [:])
    let orders = RegisteredAPI(clientIdentifier: Sample.ordersAPI, identifierURI: Sample.ordersURI)
    return DemoDirectory(tenants: [
      Tenant(
        identifier: Sample.tenant, displayName: "Contoso", domains: ["contoso.example"],
        applications: [portal, visitor], apis: [orders])
    ])
  }
}
