// The peers written in Python: the OpenID provider (Authlib) and the upstream that misbehaves to order (http.server).

import FoundationEssentials

/// The directory of the tests, from this file's own place in the tree.
package let testsDirectory: String = {
  var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
  parts.removeLast(2)
  return parts.joined(separator: "/")
}()

/// The Python of the pinned environment that Tests/run makes.
package func pinnedPython() throws -> String {
  let path = testsDirectory + "/../.venv/bin/python"
  guard FileManager.default.isExecutableFile(atPath: path) else {
    throw TestSupportError("no Python environment in .venv: Tests/run makes it")
  }
  return path
}

/// The port of the line `listening PORT` that a peer of ours prints when it is ready.
package func announcedPort(of process: ChildProcess) async throws -> Int {
  var port: Int?
  _ = try await eventually {
    if let status = process.poll() {
      throw TestSupportError("\(process.name) ended with \(status): \(process.errors)")
    }
    // The last line: one that was started again announces itself again.
    port = process.output.split(separator: "\n").last { $0.hasPrefix("listening ") }.flatMap { Int($0.dropFirst(10)) }
    return port != nil
  }
  guard let port else { throw TestSupportError("\(process.name) announced no port: \(process.errors)") }
  return port
}

/// A third-party OpenID provider: Authlib authenticates the client, judges grant and scope, and signs.
package struct OpenIDProvider: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process.
  package let process: ChildProcess
  /// The issuer, as configuration names it.
  package let issuer: String
  /// The client id it knows.
  package static let client = "orders-app"
  /// The client's secret. A test searches everything the proxy wrote for it.
  package static let secret = "s3cret+with/odd=characters&more"

  /// Starts it; `arguments` are further options of Tests/peers/openid_provider.py.
  package init(
    in directory: TemporaryDirectory, port: Int = 0, https certificate: CertificateAuthority.Certificate? = nil,
    name: String = "127.0.0.1", _ arguments: [String] = []
  )
    async throws
  {
    let tls = certificate.map { ["--certificate", $0.certificateFile, "--key", $0.keyFile] } ?? []
    process = try ChildProcess(
      "provider-\(UUID().uuidString.prefix(4))",
      [
        pinnedPython(), testsDirectory + "/peers/openid_provider.py", "--port", "\(port)", "--name", name,
        "--client", "\(Self.client):\(Self.secret)",
      ] + tls + arguments, in: directory)
    self.port = try await announcedPort(of: process)
    issuer = "http\(certificate == nil ? "" : "s")://\(name):\(self.port)"
  }

  /// The number of requests to its `endpoint` (`discovery`, `token`, `jwks`, `authorize`), and of refresh tokens that
  /// were `rotated`, `reused` and `foreign`; of a realm, if one is named.
  package func requests(to endpoint: String, realm: String? = nil) async throws -> Int {
    let answer = try await curl(["-k", issuer(ofRealm: realm) + "/testing/requests"])
    return try JSONDecoder().decode([String: Int].self, from: Data(answer.body.utf8))[endpoint] ?? 0
  }

  /// The issuer of one of its realms.
  package func issuer(ofRealm realm: String?) -> String { realm.map { "\(issuer)/realms/\($0)" } ?? issuer }

  /// The received values that it has repeated so far, in each spelling.
  package func repeated() async throws -> [String] {
    let answer = try await curl(["-k", issuer + "/testing/repeated"])
    return try JSONDecoder().decode([String].self, from: Data(answer.body.utf8))
  }

  /// Makes it misbehave as `json` says (see openid_provider.py), or behave again with `{}`; one of its realms, if
  /// one is named.
  package func behave(_ json: String, realm: String? = nil) async throws {
    let answer = try await curl([
      "-k", "-H", "Content-Type: application/json", "-d", json, issuer(ofRealm: realm) + "/testing/behaviour",
    ])
    guard answer.status == 204 else { throw TestSupportError("the provider answered \(answer.status)") }
  }
}

/// An upstream that does to order what nginx cannot be made to do; see Tests/peers/scripted_upstream.py.
package struct ScriptedUpstream: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process; each request it reads is a line of its output.
  package let process: ChildProcess

  /// Starts it.
  package init(in directory: TemporaryDirectory) async throws {
    process = try ChildProcess(
      "scripted-upstream", [pinnedPython(), testsDirectory + "/peers/scripted_upstream.py"], in: directory)
    port = try await announcedPort(of: process)
  }

  /// The request lines it has read so far, oldest first.
  package var requests: [String] {
    process.output.split(separator: "\n").filter { $0.hasPrefix("request ") }.map { String($0.dropFirst(8)) }
  }
}

