import HTTP
import Testing

@testable import HTTP2

/// WebSockets on streams (RFC 8441), from the handshake of HTTP/1.1 to the bytes behind it.
@Suite struct WebSocketStreamTests {
  private static let handshake =
    "GET /chat?a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-A: 1\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
  private static let agreed =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n"
    + "Sec-WebSocket-Protocol: p\r\n\r\n"
  private static let permitted = SessionLimits(permitsTunnels: true)

  private static func connect(_ id: UInt32, protocol name: String = "websocket", method: String = "CONNECT") -> [UInt8]
  {
    Frame.request(id, method: method, [], ends: false, pseudo: [(":protocol", name)])
  }

  @Test func `a handshake crosses two sessions and comes out as it went in`() {
    let pair = Pair(Self.permitted)
    pair.run()
    #expect(pair.upstream.session.permitsTunnels)
    let stream = pair.upstream.session.open()
    for byte in Self.handshake { _ = pair.upstream.give(String(byte), stream) }
    pair.run()
    let request = pair.request(1)
    #expect(
      request.hasPrefix(
        "GET /chat?a HTTP/1.1\r\nHost: h\r\nx-a: 1\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
          + "sec-websocket-version: 13\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
    pair.answer(1, Self.agreed)
    #expect(
      pair.upstream.take(stream).text
        == "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-protocol: p\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    // Bytes go both ways as they are, and each side ends by itself.
    #expect(pair.upstream.give("0\r\n\r\nto the server", stream) == "moved(18)")
    pair.answer(1, "to the caller")
    #expect(pair.request(1) == "0\r\n\r\nto the server")
    #expect(pair.upstream.take(stream) == ("to the caller", "blocked"))
    pair.upstream.session.end(stream)
    pair.run()
    #expect(pair.server.streams[1].map { pair.server.take($0).end } == "ended")
    pair.answer(1, "bye")
    pair.server.streams[1].map { pair.server.session.end($0) }
    pair.run()
    #expect(pair.upstream.take(stream) == ("bye", "ended"))
    #expect(stream.answer.fault == nil && pair.server.session.activeCount == 0)
  }

  @Test func `a refused handshake is an ordinary response, and both sides end`() {
    let pair = Pair(Self.permitted)
    pair.run()
    let stream = pair.upstream.session.open()
    _ = pair.upstream.give(Self.handshake, stream)
    pair.run()
    _ = pair.request(1)
    pair.answer(1, "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
    #expect(pair.upstream.take(stream) == ("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno", "ended"))
    #expect(stream.isSent && pair.server.streams[1].map { pair.server.take($0).end } == "ended")
  }

  @Test func `nothing is asked of a peer that has not announced it`() {
    let pair = Pair()
    pair.run()
    let stream = pair.upstream.session.open()
    _ = pair.upstream.give(Self.handshake, stream)
    #expect(stream.isBroken && !pair.upstream.session.permitsTunnels)
    #expect(pair.upstream.sent().isEmpty)
  }

  @Test func `a peer that withdraws it is ended`() {
    let fixture = UpstreamFixture(settings: Frame.setting(8, 1))
    #expect(fixture.session.permitsTunnels)
    fixture.feed(Frame.setting(8, 0))
    #expect(fixture.sent().contains { $0.type == 7 && $0.code == 1 } && fixture.session.isOver)
  }

  @Test(arguments: [[2], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]]) func `a peer that announces another number is ended`(
    _ value: [UInt8]
  ) {
    let number = value.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let fixture = UpstreamFixture(settings: Frame.setting(8, number))
    #expect(!fixture.session.permitsTunnels && fixture.session.isOver)
  }

  /// Malformed extended CONNECTs.
  @Test(arguments: [
    connect(1, protocol: ""), connect(1, protocol: "websocket\r\nx: y"), connect(1, protocol: "websocket\n"),
    connect(1, protocol: "websocket\0"), connect(1, protocol: "web socket"), connect(1, protocol: "websocket, h2c"),
    connect(1, method: "GET"), connect(1, method: "POST"),
    Frame.headers(1, [(":method", "CONNECT"), (":protocol", "websocket"), (":authority", "h")], ends: false),
    Frame.request(1, method: "CONNECT", ends: false),
    Frame.request(1, method: "CONNECT", [("content-length", "3")], ends: false, pseudo: [(":protocol", "websocket")]),
    Frame.request(1, method: "CONNECT", ends: false, pseudo: [(":protocol", "websocket"), (":protocol", "websocket")]),
    Frame.request(1, method: "CONNECT", [("upgrade", "websocket")], ends: false, pseudo: [(":protocol", "websocket")]),
  ]) func `a malformed one is reset and never seen`(_ bytes: [UInt8]) {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(bytes)
    #expect(fixture.streams.isEmpty)
    #expect(fixture.sent().contains { $0.type == 3 && $0.code == 1 })
  }

  @Test func `without the announcement an extended CONNECT is malformed`() {
    let fixture = CallerFixture()
    fixture.feed(Self.connect(1))
    #expect(fixture.streams.isEmpty && fixture.sent().contains { $0.type == 3 && $0.code == 1 })
  }

  @Test func `content before the response waits within the window, and is no part of a request`() {
    let fixture = CallerFixture(SessionLimits(window: 16 * 1024, permitsTunnels: true))
    fixture.feed(Self.connect(1) + Frame.data(1, Array("GET / HTTP/1.1\r\n\r\n".utf8)))
    #expect(fixture.head(1)?.hasSuffix("==\r\n\r\n") == true)
    fixture.feed(Frame.data(1, [UInt8](repeating: 0, count: 16 * 1024 - 18)))
    #expect(fixture.sent().isEmpty)
    fixture.feed(Frame.data(1, [1]))
    #expect(fixture.changes(of: fixture.streams[1]).contains(.broken) || fixture.sent().contains { $0.type == 3 })
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 299 X\r\nTransfer-Encoding: chunked\r\n\r\n",
  ]) func `a success that is no switch never reaches the caller, who would take it for one`(_ text: String) {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(Self.connect(1))
    _ = fixture.answer(1, text)
    #expect(fixture.sent().map(\.type) == [3])
  }

