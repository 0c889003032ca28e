import Bytes
import HTTP
import Testing

@testable import HTTP2

@Suite struct CallerSessionTests {
  @Test(arguments: [true, false])
  func `a stream takes the memory of one that is over and unused, and nothing else of it`(isForgotten: Bool) {
    let fixture = CallerFixture()
    fixture.feed(
      Frame.request(1, method: "POST", [("secret", "s")], ends: false) + Frame.data(1, Array("secret".utf8), ends: true)
    )
    // Neither head nor content is taken.
    _ = fixture.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nSecret: s\r\n\r\nsecret")
    _ = fixture.sent()
    if let stream = fixture.streams[1] { fixture.session.finish(stream) }
    let first = isForgotten ? fixture.forget(1) : fixture.streams[1].map(ObjectIdentifier.init)
    fixture.feed(Frame.request(3, method: "HEAD"))
    #expect((fixture.streams[3].map(ObjectIdentifier.init) == first) == isForgotten)
    #expect(fixture.head(3) == "HEAD /3 HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(fixture.content(3).text == "")
    #expect(fixture.answer(3, "HTTP/1.1 204 No Content\r\n\r\n").hasPrefix("moved"))
    let frames = fixture.sent()
    #expect(frames.count == 1 && frames[0].type == 1 && frames[0].flags == 5, "\(frames)")
    #expect(fixture.session.activeCount == 0)
  }

