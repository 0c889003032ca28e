// Peers that flood a session, and peers that break the protocol.

import Bytes
import HTTP
import Testing

@testable import HTTP2

/// A flood: bytes that a peer repeats, and the abuse for which that ends the session.
struct FloodCase: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var expected: SessionAbuse?
  var bytes: @Sendable (UInt32) -> [UInt8]

  init(_ name: String, _ expected: SessionAbuse?, _ bytes: @escaping @Sendable (_ stream: UInt32) -> [UInt8]) {
    (testDescription, self.expected, self.bytes) = (name, expected, bytes)
  }
}

@Suite struct SessionFloodTests {
  static let floods = [
    FloodCase("requests that are reset at once", .resets) { Frame.request($0) + Frame.reset($0) },
    FloodCase("a window that is made too large", .streamErrors) {
      Frame.request($0) + Frame.window($0, 0x7FFF_FFFF)
    },
    FloodCase("malformed requests", .streamErrors) { Frame.request($0, [("connection", "close")]) },
    FloodCase("requests without a path", .streamErrors) { Frame.headers($0, [(":method", "GET")]) },
    FloodCase("empty DATA frames", .idleFrames) { stream in
      stream == 1 ? Frame.request(1, method: "POST", ends: false) : Frame.data(1, [])
    },
    FloodCase("DATA frames of padding", .idleFrames) { stream in
      stream == 1
        ? Frame.request(1, method: "POST", ends: false) : Frame.frame(0, flags: 8, stream: 1, [0])
    },
    FloodCase("SETTINGS", .idleFrames) { _ in Frame.settings },
    FloodCase("PING", .idleFrames) { _ in Frame.ping },
    FloodCase("PRIORITY", .idleFrames) { Frame.priority($0) },
    FloodCase("WINDOW_UPDATE", .idleFrames) { _ in Frame.window(0, 1) },
    FloodCase("resets of a stream that is over", .idleFrames) { stream in
      stream == 1 ? Frame.request(1) + Frame.reset(1) : Frame.reset(1)
    },
    FloodCase("HEADERS on a stream that is over", .idleFrames) { stream in
      stream == 1 ? Frame.request(1) + Frame.reset(1) + Frame.request(3) + Frame.reset(3) : Frame.request(3)
    },
  ]