/// A provider that repeats what it is sent; see Tests/peers/echoing_provider.py.
package struct EchoingProvider: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process.
  package let process: ChildProcess

  /// Starts it.
  package init(in directory: TemporaryDirectory) async throws {
    process = try ChildProcess(
      "echoing-provider", [pinnedPython(), testsDirectory + "/peers/echoing_provider.py"], in: directory)
    port = try await announcedPort(of: process)
  }

  /// The names of the spellings that it knows.
  package func forms() async throws -> [String] { try await texts("/testing/forms") }

  /// The spellings of received values that it has repeated so far.
  package func repeated() async throws -> [String] { try await texts("/testing/repeated") }

  private func texts(_ path: String) async throws -> [String] {
    let answer = try await curl(["http://127.0.0.1:\(port)\(path)"])
    return try JSONDecoder().decode([String].self, from: Data(answer.body.utf8))
  }
}

/// An upstream that authenticates connections instead of requests; see Tests/peers/connection_upstream.py.
package struct ConnectionUpstream: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process.
  package let process: ChildProcess

  /// Starts it.
  package init(in directory: TemporaryDirectory) async throws {
    process = try ChildProcess(
      "connection-upstream", [pinnedPython(), testsDirectory + "/peers/connection_upstream.py"], in: directory)
    port = try await announcedPort(of: process)
  }

  /// A line for each request: the number of its connection, whom that was authenticated for before, and the request's
  /// line.
  package var requests: [String] {
    process.output.split(separator: "\n").filter { !$0.hasPrefix("listening ") }.map(String.init)
  }
}

/// A server of WebSockets; see Tests/peers/websocket_peer.py.
package struct WebSocketServer: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process; each connection that ends is a line of its output.
  package let process: ChildProcess

  /// Starts it in a mode.
  package init(_ mode: String, in directory: TemporaryDirectory) async throws {
    process = try ChildProcess(
      "websocket-server", [pinnedPython(), testsDirectory + "/peers/websocket_peer.py", mode], in: directory)
    port = try await announcedPort(of: process)
  }
}

/// An outbound proxy that alone knows names; see Tests/peers/connect_proxy.py.
package struct OutboundProxy: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process.
  package let process: ChildProcess

  /// Starts it.
  package init(in directory: TemporaryDirectory, _ arguments: [String] = []) async throws {
    process = try ChildProcess(
      "outbound-proxy-\(UUID().uuidString.prefix(4))",
      [pinnedPython(), testsDirectory + "/peers/connect_proxy.py"] + arguments, in: directory)
    port = try await announcedPort(of: process)
  }

  /// The requests so far: method, authority, and the credential it was shown.
  package var requests: [String] {
    process.output.split(separator: "\n").filter { !$0.hasPrefix("listening ") }.map(String.init)
  }
}

/// Two authorization servers, of which one exchanges tokens; see Tests/peers/exchange_provider.py.
package struct ExchangeProvider: Sendable {
  /// The process.
  package let process: ChildProcess
  private let port: Int
  /// The application that may exchange.
  package static let client = "orders-app"
  /// Its secret.
  package static let secret = "s3cret-of-the-exchange"
  /// The one that calls it.
  package static let caller = "front"
  private static let callerSecret = "s3cret-of-the-front"

  /// Starts it.
  package init(in directory: TemporaryDirectory) async throws {
    process = try ChildProcess(
      "exchange-provider",
      [
        pinnedPython(), testsDirectory + "/peers/exchange_provider.py", "--client", "\(Self.client):\(Self.secret)",
        "--caller", "\(Self.caller):\(Self.callerSecret)",
      ], in: directory)
    port = try await announcedPort(of: process)
  }

  /// The issuer of a realm: `enterprise` or `resource`.
  package func issuer(_ realm: String) -> String { "http://127.0.0.1:\(port)/realms/\(realm)" }

  /// A token with which the caller may call the application.
  package func callersToken() async throws -> String {
    struct Reply: Decodable { var access_token: String }
    let answer = try await curl([
      "-u", "\(Self.caller):\(Self.callerSecret)", "-d", "grant_type=client_credentials&scope=proxy.call",
      issuer("enterprise") + "/token",
    ])
    return try JSONDecoder().decode(Reply.self, from: Data(answer.body.utf8)).access_token
  }

  /// The token requests of a realm so far, each as JSON text without its secrets.
  package func forms(_ realm: String) async throws -> [String] {
    let answer = try await curl([issuer(realm) + "/testing/forms"])
    // One object for each, and objects hold no objects.
    return answer.body.split(separator: "{").dropFirst().map(String.init)
  }

  /// Makes the enterprise behave as `json` says.
  package func behave(_ json: String) async throws {
    let answer = try await curl([
      "-H", "Content-Type: application/json", "-d", json, issuer("enterprise") + "/testing/behaviour",
    ])
    guard answer.status == 204 else { throw TestSupportError("the provider answered \(answer.status)") }
  }
}