  @Test func `makes the head and the content of a request`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1, method: "POST", ends: false))
    #expect(fixture.head(1) == "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(fixture.content(1) == ("", "blocked"))
    fixture.feed(Frame.data(1, Array("hello".utf8)))
    #expect(fixture.content(1) == ("5\r\nhello\r\n", "blocked"))
    fixture.feed(Frame.data(1, Array("world".utf8)) + Frame.headers(1, [("x-sum", "1")]))
    #expect(fixture.content(1, pieces: 1) == ("5\r\nworld\r\n0\r\nx-sum: 1\r\n\r\n", "ended"))
  }

  @Test func `passes content of a known length on as it is`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1, method: "POST", [("content-length", "5")], ends: false))
    fixture.feed(Frame.data(1, Array("hel".utf8)) + Frame.data(1, Array("lo".utf8), ends: true))
    #expect(fixture.head(1) == "POST /1 HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\n\r\n")
    #expect(fixture.content(1, pieces: 2) == ("hello", "ended"))
  }

  @Test func `makes frames of a response as it comes`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    let text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      + "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
    for byte in text { _ = fixture.answer(1, String(byte)) }
    let frames = fixture.sent()
    #expect(frames.map(\.type) == [1, 1, 0, 1])
    #expect(frames.map(\.flags) == [4, 4, 0, 5])
    #expect(String(decoding: frames[2].payload, as: UTF8.self) == "hello")
    #expect(fixture.streams[1]?.isSent == true)
  }

  @Test func `interim responses that the caller does not take wait in a bounded place, and the last follows`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: \(String(repeating: "l", count: 30_000))\r\n\r\n"
    let text = Array((String(repeating: hint, count: 32) + "HTTP/1.1 204 No Content\r\n\r\n").utf8)
    guard let stream = fixture.streams[1] else { return }
    var (offset, heads, pauses) = (0, 0, 0)
    while offset < text.count, pauses < 100 {
      let move = text[offset...].withUnsafeBytes { fixture.session.give($0, to: stream) }
      if case .moved(let count) = move {
        offset += count
      } else {
        #expect(stream.isOwed)
        pauses += 1
        heads += fixture.sent().filter { $0.type == 1 }.count
      }
    }
    #expect((7..<100).contains(pauses))
    let rest = fixture.sent().filter { $0.type == 1 }
    #expect(heads + rest.count == 33 && rest.last?.flags == 5 && stream.isSent)
  }

  @Test(arguments: [
    ("HTTP/1.1 204 No Content\r\n\r\n", "GET"), ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "GET"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "HEAD"),
  ]) func `ends a response without content with its head`(_ text: String, _ method: String) {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1, method: method))
    _ = fixture.answer(1, text)
    #expect(fixture.sent().map(\.flags) == [5])
  }

  @Test func `gives credit as content is taken, and not before`() {
    let fixture = CallerFixture(SessionLimits(window: 16 * 1024))
    fixture.feed(Frame.request(1, method: "POST", ends: false))
    fixture.feed(Frame.data(1, [UInt8](repeating: 0, count: 16 * 1024)))
    #expect(fixture.sent().isEmpty)
    _ = fixture.content(1)
    #expect(fixture.sent().filter { $0.type == 8 }.map(\.stream).contains(1))
    // The peer may not send more than it was allowed.
    fixture.feed(Frame.data(1, [UInt8](repeating: 0, count: 16 * 1024)))
    fixture.feed(Frame.data(1, [0]))
    #expect(
      fixture.changes(of: fixture.streams[1]).contains(.broken)
        || fixture.sent().contains { $0.type == 3 && $0.code == 3 })
  }

  @Test func `returns the credit of streams that were reset`() {
    let fixture = CallerFixture(SessionLimits(streams: 4, window: 16 * 1024))
    for number in 0..<40 {
      let id = UInt32(2 * number + 1)
      fixture.feed(Frame.request(id, method: "POST", ends: false))
      fixture.feed(Frame.data(id, [UInt8](repeating: 0, count: 16 * 1024)) + Frame.reset(id))
      if let stream = fixture.streams[Int32(id)] { fixture.session.finish(stream) }
      #expect(fixture.sent().allSatisfy { $0.type == 8 && $0.stream == 0 })
    }
    #expect(fixture.goesOn)
  }

  @Test func `counts a reset stream until its owner has finished it`() {
    let fixture = CallerFixture(SessionLimits(streams: 2))
    for id: UInt32 in [1, 3, 5, 7] { fixture.feed(Frame.request(id) + Frame.reset(id)) }
    #expect(fixture.streams.keys.sorted() == [1, 3])
    #expect(fixture.session.activeCount == 2)
    #expect(fixture.sent().filter { $0.type == 3 }.isEmpty == false)
    #expect(!fixture.session.isInHead)
    fixture.streams.values.forEach { fixture.session.finish($0) }
    #expect(fixture.session.activeCount == 0)
    fixture.feed(Frame.request(9))
    #expect(fixture.streams[9] != nil)
  }

  @Test func `a slow stream stops no other`() {
    let fixture = CallerFixture(SessionLimits(streams: 100, window: 64 * 1024))
    var id: UInt32 = 1
    for _ in 0..<99 {
      fixture.feed(Frame.request(id, method: "POST", ends: false))
      for _ in 0..<4 { fixture.feed(Frame.data(id, [UInt8](repeating: 0, count: 16 * 1024))) }
      id += 2
    }
    fixture.feed(Frame.request(id, method: "POST", ends: false) + Frame.data(id, Array("hello".utf8), ends: true))
    #expect(fixture.head(Int32(id)) != nil)
    #expect(fixture.content(Int32(id)).text == "5\r\nhello\r\n0\r\n\r\n")
    #expect(fixture.goesOn)
  }

  @Test func `a response that is not taken waits in a bounded place`() {
    let fixture = CallerFixture(SessionLimits(window: 16 * 1024))
    fixture.feed(Frame.setting(4, 0) + Frame.request(1))
    #expect(fixture.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") != "blocked")
    let piece = String(repeating: "x", count: 10_000)
    #expect((0..<3).map { _ in fixture.answer(1, piece) } == ["moved(10000)", "moved(6384)", "blocked"])
    #expect(fixture.sent().filter { $0.type == 0 }.isEmpty)
    fixture.feed(Frame.window(1, 5000))
    #expect(fixture.sent().filter { $0.type == 0 }.map(\.payload.count) == [5000])
    #expect(fixture.answer(1, piece) == "moved(5000)")
  }

  @Test func `a response's head may have as many bytes as the limit for heads`() {
    let fixture = CallerFixture(SessionLimits(head: HeadLimits(headBytes: 128 * 1024)))
    fixture.feed(Frame.request(1))
    let value = String(repeating: "x", count: 50_000)
    let head = "HTTP/1.1 200 OK\r\nA: \(value)\r\nB: \(value)\r\nContent-Length: 0\r\n\r\n"
    var rest = Substring(head)
    while !rest.isEmpty, fixture.goesOn {
      #expect(fixture.answer(1, String(rest.prefix(16_000))) != "blocked")
      rest = rest.dropFirst(16_000)
    }
    #expect(fixture.sent().filter { $0.stream == 1 }.map(\.type).first == 1)
  }

  @Test(arguments: [true, false])
  func `a session that ends takes frames until the last bytes are written`(isPeers: Bool) {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    if isPeers { fixture.feed(Frame.goaway(0)) } else { fixture.session.refuseMore() }
    _ = fixture.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    #expect(fixture.sent().last?.flags == 1 && fixture.session.isOver)
    // Frames that were made wait for the socket, and the peer may still send credit.
    #expect(fixture.feed(Frame.window(0, 1000)) && fixture.feed(Frame.ping))
  }

  @Test func `a peer that goes on beyond the limit loses its connection`() {
    let fixture = CallerFixture(SessionLimits(streams: 1))
    var id: UInt32 = 1
    while fixture.goesOn, !fixture.session.isOver, id < 3000 {
      fixture.feed(Frame.request(id))
      _ = fixture.sent()
      id += 2
    }
    #expect(!fixture.goesOn || fixture.session.isOver)
    #expect(fixture.streams.count == 1)
  }

  @Test func `says in two steps that it ends`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    fixture.session.announceEnd()
    let notice = fixture.sent()
    #expect(notice.map(\.type) == [7, 6] && notice[0].payload.prefix(4) == [0x7F, 0xFF, 0xFF, 0xFF])
    // On its way when the notice was sent.
    fixture.feed(Frame.request(3) + Frame.frame(6, flags: 1, notice[1].payload))
    #expect(fixture.session.pongCount == 1 && fixture.streams[3] != nil)
    fixture.session.refuseMore()
    let last = fixture.sent()
    #expect(last.map(\.type) == [7] && last[0].payload.prefix(4) == [0, 0, 0, 3])
    fixture.feed(Frame.request(5))
    #expect(fixture.streams[5] == nil)
    #expect(fixture.answer(3, "HTTP/1.1 204 No Content\r\n\r\n") != "broken")
  }

  @Test func `resets a stream whose owner gives up`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    fixture.streams[1].map(fixture.session.finish)
    #expect(fixture.session.activeCount == 0)
    #expect(fixture.sent().filter { $0.type == 3 }.map(\.code) == [2])
  }

  /// A caller that goes on sending behind its response: pieces of content, nanoseconds between them, and if it is told
  /// to stop.
  @Test(arguments: [
    (1, UInt64(0), false), (100, 0, false), (CallerSession.lingeringBytes / 16_384, 0, true),
    (2, 290_000_000_000, false), (2, 300_000_000_000, true),
  ]) func `drops the rest of a request for a while, and tells then that it is not wanted`(
    _ pieces: Int, _ pause: UInt64, _ isReset: Bool
  ) {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1, method: "POST", ends: false))
    _ = fixture.answer(1, "HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")
    _ = fixture.sent()
    fixture.streams[1].map(fixture.session.finish)
    #expect(fixture.session.activeCount == 0 && fixture.sent().isEmpty)
    var resets: [UInt32] = []
    let piece = Frame.data(1, [UInt8](repeating: 0, count: 16_384))
    for _ in 0..<pieces {
      fixture.feed(piece)
      // The caller gets credit for what was dropped.
      let frames = fixture.sent()
      resets += frames.filter { $0.type == 3 }.map(\.code)
      fixture.now += pause
      #expect(fixture.goesOn)
    }
    #expect(resets == (isReset ? [0] : []))
    if !isReset {
      fixture.feed(Frame.data(1, [], ends: true))
      #expect(fixture.sent().allSatisfy { $0.type == 8 })
    }
  }
}

extension CallerSessionTests {
  @Test func `a peer may open another stream as soon as one has ended on both sides`() {
    let fixture = CallerFixture(SessionLimits(streams: 1))
    fixture.feed(Frame.request(1))
    _ = fixture.answer(1, "HTTP/1.1 204 No Content\r\n\r\n")
    #expect(fixture.sent().map(\.flags) == [5])
    fixture.feed(Frame.request(3))
    #expect(fixture.streams[3] != nil && fixture.session.activeCount == 1)
    fixture.streams[1].map(fixture.session.finish)
    #expect(fixture.session.activeCount == 1)
  }

  @Test func `leaves the end of a stream to a peer that has sent all its content`() {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1, method: "POST", [("content-length", "5")], ends: false))
    fixture.feed(Frame.data(1, Array("hello".utf8)))
    _ = fixture.answer(1, "HTTP/1.1 204 No Content\r\n\r\n")
    _ = fixture.sent()
    fixture.streams[1].map(fixture.session.finish)
    #expect(fixture.sent().isEmpty && fixture.session.activeCount == 0)
    fixture.feed(Frame.data(1, [], ends: true))
    #expect(fixture.goesOn && fixture.sent().isEmpty)
  }
}
