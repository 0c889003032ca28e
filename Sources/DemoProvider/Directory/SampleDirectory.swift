internal import Bytes
internal import Tokens

extension DemoDirectory {
  /// Names of the sample directory. Applications are named by their `client_id`, APIs also by their identifier URI.
  package enum Sample {
    /// Contoso: the tenant of everything below, unless it says otherwise.
    package static let tenant = "c0a7050d-0000-4000-8000-000000000001"
    package static let fabrikam = "fab71ca0-0000-4000-8000-000000000001"
    package static let portal = id("a1")
    package static let visitor = id("a2")
    /// Public, known in both tenants: people sign in to it.
    package static let desk = id("a3")
    package static let nightly = id("a7")
    /// The sample machine's identity, for which a service hands out tokens.
    package static let machine = id("a8")
    package static let machineObject = id("c8")
    /// The machine's tokens prove it.
    package static let guest = id("a9")
    package static let ordersAPI = id("b1")
    package static let ordersURI = "api://orders"
    package static let ledgerAPI = id("b2")
    package static let ledgerURI = "api://ledger"
    /// An API and an application. It may call the branch and the orders API in the name of its caller.
    package static let gateway = id("a4")
    package static let gatewayURI = "api://gateway"
    /// Another one. It may call the gateway and the orders API.
    package static let branch = id("a5")
    package static let branchURI = "api://branch"
    /// The blueprint of agent identities, an API and an application.
    package static let blueprint = id("aa")
    package static let blueprintURI = "api://agents"
    /// Its agent identity. It may call the orders API, for itself, for its user and for callers.
    package static let agent = id("ab")
    package static let agentUser = "helper@contoso.example"
    package static let agentUserObject = id("d5")
    package static let alice = "alice@contoso.example"
    package static let bob = "bob@contoso.example"
    /// A user of Fabrikam who is a guest of Contoso.
    package static let fay = "fay@fabrikam.example"
    /// The password of all three: it opens samples, on loopback alone.
    package static let password = "tulip-anchor-42"

    fileprivate static func id(_ end: String) -> String { "c0a7050d-0000-4000-8000-0000000000\(end)" }
  }

  /// The sample directory, in which the confidential applications prove themselves with `secret`; the portal also with
  /// tokens of `federated`. `certificate` proves the nightly job. The provider's own tokens, of `issuer` and with
  /// `keys`, prove what the machine and the blueprint prove.
  static func sample(
    secret: Secret, federated: [FederatedCredential], certificate: FederatedCredential?, issuer: String, keys: JWKSet
  ) -> DemoDirectory {
    let contoso = Tenant(identifier: Sample.tenant, name: "Contoso", domain: "contoso.example")
    let fabrikam = Tenant(identifier: Sample.fabrikam, name: "Fabrikam", domain: "fabrikam.example")
    let readsOrders = [Sample.ordersAPI: ["Orders.Read"]]
    func proof(by subject: String) -> [FederatedCredential] { [.init(issuer: issuer, subject: subject, keys: keys)] }
    func api(_ client: String, _ uri: String, _ name: String, _ scopes: (name: String, text: String)...) -> API {
      API(client: client, uri: uri, name: name, scopes: scopes)
    }
    let agentSubject = FederatedCredential.subject(of: Sample.agent, of: Sample.blueprint, in: Sample.tenant)
    return DemoDirectory(
      tenants: [contoso, fabrikam],
      people: [
        Person(
          userName: Sample.alice, name: "Alice Arden", home: contoso, objects: [Sample.tenant: Sample.id("d1")]),
        Person(userName: Sample.bob, name: "Bob Birch", home: contoso, objects: [Sample.tenant: Sample.id("d2")]),
        Person(
          userName: Sample.fay, name: "Fay Fielding", home: fabrikam,
          objects: [Sample.fabrikam: "fab71ca0-0000-4000-8000-0000000000d1", Sample.tenant: Sample.id("d3")]),
        Person(
          userName: Sample.agentUser, name: "Order helper", password: nil, home: contoso,
          objects: [Sample.tenant: Sample.agentUserObject], agent: Sample.agent),
      ],
      applications: [
        Application(
          client: Sample.portal, object: Sample.id("c1"), name: "Orders portal", secret: secret, federated: federated,
          roles: [Sample.ordersAPI: ["Orders.Read", "Orders.Write"]], redirectURIs: ["http://localhost"]),
        Application(client: Sample.visitor, object: Sample.id("c2"), name: "Visitor", secret: secret),
        Application(
          client: Sample.desk, object: Sample.id("c3"), name: "Orders desk", isPublic: true,
          redirectURIs: [
            "http://localhost", "http://127.0.0.1", "http://localhost/.bearer/callback",
            "https://localhost/.bearer/callback", "http://localhost/.bearer/callback/desk",
            "http://localhost/.bearer/signed-out",
          ], tenants: [Sample.tenant, Sample.fabrikam]),
        Application(
          client: Sample.gateway, object: Sample.id("c4"), name: "Gateway", secret: secret,
          delegatedScopes: [Sample.branch: ["Branch.Access"], Sample.ordersAPI: ["Orders.Read"]]),
        Application(
          client: Sample.branch, object: Sample.id("c5"), name: "Branch", secret: secret,
          delegatedScopes: [Sample.ordersAPI: ["Orders.Read"], Sample.gateway: ["Gateway.Access"]]),
        Application(client: Sample.blueprint, object: Sample.id("ca"), name: "Agents", secret: secret),
        Application(
          client: Sample.nightly, object: Sample.id("c7"), name: "Nightly job",
          federated: certificate.map { [$0] } ?? [], roles: readsOrders),
        Application(
          client: Sample.machine, object: Sample.machineObject, name: "Sample machine", isMachine: true,
          roles: readsOrders),
        Application(
          client: Sample.guest, object: Sample.id("c6"), name: "Guest of the machine",
          federated: proof(by: Sample.machineObject), roles: readsOrders),
        Application(
          client: Sample.agent, object: Sample.id("cb"), name: "Order helper", federated: proof(by: agentSubject),
          blueprint: Sample.blueprint, roles: readsOrders, delegatedScopes: readsOrders),
      ],
      apis: [
        api(
          Sample.ordersAPI, Sample.ordersURI, "Orders", ("Orders.Read", "See your orders"),
          ("Orders.Write", "Place and change orders for you"), ("Orders.Approve", "Approve orders in your name")),
        api(
          Sample.ledgerAPI, Sample.ledgerURI, "Ledger", ("Ledger.Read", "See the ledger"),
          ("Ledger.Post", "Post entries to the ledger for you")),
        api(Sample.gateway, Sample.gatewayURI, "Gateway", ("Gateway.Access", "Call other APIs for you")),
        api(Sample.branch, Sample.branchURI, "Branch", ("Branch.Access", "Call the branch's APIs for you")),
        api(Sample.blueprint, Sample.blueprintURI, "Agents", ("Agents.Access", "Have agents work for you")),
        api("acca5fbb-b7e4-4009-81f1-37e38fd66d78", "https://redis.azure.com", "Azure Cache for Redis"),
      ])
  }
}
