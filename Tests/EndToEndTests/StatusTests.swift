// The state of a running instance: `/status`, `status`, `/config`.

import Bytes
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct StatusTests {
  private func status(_ configuration: String, _ options: [String] = []) async throws -> CommandResult {
    try await run([try binary(), "status", "-c", configuration] + options)
  }

  @Test func `each route has one line with its state and the next step`() async throws {
    let provider = try await OpenIDProvider()
    let upstream = try await PythonPeer("scripted_upstream.py")
    let dead = try freePort()
    let proxy = try await ProxyUnderTest(
      """
      applications:
        contoso: {authority: "\(provider.issuer)", client_id: \(OpenIDProvider.client), client_secret: \
      "\(OpenIDProvider.secret)"}
        away: {authority: "http://127.0.0.1:\(dead)", client_id: x, client_secret: y-of-the-away-application}
      routes:
      \(route("orders", to: upstream.port))
        - {name: stock, path: /stock/, upstream: "http://127.0.0.1:\(upstream.port)/", application: away,
           token: {as: application, scopes: [a.b]}}
        - {name: mail, path: /mail/, upstream: "http://127.0.0.1:\(upstream.port)/", application: contoso,
           token: {account: alice@contoso.example, scopes: [mail.read]}}
        - {name: open, path: /open/, upstream: "http://127.0.0.1:\(dead)/", token: none}
      """)
    _ = try await proxy.get("/open/x")
    var text = ""
    _ = try await eventually {
      text = try await proxy.admin("/status").body
      return text.contains("ready, token for") && text.contains("provider down")
    }
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count == 6)
    #expect(lines[0].hasPrefix("not ready: bearer-proxy "))
    #expect(lines[1].hasPrefix("orders   ready, token for "))
    #expect(
      lines[2].hasPrefix("stock    provider down since ")
        && lines[2].contains("127.0.0.1 port \(dead) accepted no connection"))
    #expect(
      lines[3]
        == "mail     needs a sign-in of alice@contoso.example: no account is signed in; set 'cache: {file: PATH}' and "
        + "restart, then sign in with 'bearer-proxy login'")
    #expect(lines[4].hasPrefix("open     upstream failing since ") && lines[4].hasSuffix("Connection refused"))
    #expect(lines[5] == "(cache)  in memory")

    // The command says the same, and that the instance is not ready.
    let told = try await status(proxy.configuration)
    #expect(told.status == 1)
    #expect(told.output.contains("\n" + lines[3] + "\n") && told.errors == "")
    let json = try await status(proxy.configuration, ["--json"])
    let report = members(json.output)
    guard case .array(let states) = report["routes"] else { throw TestSupportError(json.output) }
    let expected = ["ready", "provider_down", "sign_in_needed", "upstream_failing"]
    #expect(states.map { $0.members?["state"]?.text } == expected)
    #expect(report["ready"] == .bool(false) && report["version"]?.text?.contains(".") == true)
    #expect(report["cache"]?.members?["kind"]?.text == "memory")
  }

  @Test func `an instance is found at a unix socket, and one that cannot be found is said to be so`() async throws {
    let directory = try TemporaryDirectory()
    let port = try freePort()
    func file(_ admin: String, _ name: String) throws -> String {
      try directory.write(
        """
        listeners: [{address: "127.0.0.1:\(port)"}]
        \(admin)
        routes: [{name: r, path: /, upstream: "http://127.0.0.1:1/", token: none}]
        """, to: name)
    }
    let socket = try file("admin: {address: \"unix:\(directory.file("admin.sock"))\"}", "socket.yaml")
    let proxy = try ChildProcess("bearer-proxy", [binary(), "run", "-c", socket], in: directory)
    #expect(try await status(socket, ["--wait"]).output.hasPrefix("ready: bearer-proxy "))
    try await proxy.stop()
    let none = try await status(file("", "none.yaml"))
    #expect(none.status == 2 && none.errors.contains("has no 'admin' section"))
    let chosen = try await status(file("admin: {address: 127.0.0.1:0}", "chosen.yaml"))
    #expect(chosen.status == 2 && chosen.errors.contains("chosen by the system"))
  }

  @Test func `a running instance is found when its file has mistakes or names another admin address`() async throws {
    let directory = try TemporaryDirectory()
    let (port, admin, other) = (try freePort(), try freePort(), try freePort())
    func write(_ admin: String, _ more: String = "") throws {
      try directory.write(
        """
        listeners: [{address: "127.0.0.1:\(port)"}]
        \(admin)
        routes: [{name: r, path: /, upstream: "http://127.0.0.1:1/", token: none\(more)}]
        """, to: "proxy.yaml")
    }
    let file = directory.file("proxy.yaml")
    let environment = ["XDG_RUNTIME_DIR": directory.path]
    func asked() async throws -> CommandResult {
      try await run([try binary(), "status", "-c", file, "--wait"], environment: environment)
    }
    try write("admin: {address: \"127.0.0.1:\(admin)\"}")
    let proxy = try ChildProcess(
      "bearer-proxy", [binary(), "run", "-c", file], in: directory, environment: environment)
    let healthy = try await asked()
    #expect(healthy.status == 0 && healthy.errors == "" && healthy.output.hasPrefix("ready: "))

    try write("admin: {address: \"127.0.0.1:\(admin)\"}", ", timeout: 3s")
    let broken = try await asked()
    #expect(broken.status == 0 && broken.output.hasPrefix("ready: "))
    #expect(broken.errors.contains("proxy.yaml:3:") && broken.errors.contains("its next start would fail"))

    for admin in ["admin: {address: \"127.0.0.1:\(other)\"}", ""] {
      try write(admin)
      let moved = try await asked()
      #expect(moved.status == 0 && moved.output.hasPrefix("ready: "), "\(moved)")
      #expect(moved.errors.contains(":\(other): that needs a restart") == !admin.isEmpty)
    }
    try await proxy.stop()
    // The record went with the process.
    let after = try await run([try binary(), "status", "-c", file], environment: environment)
    #expect(after.status == 2 && after.errors.contains("has no 'admin' section"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("bearer-proxy")).isEmpty)
    // A port that the system chose is known by it, too.
    try write("admin: {address: \"127.0.0.1:0\"}")
    let chosen = try ChildProcess(
      "bearer-proxy", [binary(), "run", "-c", file], in: directory, environment: environment)
    #expect(try await eventually { try await asked().status == 0 })
    try await chosen.stop()
  }

  @Test func `a listener's certificate that has ended is reported everywhere`() async throws {
    let directory = try TemporaryDirectory()
    let certificates = testsDirectory + "/Fixtures/certificates"
    let (port, admin) = (try freePort(), try freePort())
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let file = try directory.write(
      """
      listeners:
        - address: "127.0.0.1:\(port)"
          tls: {certificate_file: \(certificates)/expired.pem, key_file: \(certificates)/ec.key}
      admin: {address: "127.0.0.1:\(admin)"}
      allow_readable_secrets: true
      routes: [{name: r, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
      """, to: "proxy.yaml")
    let checked = try await run([try binary(), "check", "-c", file])
    #expect(checked.status == 0)
    #expect(checked.output.contains(":3:") && checked.output.contains("the certificate ended "), "\(checked)")
    let tried = try await run([try binary(), "check", "-c", file, "--live"])
    #expect(tried.status == 1)
    #expect(tried.output.contains("certificates\n  FAILED  certificate") && tried.output.contains("does not work"))
    let proxy = try ChildProcess("bearer-proxy", [binary(), "run", "-c", file], in: directory)
    let text = try await status(file, ["--wait"]).output
    #expect(text.contains("(certificate of listener 127.0.0.1:\(port))  ended since "), "\(text)")
    let metrics = try await curl(["http://127.0.0.1:\(admin)/metrics"]).body
    #expect(
      metrics.contains("bearer_proxy_certificate_expiry_seconds{certificate=\"listener 127.0.0.1:\(port)\"} -"))
    #expect(
      try await eventually { proxy.errors.contains(#""level":"error""#) && proxy.errors.contains("has ended") },
      "\(proxy.errors)")
    try await proxy.stop()
  }

  @Test func `the certificates for the collector of traces are watched, too`() async throws {
    let directory = try TemporaryDirectory()
    let certificates = testsDirectory + "/Fixtures/certificates"
    let ended = certificates + "/expired.pem"
    let environment = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "https://127.0.0.1:\(try freePort())",
      "OTEL_EXPORTER_OTLP_CERTIFICATE": try directory.write(textOfFile(ended), to: "authority.pem"),
      "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": ended,
      "OTEL_EXPORTER_OTLP_CLIENT_KEY": certificates + "/ec.key",
    ]
    let proxy = try await ProxyUnderTest(
      in: directory, environment: environment,
      "routes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: none}]")
    let checked = try await proxy.command(["check"])
    #expect(checked.status == 0)
    for variable in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"] {
      #expect(
        checked.output.contains("environment: warning: \(variable): the certificate ended "), "\(checked)")
    }
    let (status, metrics) = (try await proxy.admin("/status").body, try await proxy.admin("/metrics").body)
    for file in [directory.file("authority.pem"), ended] {
      let row = status.split(separator: "\n").first { $0.hasPrefix("(certificate of collector \(file)) ") }
      #expect(row?.contains("  ended since ") == true, "\(status)")
      #expect(metrics.contains("bearer_proxy_certificate_expiry_seconds{certificate=\"collector \(file)\"} -"))
    }
    #expect(
      try await eventually {
        proxy.process.errors.split(separator: "\n").count { $0.contains("a certificate has ended") } == 2
      })
    #expect(proxy.process.errors.contains("restart the proxy"))
    // Without TLS they are not used.
    var plain = environment
    plain["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:4318"
    let quiet = try await run([try binary(), "check", "-c", proxy.configuration], environment: plain)
    #expect(quiet.status == 0 && !quiet.output.contains("ended"), "\(quiet)")
    try await proxy.process.stop()
  }

  @Test func `the configuration in force is shown with its sources and without its secrets`() async throws {
    let proxy = try await ProxyUnderTest(
      options: ["--log-level", "warning"],
      environment: ["BEARER_PROXY_LOG_FORMAT": "text", "PROVIDER_PORT": "\(try freePort())"],
      application("http://127.0.0.1:${PROVIDER_PORT}") + "routes:\n" + route("orders", to: 1))
    let text = try await proxy.admin("/config").body
    func source(_ key: String) -> String? {
      text.split(separator: "\n").first { $0.hasPrefix(key + ":") }.flatMap { line in
        line.split(separator: "#").last.map { String($0.dropFirst()) }
      }
    }
    #expect(source("log.level") == "--log-level" && source("log.format") == "environment BEARER_PROXY_LOG_FORMAT")
    #expect(source("log.access") == "default" && source("admin.address") == "\(proxy.configuration):2:12")
    #expect(source("applications.contoso.authority")?.hasSuffix(", environment PROVIDER_PORT") == true)
    #expect(text.contains("applications.contoso.client_secret: [secret] ") && !text.contains(OpenIDProvider.secret))
    let json = try await proxy.admin("/config?format=json")
    #expect(json["content-type"] == "application/json")
    guard case .array(let values) = json.json["values"] else { throw TestSupportError(json.body) }
    #expect(values.count == text.split(separator: "\n").count && json.json["file"]?.text == proxy.configuration)
    #expect(values.contains(JSONValue(["key": "log.level", "value": "warning", "source": "--log-level"])))
  }
}
