// The sample directory that the demonstration and the tests start with.

package import Bytes
internal import Tokens

extension DemoDirectory {
  /// The sample directory's names: two tenants, three people, five APIs, three of which are applications that ask in
  /// the names of their callers, three other applications, and an agent with an account.
  package enum Sample {
    /// Contoso's GUID: the tenant of everything below that says nothing else.
    package static let tenant = "c0a7050d-0000-4000-8000-000000000001"
    /// Fabrikam's GUID.
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
    /// The object of that identity: the subject of its tokens.
    package static let machineObject = "c0a7050d-0000-4000-8000-0000000000c8"
    /// The `client_id` of the confidential application that the machine's tokens prove.
    package static let guest = "c0a7050d-0000-4000-8000-0000000000a9"
    /// The orders API's own `client_id`.
    package static let ordersAPI = "c0a7050d-0000-4000-8000-0000000000b1"
    /// The orders API's identifier URI. Its scopes: `Orders.Read`, `Orders.Write`, `Orders.Approve`.
    package static let ordersURI = "api://orders"
    /// The ledger API's own `client_id`.
    package static let ledgerAPI = "c0a7050d-0000-4000-8000-0000000000b2"
    /// The ledger API's identifier URI. Its scopes: `Ledger.Read`, `Ledger.Post`.
    package static let ledgerURI = "api://ledger"
    /// The gateway, an API and an application with one `client_id`. It may call the branch and the orders API in the
    /// name of its caller.
    package static let gateway = "c0a7050d-0000-4000-8000-0000000000a4"
    /// The gateway's identifier URI. Its scope: `Gateway.Access`.
    package static let gatewayURI = "api://gateway"
    /// The branch, another such API. It may call the orders API.
    package static let branch = "c0a7050d-0000-4000-8000-0000000000a5"
    /// The branch's identifier URI. Its scope: `Branch.Access`.
    package static let branchURI = "api://branch"
    /// The blueprint of agent identities, an API and an application with one `client_id`.
    package static let blueprint = "c0a7050d-0000-4000-8000-0000000000aa"
    /// The blueprint's identifier URI. Its scope: `Agents.Access`.
    package static let blueprintURI = "api://agents"
    /// The `client_id` of its agent identity. It may call the orders API, for itself, for its user and for callers.
    package static let agent = "c0a7050d-0000-4000-8000-0000000000ab"
    /// The agent's user account, and its object.
    package static let agentUser = "helper@contoso.example"
    package static let agentUserObject = "c0a7050d-0000-4000-8000-0000000000d5"
    /// A user of Contoso.
    package static let alice = "alice@contoso.example"
    /// Another user of Contoso.
    package static let bob = "bob@contoso.example"
    /// A user of Fabrikam who is a guest of Contoso.
    package static let fay = "fay@fabrikam.example"
    /// The password of all three: it opens samples, on loopback alone.
    package static let password = "tulip-anchor-42"
  }

  /// The sample directory, in which the confidential applications prove themselves with `secret`; the portal also with
  /// tokens of those whom `federated` names. `certificate` proves the nightly job, and the tokens of `machine` the
  /// guest.
  package static func sample(
    secret: Secret, federated: [FederatedCredential] = [], certificate: RegisteredCertificate? = nil,
    machine: FederatedCredential? = nil
  ) -> DemoDirectory {
    let unattended =
      (certificate.map { [nightly($0)] } ?? [])
      + (machine.map { [Self.machine, guest($0), agent(of: $0)] } ?? [])
    let contoso = Tenant(
      identifier: Sample.tenant, displayName: "Contoso", domains: ["contoso.example"],
      applications: [
        portal(secret, federated), visitor(secret), desk("c0a7050d-0000-4000-8000-0000000000c3"),
        middleTier(
          Sample.gateway, "c0a7050d-0000-4000-8000-0000000000c4", "Gateway", secret,
          [Sample.branch: ["Branch.Access"], Sample.ordersAPI: ["Orders.Read"]]),
        middleTier(
          Sample.branch, "c0a7050d-0000-4000-8000-0000000000c5", "Branch", secret,
          [Sample.ordersAPI: ["Orders.Read"], Sample.gateway: ["Gateway.Access"]]),
        middleTier(Sample.blueprint, "c0a7050d-0000-4000-8000-0000000000ca", "Agents", secret, [:]),
      ] + unattended,
      apis: sampleAPIs,
      users: [
        user("c0a7050d-0000-4000-8000-0000000000d1", Sample.alice, "Alice Arden"),
        user("c0a7050d-0000-4000-8000-0000000000d2", Sample.bob, "Bob Birch"), agentUser,
      ],
      guests: [fayObject: "c0a7050d-0000-4000-8000-0000000000d3"])
    let fabrikam = Tenant(
      identifier: Sample.fabrikam, displayName: "Fabrikam", domains: ["fabrikam.example"],
      applications: [desk("fab71ca0-0000-4000-8000-0000000000c3")], apis: sampleAPIs,
      users: [user(fayObject, Sample.fay, "Fay Fielding")])
    return DemoDirectory(
      tenants: [contoso, fabrikam],
      signInHint:
        "Sample users: \(Sample.alice), \(Sample.bob) and \(Sample.fay). The password of each is \(Sample.password)")
  }

