// The sample directory that the demonstration and the tests start with.

internal import Bytes
internal import Tokens

extension DemoDirectory {
  /// Names of the sample directory. Applications are named by their `client_id`, APIs also by their identifier URI.
  package enum Sample {
    /// Contoso: the tenant of everything below, unless it says otherwise.
    package static let tenant = "c0a7050d-0000-4000-8000-000000000001"
    package static let fabrikam = "fab71ca0-0000-4000-8000-000000000001"
    /// The `client_id` of the confidential application that was granted `Orders.Read` and `Orders.Write`.
    package static let portal = "c0a7050d-0000-4000-8000-0000000000a1"
    /// The `client_id` of the confidential application that was granted nothing.
    package static let visitor = "c0a7050d-0000-4000-8000-0000000000a2"
    /// The `client_id` of the public application, known in both tenants, that signs people in.
    package static let desk = "c0a7050d-0000-4000-8000-0000000000a3"
    /// The `client_id` of the confidential application that proves itself with a certificate.
    package static let nightly = "c0a7050d-0000-4000-8000-0000000000a7"
    /// The `client_id` of the sample machine's identity, for which a service hands out tokens.
    package static let machine = "c0a7050d-0000-4000-8000-0000000000a8"
    package static let machineObject = "c0a7050d-0000-4000-8000-0000000000c8"
    /// The `client_id` of the confidential application that the machine's tokens prove.
    package static let guest = "c0a7050d-0000-4000-8000-0000000000a9"
    package static let ordersAPI = "c0a7050d-0000-4000-8000-0000000000b1"
    package static let ordersURI = "api://orders"
    package static let ledgerAPI = "c0a7050d-0000-4000-8000-0000000000b2"
    package static let ledgerURI = "api://ledger"
    /// The gateway, an API and an application with one `client_id`. It may call the branch and the orders API in the
    /// name of its caller.
    package static let gateway = "c0a7050d-0000-4000-8000-0000000000a4"
    package static let gatewayURI = "api://gateway"
    /// The branch, another such API. It may call the orders API.
    package static let branch = "c0a7050d-0000-4000-8000-0000000000a5"
    package static let branchURI = "api://branch"
    /// The blueprint of agent identities, an API and an application with one `client_id`.
    package static let blueprint = "c0a7050d-0000-4000-8000-0000000000aa"
    package static let blueprintURI = "api://agents"
    /// The `client_id` of its agent identity. It may call the orders API, for itself, for its user and for callers.
    package static let agent = "c0a7050d-0000-4000-8000-0000000000ab"
    package static let agentUser = "helper@contoso.example"
    package static let agentUserObject = "c0a7050d-0000-4000-8000-0000000000d5"
    package static let alice = "alice@contoso.example"
    package static let bob = "bob@contoso.example"
    /// A user of Fabrikam who is a guest of Contoso.
    package static let fay = "fay@fabrikam.example"
    /// The password of all three: it opens samples, on loopback alone.
    package static let password = "tulip-anchor-42"
  }