  @Test(arguments: floods) func `is ended`(_ flood: FloodCase) {
    let fixture = CallerFixture()
    var count = 0
    while fixture.goesOn, count < 5000 {
      fixture.feed(flood.bytes(UInt32(2 * count + 1)))
      _ = fixture.sent()
      // Served at once, as fast as any upstream could.
      fixture.streams.values.filter { $0.id > 1 }.forEach { fixture.session.finish($0) }
      count += 1
    }
    #expect(fixture.session.abuse == flood.expected)
    #expect(count <= 1100, "\(count)")
    var output = ByteBuffer(capacity: 64)
    fixture.session.writeCalm(to: &output)
    let frames = SentFrame.all(output.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } })
    #expect(frames.map(\.type) == [7] && frames.map(\.code) == [11])
  }

  @Test(arguments: floods) func `does not end a peer that does it now and then`(_ flood: FloodCase) {
    let fixture = CallerFixture()
    for count in 0..<2000 {
      fixture.now += 250_000_000
      fixture.feed(flood.bytes(UInt32(2 * count + 1)))
      _ = fixture.sent()
      fixture.streams.values.filter { $0.id > 1 }.forEach { fixture.session.finish($0) }
    }
    #expect(fixture.goesOn && fixture.session.abuse == nil)
  }

  @Test func `streams that their peer ends by resets as a matter of course are no flood`() {
    let fixture = CallerFixture()
    for count: UInt32 in 0..<3000 {
      fixture.feed(Frame.request(2 * count + 1))
      guard let stream = fixture.streams[Int32(2 * count + 1)] else { break }
      stream.mayBeReset = true
      fixture.feed(Frame.reset(2 * count + 1))
      fixture.session.finish(stream)
    }
    #expect(fixture.streams.count == 3000)
    #expect(fixture.goesOn && fixture.session.abuse == nil)
  }

  @Test func `streams that are refused for lack of room are no abuse`() {
    let fixture = CallerFixture()
    for count: UInt32 in 0..<3000 {
      fixture.feed(Frame.request(2 * count + 1))
      guard let stream = fixture.streams[Int32(2 * count + 1)] else { break }
      fixture.session.refuse(stream)
      #expect(fixture.sent().contains { $0.type == 3 && $0.code == 7 })
    }
    #expect(fixture.streams.count == 3000)
    #expect(fixture.goesOn && fixture.session.abuse == nil)
    // A caller that does not know the limit yet.
    let eager = SessionFixture(CallerSession(SessionLimits(streams: 1)))
    eager.feed(Frame.preface + Frame.settings)
    for count: UInt32 in 0..<3000 { eager.feed(Frame.request(2 * count + 1)) }
    #expect(eager.sent().filter { $0.type == 3 && $0.code == 7 }.count == 2999)
    #expect(eager.goesOn && eager.session.abuse == nil)
  }

  /// Windows that open by so much, and what becomes of the session.
  @Test(arguments: [(1, true), (1023, true), (1024, false)])
  func `a window that opens by little again and again ends the session`(_ step: UInt32, _ isAbuse: Bool) {
    let fixture = CallerFixture()
    fixture.feed(Frame.setting(4, 0) + Frame.request(1))
    let content = String(repeating: "x", count: 60_000)
    _ = fixture.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
    var count = 0
    while fixture.goesOn, count < 3000 {
      _ = fixture.answer(1, content)
      fixture.feed(Frame.window(0, step) + Frame.window(1, step))
      #expect(!fixture.goesOn || fixture.sent().contains { $0.type == 0 && $0.payload.count == step })
      count += 1
    }
    #expect(fixture.session.abuse == (isAbuse ? .idleFrames : nil))
  }

  @Test func `a header block that grows when decoded ends the session`() {
    let fixture = CallerFixture()
    // A field of 4000 bytes in the table, then its number again and again.
    var block = Frame.block([(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")])
    block += Frame.block([("x", String(repeating: "a", count: 3900))], indexed: true)
    block += [UInt8](repeating: 0xBE, count: 10_000)
    fixture.feed(Frame.frame(1, flags: 5, stream: 1, block))
    #expect(fixture.session.abuse == .headers)
    #expect(fixture.streams.isEmpty)
  }

  @Test func `a head over the limit is not kept`() {
    let fixture = CallerFixture()
    let more = (0..<9).map { ("x-\($0)", String(repeating: "a", count: 4000)) }
    fixture.feed(Frame.headers(1, FieldsOfRequest.plain, complete: false))
    for field in more { fixture.feed(Frame.continuation(1, [field])) }
    // More CONTINUATION frames than any client needs end the session, too (CVE-2024-28182).
    #expect(!fixture.goesOn || fixture.session.isInHead)
    for _ in 0..<20 { fixture.feed(Frame.continuation(1, [("y", "z")])) }
    #expect(!fixture.goesOn)
  }

  @Test func `a large head is refused, and nothing of it is kept`() {
    let fixture = CallerFixture()
    let more = (0..<9).map { ("x-\($0)", String(repeating: "a", count: 4000)) }
    let block = Frame.block(FieldsOfRequest.plain + more)
    fixture.feed(Frame.frame(1, flags: 1, stream: 1, Array(block.prefix(16_000))))
    fixture.feed(Frame.frame(9, flags: 0, stream: 1, Array(block.dropFirst(16_000).prefix(16_000))))
    fixture.feed(Frame.frame(9, flags: 4, stream: 1, Array(block.dropFirst(32_000))))
    #expect(fixture.streams[1]?.isHeadTooLarge == true)
    #expect(fixture.head(1) == "")
    #expect(fixture.goesOn)
  }

  @Test(arguments: BrokenPeer.all) func `a peer that breaks the protocol is ended`(_ peer: BrokenPeer) {
    let session = CallerSession(SessionLimits())
    let bytes = (peer.hasPreface ? Frame.preface + Frame.settings : []) + peer.bytes
    let goesOn = session.receive(bytes.span, at: 1)
    var output = ByteBuffer(capacity: 64)
    let isFine = session.write(to: &output, limit: 1 << 20) && goesOn
    let more = Frame.ping
    let goesOnStill = session.receive(more.span, at: 1)
    #expect(!isFine || !goesOnStill || session.isOver)
  }
}

enum FieldsOfRequest {
  static let plain = [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")]
}

/// Bytes with which a peer breaks the protocol.
struct BrokenPeer: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var bytes: [UInt8]
  var hasPreface: Bool

  init(_ name: String, _ bytes: [UInt8], hasPreface: Bool = true) {
    (testDescription, self.bytes, self.hasPreface) = (name, bytes, hasPreface)
  }

  static let all: [BrokenPeer] = [
    BrokenPeer("a broken preface", Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8), hasPreface: false),
    BrokenPeer("DATA on no stream", Frame.data(0, [1])),
    BrokenPeer("DATA on an idle stream", Frame.data(1, [1])),
    BrokenPeer("an even stream", Frame.request(2)),
    BrokenPeer("a window that grows by nothing", Frame.request(1) + Frame.window(1, 0)),
    BrokenPeer("a frame inside a header block", Frame.headers(1, FieldsOfRequest.plain, complete: false) + Frame.ping),
    BrokenPeer("CONTINUATION without HEADERS", Frame.continuation(1, [("a", "b")])),
    BrokenPeer("PUSH_PROMISE", Frame.frame(5, flags: 4, stream: 1, [0, 0, 0, 2])),
    BrokenPeer("a frame that is too large", Frame.frame(0, [UInt8](repeating: 0, count: 16_385))),
    BrokenPeer("PING of 7 bytes", Frame.frame(6, [1, 2, 3, 4, 5, 6, 7])),
    BrokenPeer("SETTINGS of 5 bytes", Frame.frame(4, [1, 2, 3, 4, 5])),
    BrokenPeer("too large a window", Frame.window(0, 0x7FFF_FFFF)),
    BrokenPeer("a broken header block", Frame.frame(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF])),
  ]
}
