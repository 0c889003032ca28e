// Applications without a secret, which tokens of other services prove: the sample provider, which knows issuer, subject
// and audience, accepts each service's token; azure-identity does the same with the same stand-ins.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing
import Tokens

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct FederatedCredentialTests {
  private let directory: TemporaryDirectory
  private let cluster: FederatedIssuer
  private let service: ChildProcess
  private let port: Int
  private let settings: DemoSettings
  private let services: DemoServices
  private let upstream: ScriptedUpstream

  init() async throws {
    directory = try TemporaryDirectory()
    cluster = try FederatedIssuer()
    service = try ChildProcess(
      "identity-service", [pinnedPython(), testsDirectory + "/peers/identity_service.py"], in: directory)
    port = try await announcedPort(of: service)
    let document = try await curl(["http://127.0.0.1:\(port)/testing/keys"]).body
    let keys = try #require(JWKSet(json: Array(document.utf8)))
    var settings = DemoSettings(directory: directory.path)
    settings.federated =
      [
        ("https://accounts.google.com", "104029292853099978293"),
        ("https://token.actions.githubusercontent.com", "repo:contoso/orders:ref:refs/heads/main"),
        ("https://login.microsoftonline.com/contoso/v2.0", "0a1b2c3d-0000-4000-8000-0000000000b1"),
      ].map { FederatedCredential(issuer: $0, subject: $1, keys: keys) } + [
        FederatedCredential(issuer: cluster.name, subject: cluster.subject, keys: cluster.keys)
      ]
    self.settings = settings
    services = try DemoServices(settings)
    upstream = try await ScriptedUpstream(in: directory)
  }

  private func configuration(_ credential: String, client: String = DemoDirectory.Sample.portal) -> String {
    """
    applications:
      contoso:
        authority: "\(services.issuer)"
        client_id: \(client)
        credential: {\(credential)}
        tls: {ca_file: "\(settings.authorityPath)"}
    routes:
      - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(upstream.port)/", application: contoso,
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
    let check = try await run(
      [try binary(), "check", "-c", proxy.configuration, "--live"], environment: environment(variables))
    #expect(check.status == 0 && check.output.contains(shown), "\(check.output)\(check.errors)")
    await services.stop()
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
    let check = try await run([try binary(), "check", "-c", proxy.configuration, "--live"], environment: variables)
    #expect(check.status == 1 && check.output.contains("audience another"), "\(check.output)")
    #expect(check.output.contains("Register a federated credential for application 'contoso'"), "\(check.output)")
    await services.stop()
  }

  @Test func `another application's token is the proof, and nothing of it is kept in the cache`() async throws {
    let hub = try await OpenIDProvider(in: directory)
    let document = try await curl(["\(hub.issuer)/jwks"]).body
    var settings = DemoSettings(directory: directory.path)
    settings.federated = [
      FederatedCredential(
        issuer: hub.issuer, subject: OpenIDProvider.client, audience: "https://orders.example",
        keys: try #require(JWKSet(json: Array(document.utf8))))
    ]
    let services = try DemoServices(settings)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: cache.json}
      applications:
        hub:
          authority: "\(hub.issuer)"
          client_id: \(OpenIDProvider.client)
          client_secret: "\(OpenIDProvider.secret)"
        guest:
          authority: "\(services.issuer)"
          client_id: \(DemoDirectory.Sample.portal)
          credential: {federated: {application: hub, audience: "https://orders.example"}}
          tls: {ca_file: "\(settings.authorityPath)"}
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(upstream.port)/", application: guest,
           token: {as: application, scopes: ["api://orders/.default"]}}
      """)
    #expect(try await eventually { try await proxy.get("/orders/seen").status == 200 }, "\(proxy.process.errors)")
    #expect(try await eventually { textOfFile(directory.file("cache.json")).contains("api://orders") })
    #expect(!textOfFile(directory.file("cache.json")).contains(OpenIDProvider.client))
    await services.stop()
    await self.services.stop()
  }

  @Test(arguments: ["", "AZURE_KUBERNETES_CA_FILE", "AZURE_KUBERNETES_CA_DATA", "another CA"])
  func `a pod's variables are all that it takes, also through an identity binding's proxy`(trust: String) async throws {
    ProxyLedger.current?.add(secret: try cluster.tokenNow())
    try directory.write(try cluster.tokenNow(), to: "token")
    try await succeed(["chmod", "440", directory.file("token")])
    var variables = [
      "AZURE_CLIENT_ID": DemoDirectory.Sample.portal, "AZURE_TENANT_ID": DemoDirectory.Sample.tenant,
      "AZURE_AUTHORITY_HOST": services.providerOrigin + "/", "AZURE_FEDERATED_TOKEN_FILE": directory.file("token"),
      "AZURE_KUBERNETES_TOKEN_PROXY": services.providerOrigin,
    ]
    switch trust {
    case "AZURE_KUBERNETES_CA_FILE": variables[trust] = settings.authorityPath
    case "AZURE_KUBERNETES_CA_DATA": variables[trust] = textOfFile(settings.authorityPath)
    default: break
    }
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      """
      applications:
        pod:
          credential: {workload_identity: {token_proxy: \(trust.isEmpty ? "false" : "true")}}
          tls: {ca_file: "\(settings.authorityPath)"}
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(upstream.port)/", application: pod,
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
    if trust == "another CA" {
      // Metadata come from the provider, and the token request finds no trust.
      #expect(try await eventually { proxy.process.errors.contains("failed the TLS handshake") })
    } else {
      #expect(try await eventually { try await proxy.get("/orders/seen").status == 200 }, "\(proxy.process.errors)")
    }
    let check = try await run([try binary(), "check", "-c", proxy.configuration], environment: variables)
    #expect(check.output.contains("proved by \(directory.file("token"))"), "\(check.output)\(check.errors)")
    await services.stop()
  }

  @Test func `the sample machine's identity has tokens of its own, and proves another application`() async throws {
    let variables = ["AZURE_POD_IDENTITY_AUTHORITY_HOST": services.identityOrigin]
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      """
      applications:
        machine: {credential: {managed_identity: {}}}
        guest:
          authority: "\(services.issuer)"
          client_id: \(DemoDirectory.Sample.guest)
          credential: {federated: {application: machine}}
          tls: {ca_file: "\(settings.authorityPath)"}
      routes:
        - {name: own, path: /own/, upstream: "\(services.apiOrigin)/api/", application: machine,
           tls: {ca_file: "\(settings.authorityPath)"},
           token: {as: application, scopes: ["api://orders/.default"]}}
        - {name: guest, path: /guest/, upstream: "\(services.apiOrigin)/api/", application: guest,
           tls: {ca_file: "\(settings.authorityPath)"},
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
    for (path, application) in [("own", DemoDirectory.Sample.machine), ("guest", DemoDirectory.Sample.guest)] {
      #expect(
        try await eventually { try await proxy.get("/\(path)/me").body.contains(application) },
        "\(proxy.process.errors)")
    }
    await services.stop()
  }

  @Test func `azure-identity gets its tokens from the same doubles`() async throws {
    try directory.write(
      textOfFile(settings.clientCertificatePath) + textOfFile(settings.clientKeyPath), to: "both.pem")
    try directory.write(try cluster.tokenNow(), to: "token")
    let result = try await run(
      [
        pinnedPython(), testsDirectory + "/peers/azure_identity_client.py", "--identity", "\(port)", "--provider",
        services.providerOrigin, "--ca", settings.authorityPath, "--tenant", DemoDirectory.Sample.tenant,
        "--certificate", directory.file("both.pem"), "--certificate-client", DemoDirectory.Sample.nightly, "--token",
        directory.file("token"), "--token-client", DemoDirectory.Sample.portal,
      ], within: .seconds(120))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    await services.stop()
  }
}
