import Bytes
import HTTP
import Testing

@testable import HTTP2

@Suite struct UpstreamSessionTests {
  @Test func `carries requests and responses with trailers, in pieces of any size`() {
    for pieces in [1, 7, 4096] {
      let pair = Pair()
      let stream = pair.upstream.session.open()
      let text =
        "POST /a?b HTTP/1.1\r\nHost: h:1\r\nConnection: TE\r\nTE: trailers\r\nX-A: 1\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
      for byte in text { _ = pair.upstream.give(String(byte), stream) }
      pair.run()
      #expect(
        pair.request(1)
          == "POST /a?b HTTP/1.1\r\nHost: h:1\r\nx-a: 1\r\nte: trailers\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
      pair.answer(1, "HTTP/1.1 103 Early\r\nLink: l\r\n\r\n")
      pair.answer(1, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-B: 2\r\n\r\n")
      pair.answer(1, "2\r\nhi\r\n0\r\nX-End: 3\r\n\r\n")
      #expect(
        pair.upstream.take(stream, pieces: pieces) == (
          "HTTP/1.1 103 Early Hints\r\nlink: l\r\n\r\nHTTP/1.1 200 OK\r\nx-b: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "2\r\nhi\r\n0\r\nx-end: 3\r\n\r\n", "ended"
        ))
      #expect(stream.isSent && !stream.isBroken)
    }
  }

