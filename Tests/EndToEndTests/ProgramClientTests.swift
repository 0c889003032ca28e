// Programs as the libraries of others make them get their tokens here: Azure's SDKs, MSAL, Kafka's client in C,
// requests-oauthlib, Authlib, Prometheus.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct ProgramClientTests {
  private static let resource = ProgramStage.resource

  @Test func `clients of a token endpoint get a token, and a wrong secret ends at once`() async throws {
    let stage = try await ProgramStage()
    for client in ["oauthlib", "authlib-basic", "authlib-form", "kafka-oidc"] {
      let (given, refused) = (try await stage.given(to: "consumer"), try await stage.answers(401))
      let result = try await ProgramResult([client, stage.tokenURL, "consumer", ProgramStage.secret])
      #expect(result.word == "token", "\(client): \(result.text)")
      #expect(try await stage.isKnown(result.text))
      #expect(try await stage.given(to: "consumer") == given + 1)
      let wrong = try await ProgramResult([client, stage.tokenURL, "consumer", ProgramStage.otherSecret])
      #expect(wrong.word == "error")
      if client.hasPrefix("kafka") { continue }
      #expect(wrong.text.contains("invalid_client"), "\(client): \(wrong.text)")
      #expect(try await stage.answers(401) == refused + 1)
      let scoped = try await ProgramResult([client, stage.tokenURL, "consumer", ProgramStage.secret, "orders.write"])
      #expect(scoped.word == "token")
      let unknown = try await ProgramResult([client, stage.tokenURL, "consumer", ProgramStage.secret, "other"])
      #expect(unknown.text.contains("invalid_scope"), "\(client): \(unknown.text)")
    }
    // Another finds the endpoint by its metadata.
    let found = try await ProgramResult(["authlib-metadata", stage.origin])
    #expect(found.text == stage.tokenURL, "\(found.text)")
  }

  /// The client, and true for the shape with a secret.
  static let identities = [
    ("identity", true), ("chain", true), ("msal", true), ("identity", false), ("chain", false), ("msal", false),
    ("probe", false),
  ]

  @Test func `Azure's clients believe that they have a managed identity`() async throws {
    let stage = try await ProgramStage()
    for (client, hasSecret) in Self.identities {
      let program = hasSecret ? "reports" : "machine"
      let (given, refused) = (try await stage.given(to: program), try await stage.answers(401))
      let variables = hasSecret ? stage.appService : stage.machine
      let result = try await ProgramResult([client, Self.resource], environment: variables)
      #expect(result.word == "token", "\(result.text)")
      #expect(try await stage.isKnown(result.text))
      #expect(try await stage.given(to: program) == given + 1)
      if hasSecret {
        let writer = try await ProgramResult([client, Self.resource, "writer"], environment: variables)
        #expect(writer.word == "token" && writer.text != result.text, "\(writer.text)")
        var wrong = variables
        wrong["IDENTITY_HEADER"] = ProgramStage.secret
        #expect(try await ProgramResult([client, Self.resource], environment: wrong).word == "error")
        #expect(try await stage.answers(401) == refused + 1)
      }
      let before = try await stage.answers(400)
      let unknown = try await ProgramResult([client, "https://unknown.example"], environment: variables)
      #expect(unknown.word == "error" && unknown.text.contains("The resource is none of this program's"))
      // Not repeated: the chain of credentials has asked before whether there is a service at all.
      #expect(try await stage.answers(400) - before <= (hasSecret ? 1 : 2), "\(unknown.text)")
    }
  }

  @Test(arguments: [true, false])
  func `Azure's clients wait for a provider that is away`(hasSecret: Bool) async throws {
    let stage = try await ProgramStage { provider in
      try await provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    }
    async let result = ProgramResult(
      ["identity", Self.resource], environment: hasSecret ? stage.appService : stage.machine)
    #expect(try await eventually { try await stage.answers(503) > 0 })
    try await stage.provider.behave("{}")
    let got = try await result
    #expect(got.word == "token", "\(got.text)")
    #expect(try await stage.isKnown(got.text))
  }

  @Test func `a chain without its provider ends with our reason, and goes on to no developer's sign-in`() async throws {
    let stage = try await ProgramStage { provider in
      try await provider.behave(#"{"status": 503, "endpoint": "token", "headers": {"Retry-After": "120"}}"#)
    }
    // Azure CLI, as the chain calls it.
    let asked = stage.directory.file("az-was-asked")
    let tools = stage.directory.file("bin")
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
    chmod(
      try stage.directory.write(
        """
        #!/bin/sh
        echo >> \(asked)
        echo '{"accessToken": "of-the-developer", "expiresOn": "2099-01-01 00:00:00.000000", "expires_on": 4070908800}'

        """, to: "bin/az"), 0o700)
    let path = ["PATH": "\(tools):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"]
    let variables = stage.appService.merging(path) { $1 }
    let start = ContinuousClock.now
    let result = try await ProgramResult(["chain", Self.resource], environment: variables)
    #expect(result.word == "error" && result.text.contains("The identity provider did not give a token"))
    #expect(access(asked, F_OK) != 0, "\(result.text)")
    // A question and three repetitions. The provider's own pause would be six minutes.
    #expect(try await stage.answers(503) == 4)
    #expect(ContinuousClock.now - start < .seconds(100))
    // Without the variable it does go on.
    var all = variables
    all["AZURE_TOKEN_CREDENTIALS"] = ""
    let other = try await ProgramResult(["chain", Self.resource], environment: all)
    #expect(other.text == "of-the-developer", "\(other.text)")
  }

  @Test func `a person who has to sign in is named in the error of Azure's clients`() async throws {
    let stage = try await ProgramStage(top: "cache: {file: cache.json}")
    let result = try await ProgramResult(["chain", "https://person.example"], environment: stage.appService)
    #expect(result.word == "error" && result.text.contains("bearer-proxy login --route person"), "\(result.text)")
    #expect(try await stage.answers(400) == 1)
  }

  @Test func `the configuration of the recipes has no issues`() async throws {
    let directory = try TemporaryDirectory()
    let text = textOfFile(Self.recipes + "proxy.yaml")
    for name in text.matches(of: /secret_file: ([\w.-]+)/) {
      chmod(try directory.write("secret-of-\(name.1)-0123456789", to: String(name.1)), 0o600)
    }
    let file = try directory.write(
      text.replacing("00000000-0000-0000-0000-000000000000", with: "0a1b2c3d-0000-4000-8000-00000000c11e")
        .replacing("contoso.onmicrosoft.com", with: "fabrikam.example"), to: "proxy.yaml")
    let result = try await run([binary(), "check", "-c", file])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.output) \(result.errors)")
  }

  @Test func `the clients of the recipes are programs of their configuration, and ask where it listens`() throws {
    let configuration = textOfFile(Self.recipes + "proxy.yaml")
    let origin = "http://\(try #require(configuration.firstMatch(of: /address: (127[\d.:]+)/)).1)"
    for (file, path, names) in [
      ("prometheus.yml", "/oauth2/token", ["prometheus"]), ("fluent-bit.yaml", "/oauth2/token", ["fluent-bit"]),
      ("envoy.yaml", "/oauth2/token", ["envoy"]), ("kafka.properties", "/oauth2/token", ["orders-consumer"]),
      ("compose.yaml", "/msi/token", []), ("kubernetes.yaml", "/msi/token", []),
    ] {
      let text = textOfFile(Self.recipes + file)
      #expect(text.contains(origin + path), "\(file)")
      let clients = text.matches(of: /(?:client_id: |client\.id=|clientId=")([\w-]+)/).map { String($0.1) }
      #expect(Set(clients) == Set(names), "\(file)")
      for client in clients { #expect(configuration.contains("\n      \(client):\n"), "\(file)") }
    }
  }

  /// The proxy and the variables of the recipe, with a provider of the test and the program's own library.
  @Test(arguments: ["compose.yaml", "kubernetes.yaml"])
  func `an Azure SDK beside the proxy gets its token as the recipe says`(file: String) async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(
      in: directory, ["--scope", "https://storage.azure.com/.default", "--scope", "https://vault.azure.net/.default"])
    for name in ["orders-consumer", "prometheus", "fluent-bit", "envoy", "reports"] {
      chmod(try directory.write("secret-of-\(name)-0123456789", to: name), 0o600)
    }
    chmod(try directory.write(OpenIDProvider.secret, to: "contoso.secret"), 0o600)
    let text = try EndToEndTests.recipe(
      "programs/proxy", port: "127.0.0.1:8081",
      [
        ("00000000-0000-0000-0000-000000000000", OpenIDProvider.client),
        ("https://login.microsoftonline.com/contoso.onmicrosoft.com", provider.issuer),
        ("admin: {address: 127.0.0.1:9901}\n", ""),
      ])
    let proxy = try await ProxyUnderTest(in: directory, text)
    let recipe = textOfFile(Self.recipes + file)
    let endpoint = try #require(recipe.firstMatch(of: /IDENTITY_ENDPOINT[:,] (?:value: ")?([^"\s]+)/)).1
    #expect(recipe.contains("IDENTITY_HEADER"))
    let variables = [
      "IDENTITY_ENDPOINT": String(endpoint).replacing("127.0.0.1:8081", with: "127.0.0.1:\(proxy.port)"),
      "IDENTITY_HEADER": "secret-of-reports-0123456789",
    ]
    for resource in ["https://storage.azure.com", "https://vault.azure.net"] {
      let result = try await ProgramResult(["chain", resource], environment: variables)
      #expect(result.word == "token", "\(result.text) \(proxy.process.errors)")
    }
  }

  private static let recipes = testsDirectory + "/../config/recipes/programs/"
}

/// The API of Tests/peers/program_api.py.
struct ProgramAPI {
  let process: ChildProcess
  let port: Int
  let tlsPort: Int

  init(
    _ stage: ProgramStage, certificate: CertificateAuthority.Certificate, resource: String = ProgramStage.resource
  ) async throws {
    let peer = try await PythonPeer(
      "program_api.py", ["--provider", stage.provider.issuer, "--resource", resource] + certificate.options,
      in: stage.directory)
    (port, process) = (peer.port, peer.process)
    tlsPort = try #require(process.output.firstMatch(of: /tls ([0-9]+)/).flatMap { Int($0.1) })
  }

  private var records: [[Substring]] {
    process.output.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "request" }
  }

  /// Each answer's status and path, oldest first.
  var requests: [String] { records.map { "\($0[1]) \($0[2])" } }

  /// The digest of the token that it took last at a path.
  func lastToken(at path: String) -> String? {
    records.last { $0[1] == "200" && $0[2] == path && $0.count > 3 }.map { String($0[3]) }
  }

  /// The digests of the tokens that it took.
  var tokens: Set<String> { Set(records.filter { $0[1] == "200" && $0.count > 3 }.map { String($0[3]) }) }
}
