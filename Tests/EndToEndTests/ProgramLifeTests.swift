// Programs over the life of a proxy, with the libraries by which they get their tokens here: the first token, a
// renewal, wrong secrets and resources, a reload, an outage of the provider, a restart.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct ProgramLifeTests {
  private enum Shape { case tokenEndpoint, appService, imds, service }
  private typealias Client = (name: String, shape: Shape)

  /// Programs that ask once and end, by their names in Tests/peers/program_clients.py.
  private static let clients: [Client] = [
    ("oauthlib", .tokenEndpoint), ("authlib-basic", .tokenEndpoint), ("authlib-form", .tokenEndpoint),
    ("kafka-oidc", .tokenEndpoint), ("identity", .appService), ("chain", .appService), ("msal", .appService),
    ("blob", .service), ("vault", .service), ("identity", .imds), ("chain", .imds), ("msal", .imds),
    ("kafka-imds", .imds),
  ]

  private struct Row: Encodable {
    var words: [String]
    var environment: [String: String]
  }

  /// A proxy for all of them, and the service of the clients that call one.
  private struct Scene {
    let stage: ProgramStage
    let authority: CertificateAuthority
    let api: ProgramAPI
    /// Demands tokens for a resource that is none of the programs'.
    let unknownAPI: ProgramAPI

    static let unknown = "https://unknown.example"

    init(_ arguments: [String]) async throws {
      stage = try await ProgramStage(arguments)
      authority = try await CertificateAuthority(in: stage.directory)
      let certificate = try await authority.issue("api")
      api = try await ProgramAPI(stage, certificate: certificate)
      unknownAPI = try await ProgramAPI(stage, certificate: certificate, resource: Self.unknown)
      // Azure's storage client asks for a resource of its own.
      try await stage.list("https://storage.azure.com")
    }

    /// - Parameters:
    ///   - secret: in place of both programs' own.
    ///   - isUnknown: true to ask for a scope or resource that is none of the programs'.
    private func row(_ client: Client, _ secret: String?, _ isUnknown: Bool) -> Row {
      let (name, resource) = (client.name, isUnknown ? Self.unknown : ProgramStage.resource)
      var environment = stage.appService
      if let secret { environment["IDENTITY_HEADER"] = secret }
      switch client.shape {
      case .tokenEndpoint:
        let words = [name, stage.tokenURL, "consumer", secret ?? ProgramStage.secret]
        return Row(words: words + (isUnknown ? [resource] : []), environment: [:])
      case .appService: return Row(words: [name, resource], environment: environment)
      case .service:
        let words = [name, "https://127.0.0.1:\((isUnknown ? unknownAPI : api).tlsPort)", authority.file]
        return Row(words: words + (isUnknown && name == "blob" ? [resource] : []), environment: environment)
      case .imds:
        let url = "http://127.0.0.1:\(stage.machinePort)/metadata/identity/oauth2/token"
        return Row(
          words: name == "kafka-imds" ? [name, url, resource] : [name, resource], environment: stage.machine)
      }
    }

    /// The result of each client, in their order. That of a service's client has the token's digest in place of the
    /// service's answer.
    func results(_ clients: [Client] = clients, secret: String? = nil, isUnknown: Bool = false) async throws
      -> [ProgramResult]
    {
      let encoder = JSONEncoder()
      let lines = try clients.map {
        String(decoding: try encoder.encode(row($0, secret, isUnknown)), as: UTF8.self) + "\n"
      }
      let result = try await run(
        peer("program_clients.py", ["each"]),
        input: stage.directory.write(lines.joined(), to: "rows-\(clients[0].name)-\(clients[0].shape)"),
        within: .seconds(300))
      let found = result.output.split(separator: "\n").map { ProgramResult(line: $0) }
      try #require(found.count == clients.count, "\(result.output) \(result.errors)")
      return try zip(found, clients).map { result, client in
        guard result.word == "answer" else { return result }
        #expect(result.text == (client.name == "blob" ? "hello blob" : "hello secret"))
        let path = client.name == "blob" ? "/container/blob" : "/secrets/name/"
        return ProgramResult(line: "answer \(try #require(api.lastToken(at: path), "\(api.requests)"))")
      }
    }

    /// True if each result is a token of the provider's, or an answer that it brought. It may have ended by now.
    func areTokens(_ results: [ProgramResult]) -> Bool {
      results.allSatisfy { $0.word == "answer" || isToken($0, of: stage) }
    }
  }

  private static func isToken(_ result: ProgramResult, of stage: ProgramStage) -> Bool {
    let part = result.text.split(separator: ".").dropFirst().first ?? ""
    let text = part.replacing("-", with: "+").replacing("_", with: "/")
    let claims = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data()
    return result.word == "token" && String(decoding: claims, as: UTF8.self).contains(stage.provider.issuer)
  }

  @Test func `every library gets tokens all through the life of a proxy, and is told what is wrong`() async throws {
    let scene = try await Scene(["--expires-in", "20"])
    let stage = scene.stage
    let first = try await scene.results()
    #expect(scene.areTokens(first), "\(first)")
    for program in ["consumer", "reports", "machine"] { #expect(try await stage.given(to: program) >= 2) }
    for result in first where result.word == "token" { #expect(try await stage.isKnown(result.text)) }

    // The renewal: each program gets another token than its first.
    #expect(try await stage.awaitRenewals())
    let renewed = try await scene.results()
    #expect(scene.areTokens(renewed), "\(renewed)")
    for (one, other) in zip(first, renewed) { #expect(one.text != other.text) }

    // A wrong secret, and what is none of theirs.
    let refused = try await scene.results(
      Self.clients.filter { $0.shape != .imds }, secret: "wrong-secret-0123456789")
    #expect(refused.allSatisfy { $0.word == "error" }, "\(refused)")
    #expect(try await stage.answers(401) >= refused.count)
    let unknown = try await scene.results(isUnknown: true)
    #expect(unknown.allSatisfy { $0.word == "error" }, "\(unknown)")

    // A reload with other secrets. Programs show different ones.
    let (consumer, reports) = ("next-secret-of-the-consumer", "next-secret-of-the-reports")
    for (file, secret) in [("consumer", consumer), ("reports", reports)] {
      ProxyLedger.current?.add(secret: secret)
      try Data(secret.utf8).write(to: URL(filePath: stage.directory.file(file)))
    }
    let form = "grant_type=client_credentials"
    #expect(try await eventually { try await stage.ask(form, ["-u", "consumer:\(consumer)"]).status == 200 })
    let endpoint = Self.clients.filter { $0.shape == .tokenEndpoint }
    let services = Self.clients.filter { $0.shape == .appService || $0.shape == .service }
    let reloaded =
      try await scene.results(endpoint, secret: consumer) + scene.results(services, secret: reports)
    #expect(scene.areTokens(reloaded), "\(reloaded)")
    let former = try await scene.results(endpoint + services)
    #expect(former.allSatisfy { $0.word == "error" }, "\(former)")
    for (file, secret) in [("consumer", ProgramStage.secret), ("reports", ProgramStage.otherSecret)] {
      try Data(secret.utf8).write(to: URL(filePath: stage.directory.file(file)))
    }
    #expect(try await eventually { try await stage.ask(form).status == 200 })

    // The provider is away until the held token has ended. Azure's clients repeat their question before they give up.
    try await stage.provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    #expect(try await eventually { try await stage.ask(form).status == 503 })
    let waiting = ["identity", "chain", "blob", "vault"]
    async let ofServices = scene.results(services.filter { waiting.contains($0.name) })
    async let ofMachines = scene.results([("identity", .imds)])
    async let ofChain = scene.results([("chain", .imds)])
    let away = try await scene.results(Self.clients.filter { !waiting.contains($0.name) })
    #expect(away.allSatisfy { $0.word == "error" }, "\(away)")
    let patient = try await ofServices + ofMachines + ofChain
    let reason = "The identity provider did not give a token"
    #expect(patient.allSatisfy { $0.word == "error" && $0.text.contains(reason) }, "\(patient)")
    try await stage.provider.behave("{}")
    #expect(try await eventually { try await stage.ask(form).status == 200 })
    let back = try await scene.results()
    #expect(scene.areTokens(back), "\(back)")

    // A restart: nothing is held, and nothing of the programs changes.
    let restarted = try await stage.restart()
    let after = try await scene.results()
    #expect(scene.areTokens(after), "\(after)")
    for (one, other) in zip(back, after) { #expect(one.text != other.text) }
    withExtendedLifetime(restarted) {}
  }

  private static let azureCLI = testsDirectory + "/../.venv-azure-cli/bin/python"

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: azureCLI), "Tests/run makes .venv-azure-cli"))
  func `az login --identity signs in all through the life of a proxy`() async throws {
    let stage = try await ProgramStage(
      ["--claim", "tid=c0a7050d-0000-4000-8000-000000000001", "--expires-in", "30"])
    let authority = try await CertificateAuthority(in: stage.directory)
    let api = try await ProgramAPI(stage, certificate: authority.issue("api"))
    func signIn(secret: String? = nil, resource: String = ProgramStage.resource) async throws -> ProgramResult {
      var environment = [
        "AZURE_CONFIG_DIR": stage.directory.file("azure"), "AZURE_CORE_COLLECT_TELEMETRY": "false",
        "REQUESTS_CA_BUNDLE": authority.file,
      ].merging(stage.appService) { $1 }
      if let secret { environment["IDENTITY_HEADER"] = secret }
      return try await ProgramResult(
        ["azure-cli", "https://127.0.0.1:\(api.tlsPort)", resource], python: Self.azureCLI, environment: environment)
    }
    // The management API is not listed yet.
    #expect(try await signIn().word == "error")
    try await stage.list("https://management.core.windows.net")
    let first = try await signIn()
    #expect(Self.isToken(first, of: stage), "\(first)")
    #expect(api.requests.contains("200 /subscriptions"))
    let wrong = try await signIn(secret: "wrong-secret-0123456789")
    let unknown = try await signIn(resource: "https://unknown.example")
    #expect(wrong.word == "error" && unknown.word == "error", "\(wrong) \(unknown)")
    #expect(try await stage.awaitRenewals())
    let next = try await signIn()
    #expect(Self.isToken(next, of: stage) && next.text != first.text, "\(next)")
    try await stage.provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    #expect(try await eventually { try await stage.ask("grant_type=client_credentials").status == 503 })
    #expect(try await signIn().word == "error")
    try await stage.provider.behave("{}")
    #expect(try await eventually { try await stage.ask("grant_type=client_credentials").status == 200 })
    let restarted = try await stage.restart()
    let last = try await signIn()
    #expect(Self.isToken(last, of: stage), "\(last)")
    withExtendedLifetime(restarted) {}
  }

  /// A program that runs on and renews its token itself.
  private struct Server {
    let process: ChildProcess
    /// A URL that makes it call the API; nil: it does so by itself.
    let url: String?

    static let recipes = testsDirectory + "/../config/recipes/programs/"

    init(_ name: String, _ stage: ProgramStage, _ api: ProgramAPI, scope: String? = nil) async throws {
      let port = try freePort()
      let arguments: [String]
      if name == "prometheus" {
        let file = try stage.directory.write(
          "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
            + EngineStage.replacing(
              textOfFile(Self.recipes + "prometheus.yml"),
              [
                ("orders.example:443", "127.0.0.1:\(api.port)"), ("scheme: https", "scheme: http"),
                ("client_id: prometheus", "client_id: consumer" + (scope.map { "\n      scopes: [\($0)]" } ?? "")),
                ("/etc/prometheus/bearer-proxy.secret", try Self.secret(of: stage)),
                ("http://127.0.0.1:8081/oauth2/token", stage.tokenURL),
              ]), to: "prometheus-\(port).yml")
        arguments = [
          "prometheus", "--config.file=\(file)", "--storage.tsdb.path=\(stage.directory.file("tsdb-\(port)"))",
          "--web.listen-address=127.0.0.1:\(port)",
        ]
        url = nil
      } else {
        let scopes = scope.map { "\n                          scopes: [\($0)]" } ?? ""
        let file = try stage.directory.write(
          EngineStage.replacing(
            textOfFile(Self.recipes + "envoy.yaml"),
            [
              ("port_value: 8000", "port_value: \(port)"), ("port_value: 8081", "port_value: \(stage.port)"),
              ("port_value: 9000", "port_value: \(api.port)"), ("client_id: envoy", "client_id: consumer"),
              ("/etc/envoy/bearer-proxy.secret", try Self.secret(of: stage)),
              (
                "                          client_credentials:",
                "\(scopes.dropFirst())\n                          client_credentials:"
              ),
            ]), to: "envoy-\(port).yaml")
        arguments = [
          testsDirectory + "/../.venv/bin/envoy", "-c", file, "--base-id", "\(port)", "-l", "warning",
          "--concurrency", "1",
        ]
        url = "http://127.0.0.1:\(port)/metrics"
      }
      process = try ChildProcess("\(name)-\(port)", arguments, in: stage.directory)
      try await waitForPort(port, of: process)
    }

    /// The program's own copy of the secret, which stays when the proxy's changes.
    private static func secret(of stage: ProgramStage) throws -> String {
      try stage.directory.write(ProgramStage.secret, to: "secret-of-the-server")
    }
  }

  @Test(arguments: ["prometheus", "envoy"])
  func `a program that runs on is back with another token after each thing that happens`(name: String) async throws {
    let stage = try await ProgramStage(["--expires-in", "20"])
    let authority = try await CertificateAuthority(in: stage.directory)
    let api = try await ProgramAPI(stage, certificate: authority.issue("api"))
    let server = try await Server(name, stage, api)
    func call() async throws {
      if let url = server.url { _ = try await curl([url]) }
    }
    /// Waits for a call that the API answers, with a token that it has not seen in one before.
    func goesOn() async throws -> Bool {
      let seen = api.tokens
      return try await eventually(within: .seconds(180)) {
        try await call()
        return !api.tokens.subtracting(seen).isEmpty
      }
    }
    func isRefused(with status: Int) async throws -> Bool {
      let before = try await stage.answers(status)
      return try await eventually(within: .seconds(180)) {
        try await call()
        return try await stage.answers(status) > before
      }
    }
    #expect(try await goesOn(), "\(server.process.errors) \(api.requests)")
    #expect(api.requests.last == "200 /metrics")
    #expect(try await stage.given(to: "consumer") >= 1)
    // The next token, of the program's own accord.
    #expect(try await goesOn(), "\(server.process.errors) \(api.requests)")

    try await stage.provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    #expect(try await isRefused(with: 503))
    try await stage.provider.behave("{}")
    #expect(try await goesOn(), "\(server.process.errors) \(api.requests)")

    try Data("another-secret-of-the-consumer".utf8).write(to: URL(filePath: stage.directory.file("consumer")))
    #expect(try await isRefused(with: 401))
    try Data(ProgramStage.secret.utf8).write(to: URL(filePath: stage.directory.file("consumer")))
    #expect(try await goesOn(), "\(server.process.errors) \(api.requests)")

    let restarted = try await stage.restart()
    #expect(try await goesOn(), "\(server.process.errors) \(api.requests)")
    let other = try await Server(name, stage, api, scope: "other")
    #expect(
      try await eventually(within: .seconds(180)) {
        if let url = other.url { _ = try await curl([url]) }
        return try await stage.answers(400) > 0
      }, "\(other.process.errors)")
    withExtendedLifetime((restarted, server, other)) {}
  }
}
