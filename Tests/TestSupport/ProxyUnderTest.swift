// The program under test, spawned as a user would.

package import Bytes
import FoundationEssentials
import Glibc

/// The built binary beside the test bundle: the sanitizer builds find their own.
package func binary(_ name: String = "bearer-proxy") throws -> String {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let path =
    bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + name
  guard FileManager.default.isExecutableFile(atPath: path) else {
    throw TestSupportError("no \(name) beside \(bundle)")
  }
  return path
}

/// A copy of `bearer-proxy` in `directory`, with its libraries, for users who may not enter the repository's folder.
package func publicBinary(in directory: TemporaryDirectory) async throws -> String {
  let program = try binary()
  try await succeed([testsDirectory + "/placing/public-copy", program, directory.path])
  return directory.file("bearer-proxy")
}

/// A running `bearer-proxy run`.
package struct ProxyUnderTest: Sendable {
  /// Free ports of 127.0.0.1, of which it serves callers on the first.
  package let ports: [Int]
  package var port: Int { ports[0] }
  package let adminPort: Int
  package let process: ChildProcess
  package let configuration: String
  private let environment: [String: String]

  /// Starts it with `body` (applications, routes, …) under an admin listener and, unless `body` brings its own, a
  /// listener. `:PORT`, `:PORT2` and `:PORT3` in it become its ports; the first may be chosen. `options` follow
  /// the file's name; `place` writes the text to the configuration's path, and `launcher` starts the program.
  package init(
    in directory: TemporaryDirectory? = nil, port: Int? = nil, options: [String] = [],
    environment: [String: String] = [:],
    place: (TemporaryDirectory, String) throws -> String = { try $0.write($1, to: "proxy.yaml") },
    launcher: [String] = [], _ body: String
  ) async throws {
    let directory = try directory ?? TemporaryDirectory()
    self.environment = environment
    ports = [try port ?? freePort(), try freePort(), try freePort()]
    adminPort = try freePort()
    var text = body.contains("listeners:") ? body : "listeners:\n  - address: 127.0.0.1:PORT\n" + body
    for (name, port) in zip([":PORT3", ":PORT2", ":PORT"], ports.reversed()) {
      text = text.replacing(name, with: ":\(port)")
    }
    let rule = "callers: {header: {name: \(Self.controlField), value: \(Self.controlSecret)}}"
    text = "admin: {\(rule),\n  address: \"127.0.0.1:\(adminPort)\"}\n" + text
    configuration = try place(directory, text)
    process = try ChildProcess(
      "bearer-proxy", launcher + [binary(), "run", "-c", configuration] + options, in: directory,
      environment: environment)
    ProxyLedger.current?.add(process, adminPort: adminPort)
    try await waitForPort(adminPort, of: process)
    if text.contains(":\(self.port)") { try await waitForPort(self.port, of: process) }
  }

  /// `http://127.0.0.1:PORT` with `path`.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The answer to a GET of `path`, through curl, with further `arguments` of curl's.
  package func get(_ path: String, _ arguments: [String] = []) async throws -> Answer {
    try await curl(arguments + [url(path)])
  }

  /// The field that lets a caller of the admin endpoints control, and what it holds.
  package static let controlField = "X-Admin-Key"
  package static let controlSecret = "control-of-the-proxy-under-test"

  /// The answer of the admin endpoint `path` to a caller who may control, through curl, with further `arguments` of
  /// curl's.
  package func admin(_ path: String, _ arguments: [String] = []) async throws -> Answer {
    try await curl(
      arguments + [
        "-H", "\(Self.controlField): \(Self.controlSecret)", "http://127.0.0.1:\(adminPort)\(path)",
      ])
  }

  /// The result of a command, such as `["token", "--route", "orders"]`, about its configuration and in its environment.
  package func command(_ words: [String]) async throws -> CommandResult {
    try await run([binary(), words[0], "-c", configuration] + words.dropFirst(), environment: environment)
  }

  /// Signs `person` in for what the options say; throws what `login` said if it fails.
  package func signIn(_ options: [String], _ person: SigningInPerson) async throws {
    let result = try await Login.run(configuration, options, person: person)
    if result.status != 0 { throw TestSupportError("login ended with \(result.status): \(result.errors)") }
  }

  /// A raw connection to it.
  package func connect() throws -> RawConnection { try RawConnection(port: port) }

  /// The number of its log records with a message.
  package func records(_ message: String) -> Int {
    process.errors.split(separator: "\n").count { $0.contains("\"message\":\"\(message)\"") }
  }

  /// The token that the scripted upstream of the route `orders` sees.
  package func ordersToken() async throws -> String? {
    try await get("/orders/seen").body.firstMatch(of: /Authorization: Bearer (\S+)/).map { String($0.1) }
  }

  /// Everything it wrote so far, both streams.
  package var everythingWritten: String { process.output + process.errors }

  /// Replaces its configuration, as an editor does: `change` gets the present text.
  package func reconfigure(_ change: (String) -> String) throws {
    try replaceFile(configuration, with: change(textOfFile(configuration)))
  }

  /// Its access records as decoded JSON objects, oldest first. Each event loop writes its own when it has time, so the
  /// lines need not be in that order.
  package var accessRecords: [[String: JSONValue]] {
    let all = everythingWritten.split(separator: "\n").map(members)
    let records = all.filter { $0["status"] != nil && $0["method"] != nil }.map { ($0["time"]?.text ?? "", $0) }
    return records.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element.1)
  }
}
