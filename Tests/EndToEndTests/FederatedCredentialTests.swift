// Applications without a secret, which tokens of other services prove: the sample provider, which knows issuer, subject
// and audience, accepts each service's token; azure-identity does the same with the same stand-ins.

import DemoProvider
import TestSupport
import Testing
import Tokens

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct FederatedCredentialTests {
  private let demo: DemoScene
  private let cluster: FederatedIssuer
  private let service: PythonPeer
  private let upstream: PythonPeer
  private var directory: TemporaryDirectory { demo.directory }
  private var port: Int { service.port }

  init() async throws {
    let cluster = try FederatedIssuer()
    service = try await PythonPeer("identity_service.py")
    let document = try await curl(["http://127.0.0.1:\(service.port)/testing/keys"]).body
    let keys = try #require(JWKSet(json: Array(document.utf8)))
    let federated =
      [
        ("https://accounts.google.com", "104029292853099978293"),
        ("https://token.actions.githubusercontent.com", "repo:contoso/orders:ref:refs/heads/main"),
        ("https://login.microsoftonline.com/contoso/v2.0", "0a1b2c3d-0000-4000-8000-0000000000b1"),
      ].map { FederatedCredential(issuer: $0, subject: $1, keys: keys) } + [
        FederatedCredential(issuer: cluster.name, subject: cluster.subject, keys: cluster.keys)
      ]
    demo = try DemoScene { $0.federated = federated }
    self.cluster = cluster
    upstream = try await PythonPeer("scripted_upstream.py", in: demo.directory)
  }

  private func configuration(_ credential: String) -> String {
    """
    applications:
      contoso: \(demo.application(DemoDirectory.Sample.portal, ", credential: {\(credential)}"))
    routes:
    \(Self.route(to: upstream.port, "contoso"))
    """
  }

  private static func route(to port: Int, _ application: String) -> String {
    """
      - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(port)/", application: \(application),
         token: {as: application, scopes: ["api://orders/.default"]}}

    """
  }

  private func environment(_ variables: [String: String]) -> [String: String] {
    variables.mapValues { $0.replacing("PORT", with: "\(port)") }
  }

  private static let jobToken = "header-secret-of-the-platform"

  static let sources: [(String, [String: String], String)] = [
    (
      "federated: {gcp: {}}", ["GCE_METADATA_HOST": "127.0.0.1:PORT"], "issuer https://accounts.google.com, subject 104"
    ),
    (
      "federated: {github_actions: {}}",
      [
        "ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:PORT/actions/token?v=2",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": jobToken,
      ], "subject repo:contoso/orders:ref:refs/heads/main, audience api://AzureADTokenExchange, good for"
    ),
    (
      "federated: {managed_identity: {client_id: 0a1b2c3d-0000-4000-8000-00000000c11e}}",
      ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:PORT"], "subject 0a1b2c3d-0000-4000-8000-0000000000b1"
    ),
  ]

  @Test(arguments: sources)
  func `a token of each service proves the application, and check shows what a provider compares`(
    credential: String, variables: [String: String], shown: String
  ) async throws {
    let proxy = try await ProxyUnderTest(
      in: directory, environment: environment(variables), configuration(credential))
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    let seen = try await proxy.get("/orders/seen").body
    #expect(seen.contains("Authorization: Bearer ey"), "\(seen)")
    let check = try await proxy.command(["check", "--live"])
    #expect(check.status == 0 && check.output.contains(shown), "\(check.output)\(check.errors)")
  }

  @Test func `an application that is not known for the token is told issuer, subject and audience, and what to do`()
    async throws
  {
    let variables = environment(["GCE_METADATA_HOST": "127.0.0.1:PORT"])
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      configuration("federated: {gcp: {}, audience: another}"))
    #expect(try await eventually { proxy.process.errors.contains("AADSTS70021") }, "\(proxy.process.errors)")
    #expect(try await proxy.get("/orders/1").status == 502)
    let check = try await proxy.command(["check", "--live"])
    #expect(check.status == 1 && check.output.contains("audience another"), "\(check.output)")
    #expect(check.output.contains("Register a federated credential for application 'contoso'"), "\(check.output)")
  }

  @Test func `another application's token is the proof, and nothing of it is kept in the cache`() async throws {
    let hub = try await OpenIDProvider(in: directory)
    let document = try await curl(["\(hub.issuer)/jwks"]).body
    let keys = try #require(JWKSet(json: Array(document.utf8)))
    let demo = try DemoScene {
      $0.federated = [
        FederatedCredential(
          issuer: hub.issuer, subject: OpenIDProvider.client, audience: "https://orders.example", keys: keys)
      ]
    }
    let proof = #"federated: {application: contoso, audience: "https://orders.example"}"#
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: cache.json}
      \(application(hub.issuer))
        guest: \(demo.application(DemoDirectory.Sample.portal, ", credential: {\(proof)}"))
      routes:
      \(Self.route(to: upstream.port, "guest"))
      """)
    #expect(try await eventually { try await proxy.get("/orders/seen").status == 200 }, "\(proxy.process.errors)")
    #expect(try await eventually { textOfFile(directory.file("cache.json")).contains("api://orders") })
    #expect(!textOfFile(directory.file("cache.json")).contains(OpenIDProvider.client))
  }

  @Test(arguments: ["", "AZURE_KUBERNETES_CA_FILE", "AZURE_KUBERNETES_CA_DATA", "another CA"])
  func `a pod's variables are all that it takes, also through an identity binding's proxy`(trust: String) async throws {
    ProxyLedger.current?.add(secret: try cluster.tokenNow())
    try directory.write(try cluster.tokenNow(), to: "token")
    try await succeed(["chmod", "440", directory.file("token")])
    var variables = [
      "AZURE_CLIENT_ID": DemoDirectory.Sample.portal, "AZURE_TENANT_ID": DemoDirectory.Sample.tenant,
      "AZURE_AUTHORITY_HOST": demo.services.providerOrigin + "/", "AZURE_FEDERATED_TOKEN_FILE": directory.file("token"),
      "AZURE_KUBERNETES_TOKEN_PROXY": demo.services.providerOrigin,
    ]
    switch trust {
    case "AZURE_KUBERNETES_CA_FILE": variables[trust] = demo.settings.authorityPath
    case "AZURE_KUBERNETES_CA_DATA": variables[trust] = textOfFile(demo.settings.authorityPath)
    default: break
    }
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      """
      applications:
        pod:
          credential: {workload_identity: {token_proxy: \(trust.isEmpty ? "false" : "true")}}
          \(demo.tls)
      routes:
      \(Self.route(to: upstream.port, "pod"))
      """)
    if trust == "another CA" {
      // Metadata come from the provider, and the token request finds no trust.
      #expect(try await eventually { proxy.process.errors.contains("failed the TLS handshake") })
    } else {
      #expect(try await eventually { try await proxy.get("/orders/seen").status == 200 }, "\(proxy.process.errors)")
    }
    let check = try await proxy.command(["check"])
    #expect(check.output.contains("proved by \(directory.file("token"))"), "\(check.output)\(check.errors)")
  }

  @Test func `the sample machine's identity has tokens of its own, and proves another application`() async throws {
    let variables = ["AZURE_POD_IDENTITY_AUTHORITY_HOST": demo.services.identityOrigin]
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      """
      applications:
        machine: {credential: {managed_identity: {}}}
        guest: \(demo.application(DemoDirectory.Sample.guest, ", credential: {federated: {application: machine}}"))
      defaults: {\(demo.tls)}
      routes:
        - {name: own, path: /own/, upstream: "\(demo.services.apiOrigin)/api/", application: machine,
           token: {as: application, scopes: ["api://orders/.default"]}}
        - {name: guest, path: /guest/, upstream: "\(demo.services.apiOrigin)/api/", application: guest,
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
    for (path, application) in [("own", DemoDirectory.Sample.machine), ("guest", DemoDirectory.Sample.guest)] {
      #expect(
        try await eventually { try await proxy.get("/\(path)/me").body.contains(application) },
        "\(proxy.process.errors)")
    }
  }

  @Test func `azure-identity gets its tokens from the same doubles`() async throws {
    try directory.write(
      textOfFile(demo.settings.clientCertificatePath) + textOfFile(demo.settings.clientKeyPath), to: "both.pem")
    try directory.write(try cluster.tokenNow(), to: "token")
    let result = try await run(
      peer(
        "azure_identity_client.py",
        [
          "--identity", "\(port)", "--provider", demo.services.providerOrigin, "--ca", demo.settings.authorityPath,
          "--tenant", DemoDirectory.Sample.tenant, "--certificate", directory.file("both.pem"), "--certificate-client",
          DemoDirectory.Sample.nightly, "--token", directory.file("token"), "--token-client",
          DemoDirectory.Sample.portal,
        ]), within: .seconds(120))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
  }
}
