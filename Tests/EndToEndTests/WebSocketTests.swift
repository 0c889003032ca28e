// WebSockets through the proxy, with a client and a server that we did not write.

import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The report of a caller: see Tests/peers/websocket_peer.py and websocket_http2.py.
struct WebSocketReport: Decodable {
  var permitted: Bool?
  var status: Int?
  var proof: Bool?
  var authorization: String?
  var text: String?
  var binary: Bool?
  var pong: Bool?
  var close: Int?
  var data: String?
  var reset: Int?
  var error: String?

  /// Runs a caller.
  init(_ script: String, _ arguments: [String]) async throws {
    self = try JSONDecoder().decode(Self.self, from: Data(try await succeed(peer(script, arguments)).utf8))
  }
}

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct WebSocketTests {

  private func proxy(to server: PythonPeer, _ route: String = "upgrade: [websocket]", top: String = "")
    async throws -> ProxyUnderTest
  {
    try await ProxyUnderTest(
      """
      \(top)
      routes:
        - name: chat
          path: /chat/
          upstream: http://127.0.0.1:\(server.port)/
          token: none
          \(route)
      """)
  }

  private func call(
    _ proxy: ProxyUnderTest, _ path: String = "/chat/room", _ fields: String...
  ) async throws -> WebSocketReport {
    try await WebSocketReport("websocket_peer.py", ["call", "ws://127.0.0.1:\(proxy.port)\(path)"] + fields)
  }

  private static let handshake =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    + "dGhlIHNhbXBsZSBub25jZQ==\r\n"

  @Test func `messages go both ways, the token goes with the handshake, and the end is in good order`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"])
    let provider = try await OpenIDProvider()
    let proxy = try await ProxyUnderTest(
      application(provider.issuer) + """
        routes:
          - name: chat
            path: /chat/
            upstream: http://127.0.0.1:\(server.port)/
            application: contoso
            token: {as: application, scopes: [orders.read]}
            upgrade: [websocket]

        """)
    _ = try await eventually { try await proxy.admin("/readyz").status == 200 }
    let told = try await call(proxy, "/chat/room", "Authorization: Bearer the-callers-own")
    #expect(told.error == nil, "\(told)")
    #expect(told.authorization?.hasPrefix("Bearer ey") == true)
    #expect(told.text == "text ü" && told.binary == true && told.pong == true && told.close == 1000)
    #expect(try await eventually { server.process.output.contains("ended") })
    #expect(try await eventually { proxy.accessRecords.contains { $0["status"] == .integer(101) } })
  }

  @Test func `a route that does not say so upgrades nothing`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"])
    let proxy = try await proxy(to: server, "")
    let told = try await call(proxy)
    #expect(told.error?.contains("InvalidStatus") == true || told.error?.contains("rejected") == true, "\(told)")
  }

  @Test func `each direction ends by itself, and what was sent early arrives`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-raw"])
    let proxy = try await proxy(to: server)
    let connection = try proxy.connect()
    try await connection.send("GET /chat/ HTTP/1.1\r\nHost: localhost\r\n\(Self.handshake)\r\nearly,")
    let head = try await connection.receive { $0.hasSuffix("early,") }
    #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
    #expect(head.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"))
    #expect(head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
    try await connection.send("late")
    connection.finishSending()
    #expect(try await connection.receive() == "latebye")
    #expect(try await eventually { server.process.output.contains("ended") })
    #expect(try await proxy.get("/chat/").status == 502)
  }

  @Test func `a silent WebSocket ends with a close frame to both sides`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"])
    let proxy = try await proxy(to: server, "upgrade: [websocket]\n    timeouts: {idle: 1s}")
    let told = try await WebSocketReport("websocket_peer.py", ["wait", "ws://127.0.0.1:\(proxy.port)/chat/room"])
    #expect(told.close == 1001)
    #expect(try await eventually { server.process.output.contains("ended 1001") })
    #expect(try await eventually { proxy.accessRecords.first?["outcome"] == .string("completed") })
  }

  @Test func `nothing is put into the middle of a frame`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-raw"])
    let proxy = try await proxy(to: server, "upgrade: [websocket]\n    timeouts: {idle: 1s}")
    let connection = try proxy.connect()
    // A frame of five bytes of which the server repeats three.
    try await connection.send("GET /chat/ HTTP/1.1\r\nHost: localhost\r\n\(Self.handshake)\r\n\u{1}\u{5}abc")
    #expect(try await connection.receive().hasSuffix("\r\n\r\n\u{1}\u{5}abc"))
  }

  @Test func `a WebSocket that the end of the process cuts off ends with a close frame to both sides`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"])
    let proxy = try await proxy(to: server, top: "shutdown: {grace: 1s, limit: 2s}")
    async let told = WebSocketReport("websocket_peer.py", ["wait", "ws://127.0.0.1:\(proxy.port)/chat/room"])
    #expect(try await eventually { server.process.output.contains("began") })
    proxy.process.send(SIGTERM)
    #expect(try await told.close == 1001)
    #expect(try await eventually { server.process.output.contains("ended 1001") })
    #expect(try await proxy.process.wait() == 0)
    #expect(proxy.process.errors.contains(#""connections_cut_off":1"#))
    #expect(proxy.accessRecords.first?["outcome"] == .string("completed"))
  }

  @Test func `a WebSocket that is cut off in the middle of a frame gets no other`() async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve-raw"])
    let proxy = try await proxy(to: server, top: "shutdown: {grace: 1s, limit: 2s}")
    let connection = try proxy.connect()
    // A frame of five bytes of which three are there, both ways.
    try await connection.send("GET /chat/ HTTP/1.1\r\nHost: localhost\r\n\(Self.handshake)\r\n\u{1}\u{5}abc")
    let head = try await connection.receive { $0.hasSuffix("\u{1}\u{5}abc") }
    #expect(head.hasPrefix("HTTP/1.1 101"))
    proxy.process.send(SIGTERM)
    #expect(try await connection.receive().isEmpty)
    #expect(try await proxy.process.wait() == 0)
  }
}