  /// The sample directory, in which the confidential applications prove themselves with `secret`; the portal also with
  /// tokens of `federated`. `certificate` proves the nightly job, and the tokens of `machine` the guest.
  static func sample(
    secret: Secret, federated: [FederatedCredential] = [], certificate: RegisteredCertificate? = nil,
    machine: FederatedCredential? = nil
  ) -> DemoDirectory {
    let readsOrders = [Sample.ordersAPI: ["Orders.Read"]]
    func application(_ client: String, _ object: String, _ name: String) -> RegisteredApplication {
      RegisteredApplication(
        clientIdentifier: client, object: "c0a7050d-0000-4000-8000-0000000000\(object)", displayName: name)
    }
    func confidential(
      _ client: String, _ object: String, _ name: String, scopes: [String: [String]] = [:]
    ) -> RegisteredApplication {
      var application = application(client, object, name)
      application.secrets = [secret]
      application.delegatedScopes = scopes
      return application
    }
    var portal = confidential(Sample.portal, "c1", "Orders portal")
    portal.federatedCredentials = federated
    portal.grantedRoles = [Sample.ordersAPI: ["Orders.Read", "Orders.Write"]]
    portal.redirectURIs = ["http://localhost"]
    var desk = application(Sample.desk, "c3", "Orders desk")
    desk.redirectURIs = [
      "http://localhost", "http://127.0.0.1", "http://localhost/.bearer/callback",
      "https://localhost/.bearer/callback", "http://localhost/.bearer/callback/desk",
      "http://localhost/.bearer/signed-out",
    ]
    var applications = [
      portal, confidential(Sample.visitor, "c2", "Visitor"), desk,
      confidential(
        Sample.gateway, "c4", "Gateway",
        scopes: [Sample.branch: ["Branch.Access"], Sample.ordersAPI: ["Orders.Read"]]),
      confidential(
        Sample.branch, "c5", "Branch",
        scopes: [Sample.ordersAPI: ["Orders.Read"], Sample.gateway: ["Gateway.Access"]]),
      confidential(Sample.blueprint, "ca", "Agents"),
    ]
    if let certificate {
      var nightly = application(Sample.nightly, "c7", "Nightly job")
      nightly.certificates = [certificate]
      nightly.grantedRoles = readsOrders
      applications.append(nightly)
    }
    if let machine {
      var identity = application(Sample.machine, "c8", "Sample machine")
      identity.isMachine = true
      var guest = application(Sample.guest, "c6", "Guest of the machine")
      guest.federatedCredentials = [machine]
      var agent = application(Sample.agent, "cb", "Order helper")
      let subject = FederatedCredential.subject(of: Sample.agent, of: Sample.blueprint, in: Sample.tenant)
      agent.federatedCredentials = [
        FederatedCredential(issuer: machine.issuer, subject: subject, keys: machine.keys)
      ]
      agent.delegatedScopes = readsOrders
      agent.blueprint = Sample.blueprint
      for var application in [identity, guest, agent] {
        application.grantedRoles = readsOrders
        applications.append(application)
      }
    }
    func user(_ object: String, _ userName: String, _ displayName: String) -> RegisteredUser {
      RegisteredUser(
        object: object, userName: userName, displayName: displayName, password: Secret(Sample.password))
    }
    let fay = user("fab71ca0-0000-4000-8000-0000000000d1", Sample.fay, "Fay Fielding")
    let contoso = Tenant(
      identifier: Sample.tenant, displayName: "Contoso", domains: ["contoso.example"], applications: applications,
      apis: apis,
      users: [
        user("c0a7050d-0000-4000-8000-0000000000d1", Sample.alice, "Alice Arden"),
        user("c0a7050d-0000-4000-8000-0000000000d2", Sample.bob, "Bob Birch"),
        RegisteredUser(
          object: Sample.agentUserObject, userName: Sample.agentUser, displayName: "Order helper", agent: Sample.agent),
      ],
      guests: [fay.object: "c0a7050d-0000-4000-8000-0000000000d3"])
    // An application has a service principal in each tenant.
    desk.object = "fab71ca0-0000-4000-8000-0000000000c3"
    let fabrikam = Tenant(
      identifier: Sample.fabrikam, displayName: "Fabrikam", domains: ["fabrikam.example"], applications: [desk],
      apis: apis, users: [fay])
    return DemoDirectory(
      tenants: [contoso, fabrikam],
      signInHint:
        "Sample users: \(Sample.alice), \(Sample.bob) and \(Sample.fay). The password of each is \(Sample.password)")
  }

  private static var apis: [RegisteredAPI] {
    func api(_ client: String, _ uri: String, _ name: String, _ scopes: [(String, String)]) -> RegisteredAPI {
      RegisteredAPI(
        clientIdentifier: client, identifierURI: uri, displayName: name, scopes: scopes.map { .init($0.0, $0.1) })
    }
    return [
      api(
        Sample.ordersAPI, Sample.ordersURI, "Orders",
        [
          ("Orders.Read", "See your orders"), ("Orders.Write", "Place and change orders for you"),
          ("Orders.Approve", "Approve orders in your name"),
        ]),
      api(
        Sample.ledgerAPI, Sample.ledgerURI, "Ledger",
        [("Ledger.Read", "See the ledger"), ("Ledger.Post", "Post entries to the ledger for you")]),
      api(Sample.gateway, Sample.gatewayURI, "Gateway", [("Gateway.Access", "Call other APIs for you")]),
      api(Sample.branch, Sample.branchURI, "Branch", [("Branch.Access", "Call the branch's APIs for you")]),
      api("acca5fbb-b7e4-4009-81f1-37e38fd66d78", "https://redis.azure.com", "Azure Cache for Redis", []),
      api(Sample.blueprint, Sample.blueprintURI, "Agents", [("Agents.Access", "Have agents work for you")]),
    ]
  }
}