  @Test(arguments: [
    ("GET", [(":status", "200")], true, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("GET", [(":status", "200"), ("content-length", "0")], true, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
    ("GET", [(":status", "204")], true, "HTTP/1.1 204 No Content\r\n\r\n"),
    (
      "GET", [(":status", "304"), ("content-length", "9")], true,
      "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n"
    ),
    ("HEAD", [(":status", "200"), ("content-length", "9")], true, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
    ("HEAD", [(":status", "200")], true, "HTTP/1.1 200 OK\r\n\r\n"),
    ("HEAD", [(":status", "200")], false, "HTTP/1.1 200 OK\r\n\r\n"),
    ("GET", [(":status", "200"), ("content-length", "2")], false, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"),
    ("GET", [(":status", "200")], false, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
  ]) func `frames a response as its head says`(
    _ method: String, _ fields: [(String, String)], _ ends: Bool, _ expected: String
  ) {
    let fixture = UpstreamFixture()
    let stream = fixture.request("\(method) / HTTP/1.1\r\nHost: h\r\n\r\n")
    fixture.feed(Frame.headers(1, fields, ends: ends))
    if !ends { fixture.feed(Frame.data(1, method == "HEAD" ? [] : Array("hi".utf8), ends: true)) }
    #expect(fixture.take(stream) == (expected, "ended"))
    #expect(stream.answer.fault == nil)
  }

  @Test func `sends a request's fields as HTTP/2 has them, and a token that no table keeps`() {
    let fixture = UpstreamFixture()
    let stream = fixture.session.open()
    _ = fixture.give(
      "GET /p HTTP/1.1\r\nHost: h\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n"
        + "Authorization: Bearer t\r\n\r\n",
      stream)
    let frames = fixture.sent()
    #expect(frames.map(\.type) == [1] && frames.map(\.flags) == [5])
    let payload = frames[0].payload
    // 0x1F 0x08: a literal that is never indexed (RFC 7541 §6.2.3), of the static table's name 23, authorization.
    #expect(payload.indices.dropLast().contains { payload[$0] == 0x1F && payload[$0 + 1] == 0x08 })
  }

  @Test func `gives credit as content is taken, and not before`() {
    let fixture = UpstreamFixture(SessionLimits(window: 16 * 1024))
    let stream = fixture.request()
    fixture.feed(Frame.headers(1, [(":status", "200")], ends: false))
    fixture.feed(Frame.data(1, [UInt8](repeating: 0, count: 16 * 1024)))
    #expect(fixture.sent().isEmpty)
    _ = fixture.take(stream)
    #expect(fixture.sent().contains { $0.type == 8 && $0.stream == 1 })
    fixture.feed(Frame.data(1, [UInt8](repeating: 0, count: 16 * 1024)))
    // The peer may not send more than it was allowed.
    fixture.feed(Frame.data(1, [0]))
    #expect(stream.isBroken || fixture.sent().contains { $0.type == 3 && $0.code == 3 })
  }

  @Test func `returns the credit of streams that were given up`() {
    let fixture = UpstreamFixture(SessionLimits(streams: 4, window: 16 * 1024))
    for number in 0..<40 {
      let stream = fixture.request()
      let id = UInt32(2 * number + 1)
      fixture.feed(Frame.headers(id, [(":status", "200")], ends: false))
      fixture.feed(Frame.data(id, [UInt8](repeating: 0, count: 16 * 1024)))
      fixture.session.finish(stream)
      #expect(fixture.sent().contains { $0.type == 3 && $0.stream == id && $0.code == 8 })
    }
    #expect(fixture.goesOn)
  }

  @Test func `a request waits in a bounded buffer for the upstream's window`() {
    let fixture = UpstreamFixture(SessionLimits(window: 16 * 1024), settings: Frame.setting(4, 10))
    let stream = fixture.request("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
    let content = String(repeating: "x", count: 100_000)
    #expect(fixture.give(content, stream) == "moved(16384)")
    #expect(fixture.sent().filter { $0.type == 0 }.map(\.payload.count) == [10])
    #expect(fixture.give(content, stream) == "moved(10)")
    #expect(fixture.give(content, stream) == "blocked")
    fixture.feed(Frame.window(1, 20))
    #expect(fixture.sent().filter { $0.type == 0 }.map(\.payload.count) == [20])
  }

  @Test func `an answer before the end of the request is whole, whatever becomes of the rest`() {
    let fixture = UpstreamFixture()
    let stream = fixture.request("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12345")
    fixture.feed(Frame.headers(1, [(":status", "413"), ("content-length", "0")]) + Frame.reset(1, 0))
    #expect(fixture.take(stream) == ("HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n", "ended"))
    #expect(fixture.give("67890", stream) == "broken")
    #expect(stream.answer.fault == nil)
  }

  /// Frames of an upstream after the head of a request, and the fault, which decides if the request is repeated.
  static let ends: [([UInt8], AnswerProgress.Fault)] = [
    (Frame.reset(1, 7), .notProcessed), (Frame.reset(1, 13), .demandsHTTP11), (Frame.reset(1, 2), .reset),
    (Frame.goaway(0), .notProcessed),
    (Frame.headers(1, [(":status", "200")], ends: false) + Frame.reset(1, 0), .reset),
    (Frame.headers(1, [(":status", "200"), ("Upper", "x")]), .malformed),
    (Frame.headers(1, [(":status", "200"), ("connection", "close")]), .malformed),
    (Frame.headers(1, [(":status", "200"), ("transfer-encoding", "chunked")]), .malformed),
    (Frame.headers(1, [(":status", "20")]), .malformed), (Frame.headers(1, [("x", "y")]), .malformed),
    (Frame.headers(1, [(":status", "200"), (":status", "200")]), .malformed),
    (Frame.headers(1, [("x", "y"), (":status", "200")]), .malformed),
    (Frame.headers(1, [(":status", "200"), (":path", "/")]), .malformed),
    (Frame.headers(1, [(":status", "101")]), .malformed),
    (Frame.headers(1, [(":status", "200"), ("x", "a\r\nb: c")]), .malformed),
    (Frame.headers(1, [(":status", "200"), ("x", "a\0b")]), .malformed),
    (Frame.headers(1, [(":status", "100")], ends: true), .malformed),
    (Frame.headers(1, [(":status", "200"), ("content-length", "3")], ends: true), .malformed),
    (Frame.headers(1, [(":status", "200"), ("content-length", "1"), ("content-length", "1")]), .malformed),
    (
      Frame.headers(1, [(":status", "200"), ("content-length", "3")], ends: false) + Frame.data(1, [1], ends: true),
      .malformed
    ),
    (
      Frame.headers(1, [(":status", "200"), ("content-length", "1")], ends: false) + Frame.data(1, [1, 2]), .malformed
    ),
    (Frame.headers(1, [(":status", "204")], ends: false) + Frame.data(1, [1], ends: true), .malformed),
    (
      Frame.headers(1, [(":status", "200")], ends: false) + Frame.headers(1, [(":status", "200")], ends: true),
      .malformed
    ),
    (
      Frame.headers(1, [(":status", "200")], complete: false) + Frame.continuation(1, large)
        + Frame.continuation(1, large) + Frame.continuation(1, large, complete: true), .headTooLarge
    ),
  ]

  private static let large = [("x", String(repeating: "y", count: 12_000))]

  @Test(arguments: ends.indices) func `tells apart how a stream ends without an answer`(_ index: Int) {
    let (bytes, fault) = Self.ends[index]
    let fixture = UpstreamFixture()
    let stream = fixture.request()
    for start in stride(from: 0, to: bytes.count, by: 16_000) {
      fixture.feed(Array(bytes[start..<min(start + 16_000, bytes.count)]))
    }
    _ = fixture.sent()
    #expect(stream.answer.fault == fault)
    #expect(fixture.take(stream).end == "broken")
    #expect(fixture.changes(of: stream).contains(.broken))
  }

  @Test func `content before the head of a response ends the connection`() {
    let fixture = UpstreamFixture()
    let stream = fixture.request()
    fixture.feed(Frame.data(1, [1]) + Frame.headers(1, [(":status", "204")]))
    #expect(fixture.take(stream).text.isEmpty)
    #expect(fixture.sent().contains { $0.type == 7 && $0.code == 1 } && fixture.session.isOver)
  }

  @Test func `what follows a whole response changes nothing of it`() {
    for late in [Frame.data(1, [1], ends: true), Frame.headers(1, [("x", "y")]), Frame.reset(1, 2)] {
      let fixture = UpstreamFixture()
      let stream = fixture.request("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12345")
      fixture.feed(Frame.headers(1, [(":status", "200"), ("content-length", "2")], ends: false))
      fixture.feed(Frame.data(1, Array("hi".utf8), ends: true) + late)
      _ = fixture.sent()
      let (text, end) = fixture.take(stream)
      #expect(text == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi" && end == "ended")
    }
  }

  @Test func `interim heads are bounded by their decoded bytes`() {
    let fixture = UpstreamFixture()
    let stream = fixture.request()
    // A field of 4000 bytes in the table, then its number again and again: 7 bytes are 27 KiB.
    let first =
      Frame.block([(":status", "103")]) + Frame.block([("x", String(repeating: "a", count: 3900))], indexed: true)
    fixture.feed(Frame.frame(1, flags: 4, stream: 1, first))
    var heads = 1
    while stream.answer.fault == nil, heads < 64 {
      fixture.feed(
        Frame.frame(1, flags: 4, stream: 1, Frame.block([(":status", "103")]) + [UInt8](repeating: 0xBE, count: 7)))
      heads += 1
    }
    #expect(stream.answer.fault == .malformed && heads <= 4)
    #expect(stream.head.capacity <= 128 * 1024)
    // Usual ones are far from the limit.
    let (usual, other) = (UpstreamFixture(), [(":status", "103"), ("link", String(repeating: "l", count: 900))])
    let waiting = usual.request()
    for _ in 0..<32 { usual.feed(Frame.headers(1, other, ends: false)) }
    #expect(waiting.answer.fault == nil)
  }

  @Test func `a stream behind the last one of a GOAWAY was not processed, and the others go on`() {
    let fixture = UpstreamFixture()
    let (first, second) = (fixture.request(), fixture.request())
    fixture.feed(Frame.goaway(1))
    #expect(second.answer.fault == .notProcessed && !first.isBroken)
    #expect(!fixture.session.takesStreams && fixture.session.isLeaving)
    let late = fixture.session.open()
    _ = fixture.give("GET / HTTP/1.1\r\nHost: h\r\n\r\n", late)
    #expect(late.isBroken && late.answer.fault == nil || late.answer.fault == .notProcessed)
    fixture.feed(Frame.headers(1, [(":status", "200")]))
    #expect(fixture.take(first).end == "ended")
    #expect(fixture.session.isOver)
  }

  @Test func `a request that has not left was not processed when its connection is lost`() {
    let fixture = UpstreamFixture()
    let (left, waiting) = (fixture.request(), fixture.session.open())
    _ = fixture.give("POST / HTTP/1.1\r\nHost: h\r\n\r\n", waiting)
    fixture.session.breakAll()
    #expect(left.answer.fault == .lost && waiting.answer.fault == .notProcessed)
  }

  @Test(arguments: [
    ([UInt8]([0, 3, 0, 0, 0, 7]), 7), ([0, 3, 0, 0, 1, 44], 100), ([], 100), ([0, 3, 0, 0, 0, 0], 0),
  ]) func `the peer says how many streams it takes`(_ settings: [UInt8], _ capacity: Int) {
    let fixture = UpstreamFixture(settings: nil)
    #expect(fixture.session.capacity == nil)
    fixture.feed(Frame.frame(4, settings))
    #expect(fixture.session.capacity == capacity)
  }

  @Test func `an answered stream whose end is late takes no other's place`() {
    let fixture = UpstreamFixture(settings: Frame.setting(3, 1))
    let first = fixture.request()
    fixture.feed(Frame.headers(1, [(":status", "200"), ("content-length", "2")], ends: false))
    fixture.feed(Frame.data(1, Array("hi".utf8)))
    _ = fixture.take(first)
    fixture.session.finish(first)
    #expect(fixture.sent().allSatisfy { $0.type == 8 })
    let second = fixture.session.open()
    _ = fixture.give("GET / HTTP/1.1\r\nHost: h\r\n\r\n", second)
    #expect(fixture.sent().map(\.type) == [3, 1])
  }

  /// Frames of a lying upstream that are repeated until the session ends, the abuse, and the most bytes it may take.
  static let floods: [(String, [UInt8], Int)] = [
    ("settings", Frame.settings, 100_000), ("ping", Frame.ping, 100_000), ("window", Frame.window(0, 1), 100_000),
    ("empty data", Frame.data(1, []), 100_000),
    ("late heads", Frame.headers(1, [("x", "y")]), 1_000_000),
    ("interim heads", Frame.headers(1, [(":status", "103")], ends: false), 100_000),
    ("push", Frame.frame(5, flags: 4, stream: 1, Frame.number(2) + Frame.block([(":path", "/")])), 1000),
  ]

  @Test(arguments: floods.indices) func `ends a flood`(_ index: Int) {
    let (name, frame, limit) = Self.floods[index]
    let fixture = UpstreamFixture()
    let stream = fixture.request()
    if name == "empty data" { fixture.feed(Frame.headers(1, [(":status", "200")], ends: false)) }
    if name == "late heads" { fixture.feed(Frame.reset(1, 2)) }
    var bytes = 0
    while fixture.goesOn, !fixture.session.isOver, bytes < limit {
      fixture.feed(frame)
      _ = fixture.sent()
      bytes += frame.count
      if name == "interim heads", stream.isBroken { break }
    }
    #expect(bytes < limit, "\(name)")
    #expect(fixture.session.abuse != nil || stream.isBroken || !fixture.goesOn || fixture.session.isOver)
  }

  @Test func `ends a connection whose peer does not speak HTTP/2`() {
    let fixture = UpstreamFixture(settings: nil)
    let stream = fixture.request()
    fixture.feed(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
    _ = fixture.sent()
    #expect(fixture.session.isOver)
    fixture.session.breakAll()
    #expect(stream.isBroken && fixture.session.capacity == nil)
  }
}
