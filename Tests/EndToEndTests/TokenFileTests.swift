// Token files, with Prometheus as the program that reads one.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(4)))
struct TokenFileTests {
  private let directory: TemporaryDirectory
  private let memory: Memory
  private let upstream: PythonPeer

  /// A directory in memory, which ends with the test.
  private final class Memory: Sendable {
    let path: String

    init() throws {
      var name = Array("/dev/shm/bearer-proxy-XXXXXX".utf8CString)
      guard let made = mkdtemp(&name) else { throw TestSupportError("no directory in /dev/shm") }
      path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var file: String { path + "/token" }
    var isThere: Bool { access(file, F_OK) == 0 }
    var text: String { textOfFile(file) }
    var mode: UInt32 { status.st_mode & 0o777 }
    var group: UInt32 { status.st_gid }
    private var status: stat {
      var status = stat()
      stat(file, &status)
      return status
    }
  }

  init() async throws {
    (directory, memory) = (try TemporaryDirectory(), try Memory())
    upstream = try await PythonPeer("scripted_upstream.py", in: directory)
  }

  private func proxy(_ provider: OpenIDProvider, _ more: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      application(provider.issuer) + "cache: {memory: true}\nroutes:\n" + route("orders", to: upstream.port)
        + "    token_file: {path: \(memory.file)\(more)}\n")
  }