  private static let fayObject = "fab71ca0-0000-4000-8000-0000000000d1"

  private static let sampleAPIs = [
    RegisteredAPI(
      clientIdentifier: Sample.ordersAPI, identifierURI: Sample.ordersURI, displayName: "Orders",
      scopes: [
        RegisteredAPI.Scope("Orders.Read", "See your orders"),
        RegisteredAPI.Scope("Orders.Write", "Place and change orders for you"),
        RegisteredAPI.Scope("Orders.Approve", "Approve orders in your name"),
      ]),
    RegisteredAPI(
      clientIdentifier: Sample.ledgerAPI, identifierURI: Sample.ledgerURI, displayName: "Ledger",
      scopes: [
        RegisteredAPI.Scope("Ledger.Read", "See the ledger"),
        RegisteredAPI.Scope("Ledger.Post", "Post entries to the ledger for you"),
      ]),
    RegisteredAPI(
      clientIdentifier: Sample.gateway, identifierURI: Sample.gatewayURI, displayName: "Gateway",
      scopes: [RegisteredAPI.Scope("Gateway.Access", "Call other APIs for you")]),
    RegisteredAPI(
      clientIdentifier: Sample.branch, identifierURI: Sample.branchURI, displayName: "Branch",
      scopes: [RegisteredAPI.Scope("Branch.Access", "Call the branch's APIs for you")]),
    RegisteredAPI(
      clientIdentifier: Sample.blueprint, identifierURI: Sample.blueprintURI, displayName: "Agents",
      scopes: [RegisteredAPI.Scope("Agents.Access", "Have agents work for you")]),
  ]

  private static func portal(_ secret: Secret, _ federated: [FederatedCredential]) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: Sample.portal, object: "c0a7050d-0000-4000-8000-0000000000c1", displayName: "Orders portal",
      secrets: [secret], federatedCredentials: federated,
      grantedRoles: [Sample.ordersAPI: ["Orders.Read", "Orders.Write"]],
      redirectURIs: ["http://localhost"])
  }

  private static func nightly(_ certificate: RegisteredCertificate) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: Sample.nightly, object: "c0a7050d-0000-4000-8000-0000000000c7", displayName: "Nightly job",
      certificates: [certificate], grantedRoles: [Sample.ordersAPI: ["Orders.Read"]])
  }

  private static var machine: RegisteredApplication {
    var machine = RegisteredApplication(
      clientIdentifier: Sample.machine, object: Sample.machineObject, displayName: "Sample machine",
      grantedRoles: [Sample.ordersAPI: ["Orders.Read"]])
    machine.isMachine = true
    return machine
  }

  private static func guest(_ machine: FederatedCredential) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: Sample.guest, object: "c0a7050d-0000-4000-8000-0000000000c6",
      displayName: "Guest of the machine",
      federatedCredentials: [machine], grantedRoles: [Sample.ordersAPI: ["Orders.Read"]])
  }

  private static func agent(of machine: FederatedCredential) -> RegisteredApplication {
    let subject = FederatedCredential.subject(of: Sample.agent, of: Sample.blueprint, in: Sample.tenant)
    var agent = RegisteredApplication(
      clientIdentifier: Sample.agent, object: "c0a7050d-0000-4000-8000-0000000000cb", displayName: "Order helper",
      federatedCredentials: [FederatedCredential(issuer: machine.issuer, subject: subject, keys: machine.keys)],
      grantedRoles: [Sample.ordersAPI: ["Orders.Read"]], delegatedScopes: [Sample.ordersAPI: ["Orders.Read"]])
    agent.blueprint = Sample.blueprint
    return agent
  }

  private static var agentUser: RegisteredUser {
    RegisteredUser(
      object: Sample.agentUserObject, userName: Sample.agentUser, displayName: "Order helper", password: nil,
      agent: Sample.agent)
  }

  private static func visitor(_ secret: Secret) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: Sample.visitor, object: "c0a7050d-0000-4000-8000-0000000000c2", displayName: "Visitor",
      secrets: [secret])
  }

  private static func middleTier(
    _ identifier: String, _ object: String, _ name: String, _ secret: Secret, _ scopes: [String: [String]]
  ) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: identifier, object: object, displayName: name, secrets: [secret], delegatedScopes: scopes)
  }

  /// One service principal of the application per tenant.
  private static func desk(_ object: String) -> RegisteredApplication {
    RegisteredApplication(
      clientIdentifier: Sample.desk, object: object, displayName: "Orders desk",
      redirectURIs: [
        "http://localhost", "http://127.0.0.1", "http://localhost/.bearer/callback",
        "https://localhost/.bearer/callback", "http://localhost/.bearer/callback/desk",
        "http://localhost/.bearer/signed-out",
      ])
  }

  private static func user(_ object: String, _ userName: String, _ displayName: String) -> RegisteredUser {
    RegisteredUser(
      object: object, userName: userName, displayName: displayName, password: Secret(Sample.password))
  }
}
