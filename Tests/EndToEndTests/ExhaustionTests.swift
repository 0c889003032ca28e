// Callers and upstreams that try to exhaust the proxy: each kind meets its limit, gives back what it had, and keeps no
// other caller from being served.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(4)))
struct ExhaustionTests {
  /// A kind of flood, the status each of its connections is to get, and the limit that is to be counted.
  struct Attack: Sendable, CustomTestStringConvertible {
    var kind: String
    var status: String
    var limit: String?
    var path = "/api/"
    var count = 60
    var testDescription: String { kind + " " + path }
  }

  /// Starts a program that may have 60 descriptors.
  private static let withFewDescriptors = ["sh", "-c", "ulimit -n 60; exec \"$@\"", "sh"]

  private static let attacks = [
    Attack(kind: "idle", status: "none"),
    Attack(kind: "slow-head", status: "408", limit: "request_head"),
    Attack(kind: "half-open", status: "408", limit: "request_head"),
    Attack(kind: "slow-body", status: "408", limit: "caller_rate"),
    Attack(kind: "slow-chunks", status: "408", limit: "caller_rate"),
    Attack(kind: "slow-trailers", status: "408", limit: "caller_rate"),
    Attack(kind: "stopped-body", status: "408", limit: "idle"),
    Attack(kind: "huge-head", status: "431", limit: "head_bytes"),
    Attack(kind: "many-fields", status: "431", limit: "field_count"),
    Attack(kind: "long-target", status: "414", limit: "target_bytes"),
    Attack(kind: "endless-body", status: "413", limit: "body_bytes"),
    Attack(kind: "endless-trailers", status: "400"),
    Attack(kind: "endless-extension", status: "400"),
    Attack(kind: "slow-reader", status: "200", limit: "caller_rate", count: 6),
    Attack(kind: "no-reader", status: "none", limit: "idle"),
    Attack(kind: "silent-upstream", status: "504", limit: "response_head"),
    Attack(kind: "silent-upstream", status: "504", limit: "connect", path: "/silent/"),
    Attack(kind: "silent-upstream", status: "504", limit: "exchange", path: "/whole/"),
  ]

