// WebSockets on streams of HTTP/2 (RFC 8441), on either side: h2 with wsproto, hypercorn, websockets and Chromium.

import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct WebSocketHTTP2Tests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// An upstream with WebSockets on HTTP/2 and HTTP/1.1.
  private func hypercorn() async throws -> PythonPeer {
    try await PythonPeer("websocket_http2.py", ["serve"], in: directory)
  }

  private func proxy(to port: Int, _ route: String = "", top: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      """
      \(top)
      routes:
        - name: chat
          path: /chat/
          upstream: http://127.0.0.1:\(port)/
          token: {header: authorization, value: Key of-the-route}
          upgrade: [websocket]
          \(route)
        - {name: other, path: /, upstream: "http://127.0.0.1:\(port)/", token: none}
      """)
  }

  private func call(
    _ proxy: ProxyUnderTest, _ mode: String = "call", _ path: String = "/chat/room", _ fields: String...
  ) async throws -> WebSocketReport {
    try await WebSocketReport("websocket_http2.py", [mode, "\(proxy.port)", path] + fields)
  }

  private func expectMessages(_ told: WebSocketReport) {
    #expect(told.authorization == "Key of-the-route" && told.text == "text ü", "\(told)")
    #expect(told.binary == true && told.pong == true && told.close == 1000, "\(told)")
  }

  @Test func `a caller with HTTP/2 reaches an upstream with HTTP/1.1`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"], in: directory)
    let proxy = try await proxy(to: server.port)
    let told = try await call(proxy, "call", "/chat/room", "authorization: Bearer the-callers-own")
    #expect(told.permitted == true && told.status == 200 && told.proof == false, "\(told)")
    expectMessages(told)
    #expect(try await eventually { server.process.output.contains("ended 1000") })
    #expect(
      try await eventually {
        proxy.accessRecords.contains { $0["status"] == .integer(101) && $0["protocol"] == .string("HTTP/2") }
      })
  }

  @Test func `callers with either version reach an upstream with HTTP/2`() async throws {
    let server = try await hypercorn()
    let proxy = try await proxy(to: server.port, "protocol: http2", top: "loops: 1")
    expectMessages(try await call(proxy))
    let url = "ws://127.0.0.1:\(proxy.port)/chat/room"
    // The websockets package refuses a proof that is not right.
    expectMessages(try await WebSocketReport("websocket_peer.py", ["call", url]))
    // They share a connection with each other, and with requests.
    #expect(try await proxy.get("/chat/plain").body == "plain")
    let metrics = try await proxy.admin("/metrics").body
    #expect(metrics.contains("\nbearer_proxy_upstream_http2_connections_open 1\n"))
    let records = proxy.accessRecords.filter { $0["status"] == .integer(101) }
    #expect(records.count == 2 && records.allSatisfy { $0["upstream_protocol"] == .string("HTTP/2") })
  }

  @Test func `an upstream that denies a WebSocket denies it to callers of either version`() async throws {
    let server = try await hypercorn()
    let proxy = try await proxy(to: server.port, "protocol: http2")
    #expect(try await call(proxy, "call", "/chat/denied").status == 403)
    let url = "ws://127.0.0.1:\(proxy.port)/chat/denied"
    let output = try await succeed(peer("websocket_peer.py", ["call", url]))
    #expect(output.contains("403"), "\(output)")
  }

  @Test func `each direction ends by itself, and what was sent early arrives`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-raw"], in: directory)
    let proxy = try await proxy(to: server.port)
    let told = try await call(proxy, "open")
    #expect(told.status == 200 && told.data == "early,latebye" && told.reset == nil, "\(told)")
    #expect(try await eventually { server.process.output.contains("ended") })
  }

  @Test func `a side that reads nothing stops the other`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-deaf"], in: directory)
    let proxy = try await proxy(to: server.port)
    let sent = try await succeed(peer("websocket_http2.py", ["slow", "\(proxy.port)", "/chat/room"]))
    // The buffers of sockets take some MiB.
    #expect(Int(sent.prefix { $0.isNumber }).map { $0 < 32 << 20 } == true, "\(sent)")
  }

  @Test func `what is no WebSocket is refused, and no route serves it as a GET`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-unproven"], in: directory)
    let proxy = try await proxy(to: server.port)
    // The upstream has not shown that it read the handshake.
    #expect(try await call(proxy).status == 502)
    #expect(try await call(proxy, "call", "/elsewhere").status == 501)
    #expect(try await call(proxy, "call", "/chat/room", "origin: https://evil.example").status == 403)
    #expect(proxy.accessRecords.contains { $0["reason"] == .string("websocket") }, "\(proxy.accessRecords)")
    #expect(server.process.output.components("began") == 1)
  }

  @Test func `Envoy asks for a WebSocket with HTTP/2, and is asked with it`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"], in: directory)
    let (front, back, port) = (try freePort(), try freePort(), try freePort())
    let types = "type.googleapis.com/envoy.extensions"
    func listener(_ port: Int, _ cluster: String) -> String {
      """
        - address: {socket_address: {address: 127.0.0.1, port_value: \(port)}}
          filter_chains:
            - filters:
                - name: http
                  typed_config:
                    "@type": \(types).filters.network.http_connection_manager.v3.HttpConnectionManager
                    stat_prefix: \(cluster)
                    http2_protocol_options: {allow_connect: true}
                    upgrade_configs: [{upgrade_type: websocket}]
                    http_filters:
                      - {name: r, typed_config: {"@type": \(types).filters.http.router.v3.Router}}
                    route_config:
                      virtual_hosts:
                        - {name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: \(cluster)}}]}
      """
    }
    func cluster(_ name: String, _ port: Int, _ options: String = "") -> String {
      """
        - name: \(name)
          load_assignment:
            cluster_name: \(name)
            endpoints:
              - lb_endpoints:
                  - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: \(port)}}}
      \(options)
      """
    }
    let options = """
          typed_extension_protocol_options:
            envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
              "@type": \(types).upstreams.http.v3.HttpProtocolOptions
              explicit_http_config: {http2_protocol_options: {allow_connect: true}}
      """
    let configuration = try directory.write(
      "static_resources:\n  listeners:\n\(listener(front, "proxy"))\n\(listener(back, "server"))\n  clusters:\n"
        + "\(cluster("proxy", port, options))\n\(cluster("server", server.port))\n", to: "envoy.yaml")
    let envoy = try ChildProcess(
      "envoy",
      [testsDirectory + "/../.venv/bin/envoy", "-c", configuration, "--use-dynamic-base-id", "--concurrency", "1"],
      in: directory)
    try await waitForPort(front, of: envoy)
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      routes:
        - {name: chat, path: /chat/, upstream: "http://127.0.0.1:\(back)/", protocol: http2, upgrade: [websocket],
           token: {header: authorization, value: Key of-the-route}}
      """)
    expectMessages(
      try await WebSocketReport("websocket_peer.py", ["call", "ws://127.0.0.1:\(front)/chat/room"]))
    expectMessages(try await WebSocketReport("websocket_http2.py", ["call", "\(front)", "/chat/room"]))
    #expect(try await eventually { proxy.accessRecords.count { $0["status"] == .integer(101) } == 2 })
  }

  @Test func `an upstream without them makes http2 an error, and is asked with HTTP/1.1 if auto allows it`()
    async throws
  {
    let upstream = try await PythonPeer("http2_upstream.py", in: directory)
    let proxy = try await proxy(to: upstream.port, "protocol: http2")
    #expect(try await call(proxy).status == 502)
    #expect(try await eventually { proxy.process.errors.contains("it announces no WebSockets over HTTP/2") })
    #expect(try await proxy.get("/chat/seen").status == 200)
    let authority = try await CertificateAuthority(in: directory)
    let nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"), speaksHTTP2: true)
    // The first one would follow a change of its own configuration.
    let place = try TemporaryDirectory()
    let other = try await ProxyUnderTest(
      in: place,
      """
      routes:
        - {name: all, path: /, upstream: "https://localhost:\(nginx.http2Port)/", token: none, protocol: auto,
           upgrade: [websocket], tls: {ca_file: \(authority.file)}}
      """)
    let asks = [
      "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    for _ in 0..<2 {
      #expect(try await other.get("/echo").echoed("protocol") == "HTTP/2.0")
      #expect(try await other.get("/echo", asks).echoed("protocol") == "HTTP/1.1")
    }
  }

  @Test func `a WebSocket that the end of the process cuts off ends with a close frame to both sides`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"], in: directory)
    // Another proxy reads what this one sends on its stream.
    let next = try await proxy(to: server.port)
    let place = try TemporaryDirectory()
    let proxy = try await ProxyUnderTest(
      in: place,
      """
      shutdown: {grace: 1s, limit: 2s}
      routes:
        - {name: chat, path: /chat/, upstream: "http://127.0.0.1:\(next.port)/chat/", token: none, protocol: http2,
           upgrade: [websocket]}
      """)
    let caller = try ChildProcess(
      "caller", peer("websocket_http2.py", ["wait", "\(proxy.port)", "/chat/room"]), in: directory)
    #expect(try await eventually { caller.output.contains("opened") })
    proxy.process.send(SIGTERM)
    #expect(try await caller.wait(within: .seconds(60)) == 0)
    #expect(caller.output.hasSuffix(#"{"close": 1001, "end": "ended"}\#n"#), "\(caller.output)")
    #expect(try await eventually { server.process.output.contains("ended 1001") })
    #expect(try await proxy.process.wait() == 0)
  }

  @Test func `a server announces them and keeps the rules of RFC 8441`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-raw"], in: directory)
    let proxy = try await proxy(to: server.port)
    let report = try await succeed(peer("http2_cases.py", ["\(proxy.port)", "websocket"]), within: .seconds(240))
    #expect(report.hasSuffix(" cases, 0 failed\n"), "\(report)")
  }

  @Test(.enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver"))
  func `Chromium opens its WebSocket on the connection of its page`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("listener")
    let server = try await PythonPeer("websocket_peer.py", ["serve"], in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      listeners:
        - address: 127.0.0.1:PORT
          tls: {\(certificate.tls)}
      routes:
        - {name: chat, path: /chat/, upstream: "http://127.0.0.1:\(server.port)/", token: none, upgrade: [websocket]}
        - {name: page, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    let seen = try await succeed(
      peer("websocket_browser.py", ["https://localhost:\(proxy.port)/seen"]), within: .seconds(240))
    #expect(seen == "none|from the page|1000\n")
    #expect(
      try await eventually {
        proxy.accessRecords.contains { $0["status"] == .integer(101) && $0["protocol"] == .string("HTTP/2") }
      })
  }
}

extension String {
  /// The number of times that a text occurs.
  fileprivate func components(_ text: String) -> Int { components(separatedBy: text).count - 1 }
}