  @Test func `prometheus: it scrapes with a token that the proxy renews, and the file ends with the proxy`()
    async throws
  {
    let provider = try await OpenIDProvider(in: directory, ["--expires-in", "12"])
    let (api, port) = (try freePort(), try freePort())
    let nginx = try await TestSupport.nginx(
      serving: """
        server {
          listen 127.0.0.1:\(api);
          default_type text/plain;
          if ($http_authorization !~ "^Bearer ey.+$") { return 401 "who?"; }
          location /metrics { return 200 "orders 7\\n"; }
        }
        """, at: api, in: directory)
    let secret = try directory.write(OpenIDProvider.secret, to: "secret")
    chmod(secret, 0o600)
    let recipe = try recipe(
      "prometheus",
      [
        ("https://orders.example/", "http://127.0.0.1:\(api)/"),
        ("https://login.microsoftonline.com/contoso.onmicrosoft.com", provider.issuer),
        ("00000000-0000-0000-0000-000000000000", OpenIDProvider.client),
        ("/etc/bearer-proxy/secrets/monitoring", secret), ("\"api://orders/.default\"", "orders.read"),
        ("path: /run/bearer-proxy/orders.token, gid: 117", "path: \(memory.file), gid: \(getegid()), least_life: 1s"),
      ])
    let proxy = try await ProxyUnderTest(in: directory, recipe + "cache: {memory: true}\n")
    let scrape = try directory.write(
      """
      global: {scrape_interval: 1s}
      scrape_configs:
        - job_name: orders
          authorization: {credentials_file: \(memory.file)}
          static_configs: [{targets: ["127.0.0.1:\(api)"]}]
        - job_name: without
          static_configs: [{targets: ["127.0.0.1:\(api)"]}]
      """, to: "prometheus.yml")
    let prometheus = try ChildProcess(
      "prometheus",
      [
        "prometheus", "--config.file", scrape, "--web.listen-address", "127.0.0.1:\(port)", "--storage.tsdb.path",
        directory.file("tsdb"),
      ], in: directory)
    func up(_ job: String) async throws -> String? {
      let answer = try await curl([
        "-G", "--data-urlencode", "query=up{job=\"\(job)\"}", "http://127.0.0.1:\(port)/api/v1/query",
      ])
      return answer.body.firstMatch(of: /,"([01])"\]/).map { String($0.1) }
    }
    try await waitForPort(port, of: prometheus)
    #expect(try await eventually { try await up("orders") == "1" })
    #expect(try await eventually { try await up("without") == "0" })
    #expect(memory.mode == 0o640)
    let first = memory.text
    #expect(first.hasPrefix("ey") && !first.hasSuffix("\n"))
    // A new token, in time: no scrape fails meanwhile.
    #expect(try await eventually { memory.text != first && !memory.text.isEmpty })
    #expect(try await up("orders") == "1")
    #expect(try await metricSum(proxy, "bearer_proxy_token_file_writes_total", #"outcome="written""#) >= 2)
    #expect(try await metricSum(proxy, "bearer_proxy_tokens_handed_out_total", #"program="file",route="orders""#) >= 2)
    #expect(try await metricSum(proxy, "bearer_proxy_token_file_expiry_seconds", "orders") > 0)
    #expect(try await proxy.admin("/status").body.contains("; in \(memory.file)\n"))
    #expect(try await proxy.admin("/status?format=json").body.contains("\"token_file\":{\"expires_on\":"))
    #expect(try await proxy.process.end() == 0)
    #expect(!memory.isThere)
    #expect(try await eventually { try await up("orders") == "0" })
    // The next process writes the file, and Prometheus goes on by itself.
    let next = try ChildProcess("bearer-proxy", [binary(), "run", "-c", proxy.configuration], in: directory)
    #expect(try await eventually { try await up("orders") == "1" }, "\(next.errors)")
    #expect(memory.mode == 0o640 && memory.text != first)
    try await prometheus.stop()
    #expect(try await next.end() == 0)
    #expect(!memory.isThere)
    _ = nginx
  }

  @Test func `a file is removed when its token ends and the provider is away`() async throws {
    let provider = try await OpenIDProvider(in: directory, ["--expires-in", "6"])
    let proxy = try await proxy(provider, ", least_life: 1s")
    #expect(try await eventually { memory.isThere })
    #expect(memory.mode == 0o600)
    provider.process.send(SIGKILL)
    #expect(try await eventually { !memory.isThere })
    #expect(try await proxy.admin("/status").body.contains("; \(memory.file) is removed\n"))
  }

  @Test func `a group may read it, a reload takes it away, and a failed write is told and tried again`() async throws {
    let provider = try await OpenIDProvider(in: directory)
    let group = getegid()
    let proxy = try await proxy(provider, ", gid: \(group)")
    #expect(try await eventually { memory.isThere })
    #expect(memory.mode == 0o640 && memory.group == group)
    try proxy.reconfigure { $0.replacing("    token_file:", with: "    #token_file:") }
    #expect(try await eventually { !memory.isThere })
    try proxy.reconfigure { $0.replacing("    #token_file:", with: "    token_file:") }
    #expect(try await eventually { memory.isThere })
    try FileManager.default.removeItem(atPath: memory.file)
    proxy.process.send(SIGHUP)
    #expect(try await eventually { memory.isThere })
    // Something is in the way of the new file, and goes.
    let obstacle = memory.path + "/.token.bearer-proxy"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
    let (former, other) = ("orders.read", "orders.write")
    try proxy.reconfigure { $0.replacing("scopes: [\(former)]", with: "scopes: [\(other)]") }
    #expect(
      try await eventually { try await proxy.admin("/status").body.contains("; \(memory.file) cannot be written: ") })
    #expect(try await eventually { !memory.isThere })
    try FileManager.default.removeItem(atPath: obstacle)
    #expect(try await eventually { memory.isThere })
    #expect(
      try await eventually { try await proxy.admin("/status").body.contains("; in \(memory.file)\n") })
    // A directory that is not the proxy's to write to: it is gone.
    try FileManager.default.removeItem(atPath: memory.path)
    try proxy.reconfigure { $0.replacing("scopes: [\(other)]", with: "scopes: [\(former)]") }
    #expect(
      try await eventually { proxy.process.errors.contains("\"message\":\"token file cannot be written\"") })
    #expect(
      try await eventually {
        try await proxy.admin("/status").body.contains("\(memory.file) cannot be written: its directory does not exist")
      })
    #expect(try await metricSum(proxy, "bearer_proxy_token_file_writes_total", #"outcome="failed""#) >= 1)
  }

  @Test func `a file on a disk is refused, unless the configuration allows it`() async throws {
    func check(_ more: String) async throws -> CommandResult {
      let file = try directory.write(
        "listeners: [{address: 127.0.0.1:8080}]\n" + application("https://id.example")
          + "routes:\n" + route("orders", to: 9)
          + "    token_file: {path: \(FileManager.default.currentDirectoryPath)/token\(more)}\n", to: "check.yaml")
      chmod(file, 0o600)
      return try await run([binary(), "check", "-c", file])
    }
    let refused = try await check("")
    #expect(refused.status == 2 && refused.errors.contains("is not in memory, and would keep tokens"))
    let allowed = try await check(", allow_disk: true")
    #expect(allowed.status == 0 && (allowed.output + allowed.errors).contains("warning: "))
  }
}
