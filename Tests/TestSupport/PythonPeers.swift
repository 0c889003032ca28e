// The peers written in Python, below Tests/peers.

import Bytes
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

/// The command that runs a script of Tests/peers with these arguments.
package func peer(_ script: String, _ arguments: [String] = []) throws -> [String] {
  [try pinnedPython(), "\(testsDirectory)/peers/\(script)"] + arguments
}

/// The command that runs a script for connections of `http2_cases.py`, of which everything is imported.
package func http2Script(_ script: String, _ arguments: [String]) throws -> [String] {
  let imports = "import sys, time\nsys.path.insert(0, '\(testsDirectory)/peers')\nfrom http2_cases import *\n"
  return [try pinnedPython(), "-c", imports + script] + arguments
}

/// A process of Tests/peers that listens: `scripted_upstream.py` is an upstream that does to order what nginx cannot be
/// made to do.
package struct PythonPeer: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process; what it gets is on its output.
  package let process: ChildProcess

  /// Starts `script` with `arguments`.
  package init(_ script: String, _ arguments: [String] = [], in directory: TemporaryDirectory? = nil) async throws {
    process = try ChildProcess(
      "\(script)-\(UUID().uuidString.prefix(4))", peer(script, arguments), in: directory)
    port = try await announcedPort(of: process)
  }

  /// The rest of each line of its output that begins with this word.
  package func lines(_ word: String) -> [String] {
    process.output.split(separator: "\n").filter { $0.hasPrefix(word + " ") }.map {
      String($0.dropFirst(word.count + 1))
    }
  }

  /// The requests so far, oldest first, as the script tells them.
  package var requests: [String] { lines("request") }
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
  package let process: ChildProcess
  package let issuer: String
  package static let client = "orders-app"
  /// The client's secret. A test searches everything the proxy wrote for it.
  package static let secret = "s3cret+with/odd=characters&more"
  package static let person = "ann@id.example"
  package static let password = "kettle-harbour-7"
  /// Options for a public client `desk` of the person's.
  package static let desk = ["--client", "desk:", "--person", "\(person):\(password)"]

  /// The person, who trusts the authority in a file.
  package static func ann(trust: String? = nil) -> SigningInPerson {
    SigningInPerson(user: person, password: password, trust: trust)
  }

  /// Starts it; `arguments` are further options of Tests/peers/openid_provider.py.
  package init(
    in directory: TemporaryDirectory? = nil, port: Int = 0, https certificate: CertificateAuthority.Certificate? = nil,
    name: String = "127.0.0.1", _ arguments: [String] = []
  ) async throws {
    let own = ["--port", "\(port)", "--name", name, "--client", "\(Self.client):\(Self.secret)"]
    let peer = try await PythonPeer(
      "openid_provider.py", own + (certificate?.options ?? []) + arguments, in: directory)
    (self.port, process) = (peer.port, peer.process)
    issuer = "http\(certificate == nil ? "" : "s")://\(name):\(self.port)"
  }

  /// The number of requests to its `endpoint` (`discovery`, `token`, `jwks`, `authorize`), and of refresh tokens that
  /// were `rotated`, `reused` and `foreign`; of a realm, if one is named.
  package func requests(to endpoint: String, realm: String? = nil) async throws -> Int {
    let answer = try await curl(["-k", issuer(ofRealm: realm) + "/testing/requests"])
    return answer.json[endpoint]?.seconds.map { Int($0) } ?? 0
  }

  package func issuer(ofRealm realm: String?) -> String { realm.map { "\(issuer)/realms/\($0)" } ?? issuer }

  /// The received values that it has repeated so far, in each spelling.
  package func repeated() async throws -> [String] {
    let answer = try await curl(["-k", issuer + "/testing/repeated"])
    return JSONValue(json: Array(answer.body.utf8))?.texts ?? []
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

/// Two authorization servers, of which one exchanges tokens; see Tests/peers/exchange_provider.py.
package struct ExchangeProvider: Sendable {
  private let peer: PythonPeer
  package static let client = "orders-app"
  package static let secret = "s3cret-of-the-exchange"
  /// The one that calls it.
  package static let caller = "front"
  private static let callerSecret = "s3cret-of-the-front"

  package init(in directory: TemporaryDirectory? = nil) async throws {
    peer = try await PythonPeer(
      "exchange_provider.py",
      ["--client", "\(Self.client):\(Self.secret)", "--caller", "\(Self.caller):\(Self.callerSecret)"], in: directory)
  }

  /// The issuer of a realm: `enterprise` or `resource`.
  package func issuer(_ realm: String) -> String { "http://127.0.0.1:\(peer.port)/realms/\(realm)" }

  /// A token with which the caller may call the application.
  package func callersToken() async throws -> String {
    let answer = try await curl([
      "-u", "\(Self.caller):\(Self.callerSecret)", "-d", "grant_type=client_credentials&scope=proxy.call",
      issuer("enterprise") + "/token",
    ])
    guard let token = answer.json["access_token"]?.text else { throw TestSupportError(answer.body) }
    return token
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