  @Test func `a switch that was not asked for never reaches the caller`() {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(Frame.request(1))
    _ = fixture.answer(1, Self.agreed)
    #expect(fixture.sent().map(\.type) == [3])
  }

  @Test func `the switch is a 200 without the fields of HTTP/1.1`() {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(Self.connect(1))
    _ = fixture.answer(1, Self.agreed)
    let frames = fixture.sent()
    #expect(frames.map(\.type) == [1] && frames.map(\.flags) == [4])
    // 0x88 is `:status: 200`; sec-websocket-protocol is the only other field.
    #expect(frames[0].payload.first == 0x88 && frames[0].payload.filter { $0 == 0x10 }.count == 1)
  }

  @Test func `a caller that sends a key gets the proof, and each other handshake has 16 random bytes`() {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(
      Frame.request(
        1, method: "CONNECT", [("sec-websocket-key", "k")], ends: false, pseudo: [(":protocol", "websocket")]))
    _ = fixture.answer(1, Self.agreed)
    #expect(fixture.sent().first?.payload.filter { $0 == 0x10 }.count == 2)
    fixture.feed(Self.connect(3) + Self.connect(5))
    let heads = [3, 5].compactMap { fixture.head($0) }
    let keys = heads.compactMap { $0.split(separator: "Sec-WebSocket-Key: ").last?.prefix { $0 != "\r\n" } }
    #expect(keys.count == 2 && keys[0] != keys[1] && keys.allSatisfy { $0.count == 24 && $0.hasSuffix("==") })
  }

  @Test func `the last bytes of a tunnel are there behind its reset, and of one that is given up no more`() {
    for isGivenUp in [false, true] {
      let fixture = UpstreamFixture(settings: Frame.setting(8, 1))
      let stream = fixture.request(Self.handshake)
      fixture.feed(Frame.headers(1, [(":status", "200")], ends: false))
      _ = fixture.take(stream)
      fixture.feed(Frame.data(1, Array("bye".utf8)) + Frame.reset(1, 2))
      if isGivenUp { fixture.session.finish(stream) }
      #expect(fixture.take(stream) == (isGivenUp ? "" : "bye", "broken"))
      #expect(fixture.goesOn && stream.answer.fault == .reset)
    }
  }

  @Test func `a tunnel that we have ended is left to the upstream to end`() {
    let fixture = UpstreamFixture(settings: Frame.setting(8, 1))
    let stream = fixture.request(Self.handshake)
    fixture.feed(Frame.headers(1, [(":status", "200")], ends: false))
    _ = fixture.give("bye", stream)
    fixture.session.end(stream)
    #expect(fixture.sent().map(\.flags) == [1])
    fixture.session.finish(stream)
    fixture.feed(Frame.data(1, Array("late".utf8), ends: true))
    #expect(fixture.goesOn && fixture.sent().isEmpty)
  }

  @Test func `a tunnel that is given up is reset with CANCEL`() {
    let fixture = CallerFixture(Self.permitted)
    fixture.feed(Self.connect(1))
    _ = fixture.answer(1, Self.agreed)
    _ = fixture.sent()
    fixture.streams[1].map { fixture.session.finish($0) }
    #expect(fixture.sent().map(\.code) == [8])
  }
}
