// The scenery of the tests with programs that get tokens for connections of their own.

import Glibc
import TestSupport
import Testing

/// A provider, and a proxy with a listener for programs: one of each shape.
struct ProgramStage {
  let directory: TemporaryDirectory
  let provider: OpenIDProvider
  let proxy: ProxyUnderTest
  /// The port of the listener for programs.
  var port: Int { proxy.ports[1] }
  /// The port of the one for programs of the shape without a secret.
  var machinePort: Int { proxy.ports[2] }

  static let secret = "secret-of-the-consumer/0123"
  static let otherSecret = "secret-of-the-reports-0123"
  static let resource = "https://orders.example"

  /// - Parameters:
  ///   - arguments: options of the provider.
  ///   - top: keys of the configuration.
  ///   - token: the token of the route `person`, if it is another one.
  init(_ arguments: [String] = [], top: String = "", prepare: ((OpenIDProvider) async throws -> Void)? = nil)
    async throws
  {
    directory = try TemporaryDirectory()
    provider = try await OpenIDProvider(in: directory, arguments)
    try await prepare?(provider)
    for (name, secret) in [("consumer", Self.secret), ("reports", Self.otherSecret)] {
      chmod(try directory.write(secret + "\n", to: name), 0o600)
      ProxyLedger.current?.add(secret: secret)
    }
    proxy = try await ProxyUnderTest(
      in: directory,
      """
      \(top)
      listeners:
        - address: 127.0.0.1:PORT
        - address: 127.0.0.1:PORT2
          programs:
            consumer:
              secret_file: consumer
              tokens: [{route: orders}, {application: contoso, scopes: [orders.write]}]
            reports:
              shape: app_service
              secret_file: reports
              tokens:
                - {route: orders, resources: [\(Self.resource)]}
                - {application: contoso, scopes: [orders.write], resources: [\(Self.resource)], identities: [writer]}
                - {route: person, resources: ["https://person.example/"]}
        - address: 127.0.0.1:PORT3
          callers: {anyone: true}
          programs:
            machine: {shape: imds, tokens: [{route: orders, resources: ["\(Self.resource)/"]}]}
      \(application(provider.issuer))
      routes:
      \(route("orders", to: 1))
        - {name: person, path: /person/, upstream: "http://127.0.0.1:1/", application: contoso, token: {scopes: [a]}}
      """)
    try await waitForPort(port, of: proxy.process)
    try await waitForPort(machinePort, of: proxy.process)
    if prepare == nil {
      _ = try await eventually { try await provider.requests(to: "token") == 2 }
    }
  }

  var origin: String { "http://127.0.0.1:\(port)" }
  var tokenURL: String { "\(origin)/oauth2/token" }

  /// The variables of each managed identity.
  var appService: [String: String] {
    Self.production.merging([
      "IDENTITY_ENDPOINT": "\(origin)/msi/token", "IDENTITY_HEADER": Self.otherSecret,
    ]) { $1 }
  }
  var machine: [String: String] {
    Self.production.merging(["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:\(machinePort)"]) { $1 }
  }
  /// Keeps Azure's credential chains from a developer's own sign-ins, as docs/programs.md says.
  private static let production = ["AZURE_TOKEN_CREDENTIALS": "prod"]

  /// The answer of the token endpoint to a form.
  func ask(_ form: String, _ arguments: [String] = ["-u", "consumer:\(secret)"]) async throws -> Answer {
    try await curl(arguments + ["-d", form, tokenURL])
  }

  /// Asks for both tokens of the consumer until each was renewed: only requests renew them.
  func awaitRenewals() async throws -> Bool {
    let before = try await provider.requests(to: "token")
    return try await eventually {
      for scope in ["", "&scope=orders.write"] { _ = try await ask("grant_type=client_credentials\(scope)") }
      return try await provider.requests(to: "token") >= before + 2
    }
  }

  /// True if the provider knows a token as its own.
  func isKnown(_ token: String) async throws -> Bool {
    try await curl(["-H", "Authorization: Bearer \(token)", provider.issuer + "/api/whoami"]).status == 200
  }

  /// The number of answers with a status that the listeners for programs have given.
  func answers(_ status: Int) async throws -> Int {
    try await metricSum(proxy, "bearer_proxy_responses_total", "code=\"\(status)\"")
  }

  /// Ends the proxy, and starts it again with the same configuration and ports. The result keeps it running.
  func restart() async throws -> ChildProcess {
    #expect(try await proxy.process.end() == 0)
    let next = try ChildProcess("bearer-proxy", [binary(), "run", "-c", proxy.configuration], in: directory)
    for port in [proxy.adminPort, port, machinePort] { try await waitForPort(port, of: next) }
    return next
  }

  /// Lets `reports` have the token of `orders` for another resource, too.
  func list(_ resource: String) async throws {
    try proxy.reconfigure {
      $0.replacing("resources: [\(Self.resource)]}\n", with: "resources: [\(Self.resource), \"\(resource)\"]}\n")
    }
    try #require(await eventually { try await proxy.admin("/config").body.contains(resource) })
  }

  /// The number of tokens that a program got.
  func given(to program: String) async throws -> Int {
    try await metricSum(proxy, "bearer_proxy_program_tokens_total", "program=\"\(program)\"")
  }
}

/// The result of a program of Tests/peers/program_clients.py.
struct ProgramResult {
  /// `token`, `answer` or `error`.
  let word: String
  let text: String

  /// Runs one, with the Python of the environment that has its library.
  init(_ arguments: [String], python: String? = nil, environment: [String: String] = [:]) async throws {
    let command = try peer("program_clients.py", arguments)
    let result = try await run(
      [python ?? command[0]] + command.dropFirst(), environment: environment, within: .seconds(180))
    self.init(line: result.output.split(separator: "\n").last { !$0.isEmpty } ?? "error none \(result.errors)")
  }

  init(line: Substring) {
    let parts = line.split(separator: " ", maxSplits: 1)
    (word, text) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }
}
