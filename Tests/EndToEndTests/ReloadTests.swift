// A configuration that changes while the proxy serves: what is taken up, what stays, and what a mistake does.

import Bytes
import FoundationEssentials
import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ReloadTests {
  private static let extra = """
      - {name: extra, path: /extra/, upstream: "http://127.0.0.1:1/", token: none}
    limits: {connections: 500, field_count: 90}
    log: {level: debug}

    """

  @Test func `under load across thirty reloads no request fails, and no token is asked for again`() async throws {
    let scene = try await Scene()
    let proxy = scene.proxy
    let original = textOfFile(proxy.configuration)
    let load = Load()
    try await withThrowingTaskGroup(of: (answered: Int, failures: [String]).self) { group in
      for perConnection in [Int.max, .max, 7, 3] {
        group.addTask {
          try await load.call(proxy, "/orders/x", perConnection: perConnection) {
            $0.contains("authorization=Bearer ") && $0.hasSuffix("\n")
          }
        }
      }
      for turn in 1...30 {
        try proxy.reconfigure { _ in turn.isMultiple(of: 2) ? original : original + Self.extra }
        proxy.process.send(SIGHUP)
        #expect(
          try await eventually {
            try await metricSum(proxy, "bearer_proxy_reloads_total", #"outcome="succeeded""#) >= turn
          })
      }
      load.end()
      for try await result in group {
        #expect(result.failures == [])
        #expect(result.answered > 0)
      }
    }
    #expect(try await scene.provider.requests(to: "token") == 1)
    #expect(try await metricSum(proxy, "bearer_proxy_reloads_total", #"outcome="failed""#) == 0)
    // Connections to the upstream were kept: one for each caller and loop at most, and none for a reload.
    let made = try await metricSum(proxy, "bearer_proxy_upstream_connections_total", #"route="orders",kind="new""#)
    let counted = try await metricSum(proxy, "bearer_proxy_requests_total", #"route="orders""#)
    // nginx ends each after a thousand requests.
    #expect(made <= 16 + counted / 500, "\(made) connections to the upstream for \(counted) requests")
    // Counts from before the first reload are kept.
    #expect(try await eventually { proxy.accessRecords.count { $0["route"] == .string("orders") } == counted })
  }

  @Test func `a route, a limit and the level of the log change by themselves, and SIGHUP is not needed`() async throws {
    let scene = try await ScriptedScene(top: "log: {level: error}")
    #expect(try await scene.proxy.get("/seen").status == 200)
    #expect(!scene.proxy.process.errors.contains("serving"))
    try scene.proxy.reconfigure {
      $0.replacing("level: error", with: "level: info") + """
          - {name: extra, path: /seen/, upstream: "http://127.0.0.1:1/", token: none}
        limits: {body_bytes: 4B}

        """
    }
    #expect(try await eventually { try await scene.proxy.get("/seen").status == 502 })
    #expect(try await scene.proxy.get("/sink", ["-d", "12345"]).status == 413)
    #expect(scene.proxy.process.errors.contains(#""level":"info","message":"configuration reloaded","generation":2"#))
    // Written in place.
    let text = textOfFile(scene.proxy.configuration)
    try Data(text.replacing("path: /seen/", with: "path: /other/").utf8).write(
      to: URL(filePath: scene.proxy.configuration))
    #expect(try await eventually { try await scene.proxy.get("/other/x").status == 502 })
  }

  @Test func `a mistake keeps the old one running, and is shown with its place until it is mended`() async throws {
    let scene = try await ScriptedScene()
    let file = scene.proxy.configuration
    try scene.proxy.reconfigure { $0.replacing("token: none", with: "tokn: none") }
    let line = textOfFile(file).split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
      $0.contains("tokn")
    }
    let place = "\(file):\(try #require(line) + 1):5: error: unknown key 'tokn' in routes[0]; did you mean 'token'?"
    #expect(try await eventually { scene.proxy.process.errors.contains(place) })
    #expect(scene.proxy.process.errors.contains("configuration not reloaded, the one before stays in force"))
    #expect(try await scene.proxy.get("/seen").status == 200)
    #expect(try await scene.proxy.admin("/status").body.contains("(configuration)  not reloaded since "))
    #expect(try await scene.proxy.admin("/status?format=json").body.contains(place))
    #expect(try await metricSum(scene.proxy, "bearer_proxy_reloads_total", #"outcome="failed""#) == 1)
    #expect(try await metricSum(scene.proxy, "bearer_proxy_config_last_reload_successful") == 0)
    #expect(try await scene.proxy.admin("/readyz").status == 200)
    // So does what only the listening, the last step, finds out.
    let neighbour = try await ScriptedScene()
    let listener = "  - {address: \"127.0.0.1:\(scene.proxy.port)\"}\n"
    try scene.proxy.reconfigure {
      $0.replacing("tokn: none", with: "token: none").replacing(
        listener, with: listener + "  - address: 127.0.0.1:\(neighbour.proxy.port)\n")
    }
    let taken = "127.0.0.1:\(neighbour.proxy.port): Address already in use"
    #expect(try await eventually { scene.proxy.process.errors.contains(taken) })
    #expect(try await scene.proxy.get("/seen").status == 200)
    try scene.proxy.reconfigure { $0.replacing("  - address: 127.0.0.1:\(neighbour.proxy.port)\n", with: "") }
    let last = "bearer_proxy_config_last_reload_success"
    #expect(try await eventually { try await metricSum(scene.proxy, "\(last)ful") == 1 })
    #expect(try await metricSum(scene.proxy, "\(last)_timestamp_seconds") > 1_700_000_000)
    #expect(try await scene.proxy.admin("/status").body.contains("(configuration)  in force since "))
  }

  @Test func `the link of a ConfigMap that is replaced takes configuration and secret over at once`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    func publish(_ version: String, secret: String, _ text: String) throws {
      mkdir(directory.file("map/\(version)"), 0o755)
      try directory.write(text, to: "map/\(version)/proxy.yaml")
      try directory.write(secret, to: "map/\(version)/secret")
      chmod(directory.file("map/\(version)/secret"), 0o600)
      symlink(version, directory.file("map/..data_tmp"))
      rename(directory.file("map/..data_tmp"), directory.file("map/..data"))
    }
    mkdir(directory.file("map"), 0o755)
    var written = ""
    let proxy = try await ProxyUnderTest(
      in: directory,
      place: { directory, text in
        written = text
        try publish("..1", secret: "not the secret", text)
        for name in ["proxy.yaml", "secret"] { symlink("..data/\(name)", directory.file("map/\(name)")) }
        return directory.file("map/proxy.yaml")
      },
      """
      applications:
        contoso: {authority: "\(provider.issuer)", client_id: \(OpenIDProvider.client), client_secret_file: secret}
      routes:
      \(route("orders", to: upstream.port))
      """)
    // The provider refuses the secret, and is then left alone for a minute.
    #expect(try await proxy.get("/orders/seen").status == 502)
    #expect(try await proxy.admin("/readyz").status == 503)
    try publish(
      "..2", secret: OpenIDProvider.secret + "\n", written.replacing("/orders/", with: "/sales/"))
    #expect(try await eventually { try await proxy.get("/sales/seen").status == 200 })
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    #expect(try await proxy.get("/orders/seen").status == 404)
  }

  @Test
  func `listeners that stay keep their sockets and connections, new ones open, and of those that go all is answered`()
    async throws
  {
    let upstream = try await PythonPeer("scripted_upstream.py")
    let proxy = try await ProxyUnderTest(
      """
      listeners:
        - address: 127.0.0.1:PORT
        - address: 127.0.0.1:PORT2
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    let (stays, goes, comes) = (proxy.ports[0], proxy.ports[1], proxy.ports[2])
    func get(_ connection: RawConnection, _ path: String) async throws -> String {
      try await connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      return try await connection.receive {
        $0.contains("\n\n") || $0.contains("traceparent") || $0.contains("at last")
      }
    }
    let kept = try RawConnection(port: stays)
    #expect(try await get(kept, "/seen").contains("200 OK"))
    let idle = try RawConnection(port: goes)
    #expect(try await get(idle, "/seen").contains("200 OK"))
    let busy = try RawConnection(port: goes)
    let sent = upstream.requests.count
    async let slow = get(busy, "/slow/3")
    #expect(try await eventually { upstream.requests.count > sent })
    try proxy.reconfigure { $0.replacing("127.0.0.1:\(goes)", with: "127.0.0.1:\(comes)") }
    #expect(try await eventually { accepts(comes) })
    #expect(try await eventually { !accepts(goes) })
    #expect(try await idle.isClosedByPeer())
    // The request that was in flight belongs to what is gone, and is answered to its end.
    let answer = try await slow
    #expect(answer.contains("200 OK") && answer.lowercased().contains("connection: close"))
    #expect(answer.contains("at last"))
    #expect(try await get(kept, "/seen").contains("200 OK"))
    #expect(try await get(RawConnection(port: comes), "/seen").contains("200 OK"))
  }

  @Test func `certificates and authorities are taken up when their files are replaced`() async throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (
      try await CertificateAuthority("first", in: directory), try await CertificateAuthority("second", in: directory)
    )
    let (old, new) = (try await first.issue("old"), try await second.issue("new"))
    let nginx = try await NginxUpstream(in: directory, certificate: new)
    func copy(_ file: String, _ name: String) throws { try directory.write(textOfFile(file), to: name) }
    try copy(first.file, "trust.pem")
    try copy(old.certificateFile, "server.pem")
    try copy(old.keyFile, "server.key")
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      listeners:
        - {address: "127.0.0.1:PORT", tls: {certificate_file: server.pem, key_file: server.key}}
      routes:
        - name: all
          path: /
          upstream: https://127.0.0.1:\(nginx.tlsPort)/
          token: none
          tls: {ca_file: trust.pem}
      """)
    func get(trusting authority: CertificateAuthority) async throws -> Answer {
      try await curl(["--cacert", authority.file, "https://localhost:\(proxy.port)/echo"])
    }
    #expect(try await get(trusting: first).status == 502)
    #expect(try await get(trusting: second).exit == 60)
    try copy(second.file, "trust.pem")
    #expect(try await eventually { try await get(trusting: first).status == 200 })
    try copy(new.certificateFile, "server.pem")
    try copy(new.keyFile, "server.key")
    #expect(try await eventually { try await get(trusting: second).status == 200 })
    #expect(try await get(trusting: first).exit == 60)
    #expect(proxy.process.poll() == nil)
  }

  /// A caller with a certificate, on a connection that it keeps: says what it got before and after the authorities were
  /// replaced.
  private static let certifiedCaller = """
    import os, socket, ssl, sys, time, urllib.request
    port, admin, trust, certificate, key, authorities, other = sys.argv[1:]
    context = ssl.create_default_context(cafile=trust)
    context.load_cert_chain(certificate, key)
    def connect():
        return context.wrap_socket(socket.create_connection(("127.0.0.1", int(port)), 10), server_hostname="localhost")
    def get(connection):
        connection.sendall(b"GET /seen HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
        return connection.recv(65536)[9:12].decode()
    def await_reload(number):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            metrics = urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics").read().decode()
            if f'bearer_proxy_reloads_total{{outcome="succeeded"}} {number}' in metrics: break
            time.sleep(0.05)
    kept = connect()
    print(get(kept))
    # Another file that says the same is no other authority.
    os.replace(authorities + ".copy", authorities)
    await_reload(1)
    print(get(kept))
    os.replace(other, authorities)
    print("closed" if kept.recv(1) == b"" else "open")
    # One event loop after the other learns of it.
    await_reload(2)
    try:
        print(get(connect()) or "refused")
    except OSError:
        print("refused")
    """

  @Test func `a connection whose certificate other authorities had verified ends, and no new one is let in`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let second = try await CertificateAuthority("second", in: directory)
    let callers = directory.file("callers.pem")
    let scene = try await SecureScene {
      for name in ["callers.pem", "callers.pem.copy"] { try directory.write(textOfFile($0.file), to: name) }
      return ", callers: {certificate: {ca_file: \(callers)}}"
    }
    let (first, proxy) = (scene.authority, scene.proxy)
    let caller = try await first.issue("caller")
    let said = try await python(
      Self.certifiedCaller,
      [
        "\(proxy.port)", "\(proxy.adminPort)", first.file, caller.certificateFile, caller.keyFile, callers, second.file,
      ])
    #expect(said == "200\n200\nclosed\nrefused\n")
    #expect(try await metricSum(proxy, "bearer_proxy_reloads_total", #"outcome="succeeded""#) >= 2)
  }

  @Test func `rules for callers hold from the next request on, also on connections that are there`() async throws {
    let directory = try TemporaryDirectory()
    let key = try directory.write("the-first-of-two-secrets", to: "key")
    let scene = try await ScriptedScene(listener: ", callers: {header: {name: X-Key, value_file: \(key)}}")
    let proxy = scene.proxy
    let connection = try proxy.connect()
    func get(_ key: String) async throws -> Int {
      try await connection.send("GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Key: \(key)\r\n\r\n")
      return statusOf(try await connection.receive { $0.contains("traceparent") || $0.contains("}") })
    }
    #expect(try await get("the-first-of-two-secrets") == 200)
    try directory.write("the-second-of-two-secrets", to: "key")
    #expect(
      try await eventually { try await proxy.get("/seen", ["-H", "X-Key: the-second-of-two-secrets"]).status == 200 })
    #expect(try await get("the-first-of-two-secrets") == 403)
  }

  @Test func `settings that need a restart are named, and all others are taken over`() async throws {
    let scene = try await ScriptedScene(top: "loops: 1")
    let (directory, proxy) = (scene.directory, scene.proxy)
    try proxy.reconfigure {
      $0.replacing("loops: 1", with: "loops: 2\ncache: {file: elsewhere.json}").replacing(
        "path: /\n", with: "path: /a/\n")
    }
    #expect(try await eventually { try await proxy.get("/").status == 404 })
    #expect(try await eventually { proxy.process.errors.contains(#"needs a restart","settings":"loops, cache""#) })
    #expect(try await proxy.admin("/status").body.contains("a restart is needed for loops, cache"))
    let inForce = try await proxy.admin("/config").body
    #expect(inForce.contains("loops: 1 ") && inForce.contains("cache.memory: true") && !inForce.contains("elsewhere"))
    // Nor is it forgotten by the next one.
    try proxy.reconfigure { $0.replacing("path: /a/\n", with: "path: /b/\n") }
    #expect(try await eventually { try await proxy.admin("/config").body.contains("path: /b/") })
    #expect(try await proxy.admin("/status").body.contains("a restart is needed for loops, cache"))
    try proxy.reconfigure {
      $0.replacing("listeners:\n", with: "listeners:\n  - address: unix:\(directory.path)/inner/proxy.sock\n")
    }
    // If the kernel has no Landlock, the missing directory causes the failure instead.
    #expect(
      try await eventually {
        proxy.process.errors.contains("inner/proxy.sock needs a restart")
          || proxy.process.errors.contains("inner/proxy.sock: No such file")
      })
  }
}
