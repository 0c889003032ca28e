// The log of continued trouble, the request of each record, and the output of access records.

import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LoggingTests {
  private func records(_ text: String, _ message: String) -> [[String: JSONValue]] {
    text.split(separator: "\n").compactMap { line in
      let record = members(line)
      return record["message"] == .string(message) ? record : nil
    }
  }

  @Test func `the first record says what runs: version, commit, configuration, addresses, cache`() async throws {
    let scene = try await ScriptedScene(top: "cache: {file: cache.json}")
    #expect(try await eventually { scene.proxy.process.errors.contains("\n") })
    let first = try #require(scene.proxy.process.errors.split(separator: "\n").first)
    let record = members(first)
    #expect(record["message"] == .string("starting") && record["level"] == .string("info"))
    let version = try await run([binary(), "version"]).output.split { " ()\n".contains($0) }.map(String.init)
    #expect(record["version"] == .string(version[1]))
    // The commit is known to programs that deploy/release has built, which show twelve digits of it.
    if case .string(let commit)? = record["commit"] {
      #expect(version.count == 3 && commit.hasPrefix(version[2]))
    } else {
      #expect(version.count == 2)
    }
    #expect(record["configuration"] == .string(scene.proxy.configuration))
    #expect(record["listeners"] == .string("127.0.0.1:\(scene.proxy.port)"))
    #expect(record["admin"] == .string("127.0.0.1:\(scene.proxy.adminPort)"))
    #expect(record["cache"] == .string(scene.directory.file("cache.json")))
  }

  @Test func `check's warnings are logged at the start and at a reload`() async throws {
    let scene = try await ScriptedScene(
      top: """
        applications:
          app: {authority: "https://id.example/realm", client_id: 00000000-0000-0000-0000-000000000000}
        """)
    func warnings() async throws -> [String] {
      let checked = try await scene.proxy.command(["check"])
      return checked.output.split(separator: "\n").map(String.init).filter { $0.contains(": warning: ") }
    }
    func logged() -> [String] {
      records(scene.proxy.process.errors, "a setting is allowed, and probably a mistake").compactMap { record in
        if case .string(let reason)? = record["reason"] { reason } else { nil }
      }
    }
    let first = try await warnings()
    #expect(first.count == 1 && first[0].contains("client_id is a placeholder"), "\(first)")
    #expect(try await eventually { logged() == first })
    try scene.proxy.reconfigure {
      $0.replacing("https://id.example/realm", with: "https://id.example/YOUR-REALM").replacing(
        "00000000-", with: "1a-")
    }
    let second = try await warnings()
    #expect(second.count == 1 && second[0].contains("contains a placeholder"), "\(second)")
    #expect(try await eventually { logged() == first + second })
  }

  @Test func `access records name the account by choice, in plain or hashed`() async throws {
    let scene = try await DeskScene()
    func records(_ identities: String) async throws -> [String: JSONValue] {
      let proxy = try await scene.proxy(top: identities.isEmpty ? "" : "log: {identities: \(identities)}")
      if identities.isEmpty { try await scene.signIn(proxy) }
      #expect(try await eventually { try await proxy.get("/orders/x").status == 200 })
      #expect(try await eventually { proxy.accessRecords.contains { $0["status"] == .integer(200) } })
      let record = proxy.accessRecords.first { $0["status"] == .integer(200) } ?? [:]
      #expect(record["credential"] == .string("account"))
      return record
    }
    #expect(try await records("")["account"] == nil)
    #expect(try await records("plain")["account"] == .string("alice@contoso.example"))
    let digest = try await succeed(["sh", "-c", "printf %s alice@contoso.example | sha256sum | cut -d' ' -f1"])
    #expect(try await records("hashed")["account"] == .string(digest.filter { $0 != "\n" }))
  }

  @Test func `the level changes while the proxy runs, until the configuration is read again`() async throws {
    let scene = try await ScriptedScene(top: "log: {level: warning}")
    func level() async throws -> String { try await scene.proxy.admin("/log").body }
    func post(_ path: String, _ arguments: [String] = []) async throws -> Answer {
      try await scene.proxy.admin(path, ["-X", "POST"] + arguments)
    }
    #expect(try await level() == "warning\n")
    // As with every change, no link, no prefetching and no other site's page.
    #expect(try await scene.proxy.admin("/log?level=debug").body == "warning\n")
    #expect(try await post("/log?level=debug", ["-H", "Sec-Fetch-Site: cross-site"]).status == 403)
    for wrong in ["", "?level=", "?level=loud"] { #expect(try await post("/log" + wrong).status == 400) }
    #expect(try await level() == "warning\n" && !scene.proxy.process.errors.contains("log level changed"))
    #expect(try await post("/log?level=info").body == "info\n")
    #expect(try await eventually { !records(scene.proxy.process.errors, "log level changed").isEmpty })
    scene.proxy.process.send(SIGHUP)
    #expect(try await eventually { try await level() == "warning\n" })
  }

  @Test func `access records go to a file, and on in a new one after it was moved`() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.file("logs"), 0o700)
    let scene = try await ScriptedScene(top: "log: {access_file: \(directory.file("logs/access.log"))}")
    let proxy = scene.proxy
    func paths(_ file: String) -> [String] {
      directory.read("logs/\(file)").split(separator: "\n").compactMap { line in
        let record = members(line)
        guard case .string(let path)? = record["path"] else { return nil }
        return path
      }
    }
    _ = try await proxy.get("/one")
    #expect(try await eventually { paths("access.log") == ["/one"] })
    let mode = try FileManager.default.attributesOfItem(atPath: directory.file("logs/access.log"))[.posixPermissions]
    #expect((mode as? Int).map { $0 & 0o007 } == 0)

    // As logrotate does with a postrotate script.
    rename(directory.file("logs/access.log"), directory.file("logs/access.log.1"))
    proxy.process.send(SIGUSR1)
    #expect(try await eventually { !records(proxy.process.errors, "access log opened again").isEmpty })
    _ = try await proxy.get("/two")
    #expect(try await eventually { paths("access.log") == ["/two"] })

    // And without one: the move is noticed.
    rename(directory.file("logs/access.log"), directory.file("logs/access.log.2"))
    #expect(
      try await eventually {
        FileManager.default.fileExists(atPath: directory.file("logs/access.log"))
      })
    _ = try await proxy.get("/three")
    #expect(try await eventually { paths("access.log") == ["/three"] })
    #expect(paths("access.log.1") == ["/one"] && paths("access.log.2") == ["/two"])
    #expect(proxy.process.output == "")
  }

  @Test func `a file that cannot be written is a mistake in its place, at the start and at a reload`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    func text(_ log: String) -> String {
      """
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
      log: {\(log)}
      """
    }
    let file = try directory.write(
      "listeners: [{address: 127.0.0.1:0}]\n" + text("access_file: /no/such/directory/x.log"), to: "wrong.yaml")
    let start = try await run([try binary(), "run", "-c", file])
    #expect(start.status == 2)
    #expect(
      start.errors.contains(
        "\(file):3:20: error: log.access_file: cannot write access records to /no/such/directory/x.log: "))
    // Level and format follow a reload.
    let proxy = try await ProxyUnderTest(in: directory, text("level: error"))
    #expect(proxy.process.errors == "")
    let changed = directory.read("proxy.yaml").replacing("level: error", with: "level: debug, format: text")
    try directory.write(changed, to: "proxy.yaml")
    #expect(try await eventually { proxy.process.errors.contains(" info configuration reloaded generation=2") })
    try directory.write(
      changed.replacing("format: text", with: "format: text, access_file: /no/such/directory/x.log"), to: "proxy.yaml")
    #expect(
      try await eventually {
        proxy.process.errors.contains("configuration not reloaded") && proxy.process.errors.contains("log.access_file")
      })
    #expect(try await proxy.get("/seen").status == 200)
  }
}