  @Test(arguments: attacks)
  func `each way to use the proxy up has a limit, and others are served meanwhile`(_ attack: Attack) async throws {
    let upstream = try await PythonPeer("scripted_upstream.py")
    // Short for the attack on it; elsewhere a head that arrives slowly on a busy machine must not meet it first.
    let rate = attack.limit == "caller_rate" ? "1MiB" : "1KiB"
    let head = attack.limit == "request_head" || attack.kind == "idle" ? "500ms" : "1m"
    let proxy = try await ProxyUnderTest(
      """
      loops: 1
      limits: {head_bytes: 16KiB, body_bytes: 1MiB, caller_rate: \(rate), connections: 500}
      defaults: {timeouts: {request_head: \(head), idle: 1s, response_head: 1s, connect: 500ms}}
      routes:
        - {name: api, path: /api/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
        - {name: whole, path: /whole/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none, timeouts: \
      {exchange: 900ms}}
        # It accepts, and waits for a request while a handshake is waited for.
        - {name: silent, path: /silent/slow/, upstream: "https://127.0.0.1:\(upstream.port)/", token: none}
        - {name: probed, path: /silent/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    // Memory that is needed anyway: both loops, the upstream's connection, the allocator's first growth.
    _ = try await proxy.get("/api/bytes/1")
    let before = (memory: proxy.process.residentBytes, descriptors: proxy.process.openDescriptors.count)
    let count = attack.count
    let flood = try await Flood.run(attack.kind, count: count, port: proxy.port, path: attack.path)
    #expect(flood.answers == [attack.status: count], "\(flood)")
    #expect(flood.ended == count)
    #expect(flood.probes > 0 && flood.failed == 0 && flood.repeated == 0, "\(flood)")
    if let limit = attack.limit {
      #expect(try await metricSum(proxy, "bearer_proxy_limits_hit_total", "\"\(limit)\"") >= count)
    }
    // The buffers of sixty busy connections are some ten MiB; what was sent at them is much more.
    #expect(proxy.process.residentBytes - before.memory < 48 << 20)
    #expect(try await eventually { proxy.process.openDescriptors.count <= before.descriptors + 2 })
  }

  @Test(arguments: [false, true])
  func `of too many unfinished heads and handshakes the oldest end, and the newest are finished`(_ isTLS: Bool)
    async throws
  {
    let top = "loops: 1\nlimits: {unfinished: 20}\ndefaults: {timeouts: {request_head: 5m}}"
    let secure = isTLS ? try await SecureScene(top) : nil
    var plain: ScriptedScene?
    if !isTLS { plain = try await ScriptedScene(top: top, listener: ", callers: {anyone: true}") }
    let proxy = try #require(secure?.proxy ?? plain?.proxy)
    func isServed() async throws -> Bool {
      if let secure { try await secure.get().status == 200 } else { try await proxy.get("/seen").status == 200 }
    }
    var callers: [RawConnection] = []
    for _ in 1...3 {
      for _ in 1...20 {
        let caller = try proxy.connect()
        // A record that has not arrived whole, or a head.
        try await caller.send(isTLS ? "\u{16}\u{3}\u{1}" : "GET /seen HTTP/1.1\r\nX-Long: ")
        callers.append(caller)
      }
      // The proxy has heard of all of these before it answers this one.
      #expect(try await isServed())
      // The metric is of the moment: the last honest caller's connection may be among them.
      #expect(try await eventually { try await metricSum(proxy, "bearer_proxy_connections_open ") <= 21 })
    }
    for caller in callers.prefix(40) { #expect(try await caller.isClosedByPeer()) }
    #expect(try await metricSum(proxy, "bearer_proxy_limits_hit_total", "\"unfinished\"") >= 30)
    if isTLS { return }
    for caller in callers.suffix(20) {
      try await caller.send("x\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
      #expect(statusOf(try await caller.receive()) == 200)
    }
  }

  @Test func `a handshake message of a size that no client needs ends the connection before memory is taken for it`()
    async throws
  {
    let scene = try await SecureScene("loops: 1\ndefaults: {timeouts: {request_head: 5m}}")
    let proxy = scene.proxy
    #expect(try await scene.get().status == 200)
    let before = proxy.process.residentBytes
    var callers: [RawConnection] = []
    for _ in 1...300 {
      let caller = try proxy.connect()
      // The head of a record, and of a ClientHello of 100 KiB.
      try await caller.send("\u{16}\u{3}\u{1}\u{40}\u{0}\u{1}\u{1}\u{70}\u{0}\u{3}\u{3}")
      callers.append(caller)
    }
    for caller in callers { #expect(try await caller.isClosedByPeer()) }
    #expect(proxy.process.residentBytes - before < 10 << 20)
    #expect(try await scene.get().status == 200)
  }

  @Test func `one who sends request after request without a pause leaves the loop to others`() async throws {
    let upstream = try await PythonPeer("scripted_upstream.py")
    let proxy = try await ProxyUnderTest(
      """
      loops: 1
      log: {access: false}
      routes: [{name: api, path: /api/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
      """)
    // Requests for no route: nothing is waited for, neither an upstream nor the caller, who reads all the answers.
    // Left to chance it was one request in half a second. On a machine with other work it takes more than one attempt.
    var flood = try await Flood.run("pipeline", count: 4, port: proxy.port, path: "/api/", hold: 2)
    for _ in 1...10 where flood.failed == 0 && flood.probes <= 12 {
      flood = try await Flood.run("pipeline", count: 4, port: proxy.port, path: "/api/", hold: 2)
    }
    #expect(flood.failed == 0 && flood.probes > 12, "\(flood)")
    #expect(try await metricSum(proxy, "bearer_proxy_requests_total", "4xx") > 1000)
  }

  @Test func `thousands of requests sent at once are answered in order, and few bytes are kept`() async throws {
    let scene = try await ScriptedScene(top: "loops: 1\nlog: {access: false}\nlimits: {connections: 100}")
    // A hundred requests first: what the process takes once does not count.
    var before = 0
    for count in [100, 3000] {
      before = scene.proxy.process.residentBytes
      let connection = try scene.proxy.connect()
      let text = (1...count).map { "GET /bytes/\($0 % 7 + 1) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }.joined()
      async let sent = connection.send(
        text + "GET /bytes/9 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
      let answers = try await connection.receive { $0.hasSuffix("\r\n\r\nxxxxxxxxx") }
      let lengths = answers.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length: ") }
      #expect(try await sent)
      #expect(lengths.map { String($0.dropFirst(16)) } == (1...count).map { "\($0 % 7 + 1)" } + ["9"])
    }
    #expect(scene.proxy.process.residentBytes - before < 14 << 20)
    // There are enough descriptors, and nothing is said of them.
    #expect(!scene.proxy.process.errors.contains("too few file descriptors"))
  }

  @Test(arguments: [1, 2])
  func `at the limit of connections, idle ones make room and busy ones do not`(loops: Int)
    async throws
  {
    let scene = try await ScriptedScene(top: "loops: \(loops)\nlimits: {connections: 40}")
    let (proxy, upstream) = (scene.proxy, scene.upstream)
    // No connection is ended by the clock here: the limits of time are a minute and more.
    async let busy = Flood.run("get", count: 20, port: proxy.port)
    _ = try await eventually { upstream.requests.count { $0.contains("/slow/2") } == 20 }
    for kind in ["idle", "half-open", "slow-head"] {
      let flood = try await Flood.run(kind, count: 100, port: proxy.port, hold: 1)
      #expect(flood.probes > 0 && flood.failed == 0, "\(kind): \(flood)")
      #expect(flood.slowest < 5, "\(kind): \(flood)")
    }
    #expect(try await busy.answers == ["200": 20])
    #expect(try await metricSum(proxy, "bearer_proxy_limits_hit_total", "\"connections\"") >= 100)
  }

  @Test func `if descriptors are few, callers wait to be accepted, and none is told that the upstream is unreachable`()
    async throws
  {
    let scene = try await ScriptedScene(
      top: "loops: 2\nlog: {access: false}", launcher: ["sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"])
    let proxy = scene.proxy
    var warning = Substring()
    _ = try await eventually {
      let lines = proxy.process.errors.split(separator: "\n")
      warning = lines.first { $0.contains("too few file descriptors for limits.connec") } ?? ""
      return !warning.isEmpty
    }
    #expect(warning.contains("\"limit\":256") && warning.contains("\"next\":\"raise the hard limit of open files to"))
    // Each holds a connection to the upstream for two seconds, so that not all of them fit at once.
    let flood = try await Flood.run("get", count: 300, port: proxy.port, hold: 100)
    #expect(flood.answers["502"] == nil && flood.answers["503"] == nil, "\(flood)")
    // One whose request comes late, because the machine is busy, may have made room.
    #expect(flood.answers["200", default: 0] >= 250, "\(flood)")
    #expect(flood.failed == 0, "\(flood)")
  }

  @Test func `if descriptors run out accepting pauses, which is logged once, and resumes`() async throws {
    let scene = try await ScriptedScene(top: "loops: 1\nlimits: {connections: 1000}", launcher: Self.withFewDescriptors)
    let proxy = scene.proxy
    // Busy, so that no connection can make room.
    var held: [RawConnection] = []
    for _ in 0..<80 {
      let connection = try proxy.connect()
      held.append(connection)
      try await connection.send("POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nx")
    }
    #expect(try await eventually { proxy.process.errors.contains("accept paused") })
    #expect(
      proxy.process.errors.contains(
        "\"next\":\"raise the limit of open files (LimitNOFILE, ulimit -n), or find in the access log who"))
    let before = proxy.process.processorTime
    try await Task.sleep(for: .seconds(1))
    #expect(proxy.process.processorTime - before <= .milliseconds(100))
    #expect(proxy.process.errors.split(separator: "\n").count { $0.contains("accept paused") } == 1)
    held.removeAll()
    // Those who have gone are heard of one after the other.
    #expect(
      try await eventually {
        let caller = try proxy.connect()
        try await caller.send("GET /bytes/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return try await caller.receive().hasSuffix("\r\n\r\nx")
      })
    #expect(try await eventually { proxy.process.errors.contains("accept resumed") })
    #expect(proxy.process.errors.split(separator: "\n").count { $0.contains("accept paused") } == 1)
  }

  @Test func `at the limit of descriptors, idle connections make room`() async throws {
    let scene = try await ScriptedScene(top: "loops: 1", launcher: Self.withFewDescriptors)
    let proxy = scene.proxy
    // A dozen at a time, each for a quarter of a second.
    let flood = try await Flood.run("idle", count: 100, port: proxy.port, hold: 6)
    #expect(flood.ended >= 60 && flood.answers.keys.allSatisfy { $0 == "none" }, "\(flood)")
    #expect(flood.probes > 0 && flood.failed == 0, "\(flood)")
    // None of them is busy: each makes room as soon as it has had the time to send a request.
    #expect(!proxy.process.errors.contains("accept paused"))
  }

  @Test func `probes of the admin listener are answered beside many who only connect to it`() async throws {
    let scene = try await ScriptedScene()
    let held = try (0..<300).map { _ in try RawConnection(port: scene.proxy.adminPort) }
    #expect(try await scene.proxy.admin("/healthz").status == 200)
    #expect(try await eventually { scene.proxy.process.openDescriptors.count < 150 })
    // The last are still there.
    try await held[299].send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(try await held[299].receive { $0.hasSuffix("ok\n") }.hasPrefix("HTTP/1.1 200"))
    withExtendedLifetime(held) {}
  }
}
