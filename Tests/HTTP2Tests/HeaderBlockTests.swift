import Bytes
import HTTP
import Testing

@testable import HTTP2

/// A field as it is in a header block: the form, and the text of those that are literals.
private struct BlockField: Equatable {
  enum Form: UInt8 { case indexed, ordinary, secret, kept, sizeUpdate }
  var form: Form
  var name: String
  var value: String

  /// Reads a block without Huffman codes. Names of the static table are its numbers.
  static func all(_ block: [UInt8]) -> [BlockField] {
    var (fields, rest) = ([BlockField](), block[...])
    func integer(_ bits: UInt8) -> Int {
      let highest = (1 << Int(bits)) - 1
      var value = Int(rest.removeFirst()) & highest
      if value < highest { return value }
      for shift in stride(from: 0, to: 28, by: 7) {
        let byte = rest.removeFirst()
        value += Int(byte & 127) << shift
        if byte < 128 { break }
      }
      return value
    }
    func text() -> String {
      #expect(rest.first.map { $0 < 128 } == true, "a Huffman code")
      let count = integer(7)
      defer { rest = rest.dropFirst(count) }
      return String(decoding: rest.prefix(count), as: UTF8.self)
    }
    while let first = rest.first {
      let form: Form =
        switch first {
        case 0x80...: .indexed
        case 0x40...: .kept
        case 0x20...: .sizeUpdate
        case 0x10...: .secret
        default: .ordinary
        }
      let index = integer(form == .indexed ? 7 : form == .kept ? 6 : form == .sizeUpdate ? 5 : 4)
      let name = form == .indexed || index > 0 ? "\(index)" : text()
      fields.append(BlockField(form: form, name: name, value: form == .indexed ? "" : text()))
    }
    return fields
  }
}

@Suite struct HeaderBlockTests {
  private static let token = String(repeating: "token", count: 300)

  @Test func `no table keeps a field of a request, and a secret is marked as one`() {
    let fixture = UpstreamFixture()
    for _ in 0..<2 {
      let stream = fixture.session.open()
      _ = fixture.give(
        "GET /p?q HTTP/1.1\r\nHost: h\r\nAccept: a\r\nAuthorization: Bearer \(Self.token)\r\n"
          + "Cookie: session=0123456789012345678901234567890\r\nX-API-Key: k\r\nX-Forwarded-For: 1\r\n\r\n",
        stream)
      let frames = fixture.sent()
      #expect(frames.map(\.type) == [1])
      #expect(
        BlockField.all(frames[0].payload) == [
          BlockField(form: .indexed, name: "2", value: ""), BlockField(form: .indexed, name: "6", value: ""),
          BlockField(form: .ordinary, name: "1", value: "h"), BlockField(form: .ordinary, name: "4", value: "/p?q"),
          BlockField(form: .ordinary, name: "19", value: "a"),
          BlockField(form: .secret, name: "23", value: "Bearer \(Self.token)"),
          BlockField(form: .secret, name: "32", value: "session=0123456789012345678901234567890"),
          BlockField(form: .secret, name: "x-api-key", value: "k"),
          BlockField(form: .secret, name: "x-forwarded-for", value: "1"),
        ])
    }
  }

  @Test(arguments: [
    (200, "indexed 8 "), (204, "indexed 9 "), (206, "indexed 10 "), (304, "indexed 11 "), (400, "indexed 12 "),
    (404, "indexed 13 "), (500, "indexed 14 "), (299, "ordinary 8 299"), (503, "ordinary 8 503"),
  ]) func `no table keeps a field of a response`(_ status: Int, _ first: String) {
    let fixture = CallerFixture()
    fixture.feed(Frame.request(1))
    _ = fixture.answer(
      1, "HTTP/1.1 \(status) X\r\nContent-Type: t\r\nSet-Cookie: c=1\r\nX-B: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
    let frames = fixture.sent()
    let fields = frames.first.map { BlockField.all($0.payload) } ?? []
    #expect(
      fields.map { "\($0.form) \($0.name) \($0.value)" }
        == [first, "ordinary 31 t", "secret 55 c=1", "secret x-b 2"])
  }

  /// Bytes by which a block is longer than a frame may be, and the lengths of its frames.
  @Test(arguments: [
    (-1, [16_383]), (0, [16_384]), (1, [16_384, 1]), (16_384, [16_384, 16_384]),
    (40_000, [16_384, 16_384, 16_384, 7232]),
  ]) func `fields without room in a frame go on in the next`(_ excess: Int, _ lengths: [Int]) {
    let limits = SessionLimits(head: HeadLimits(headBytes: 128 * 1024))
    func request(_ count: Int) -> String {
      "GET /a HTTP/1.1\r\nHost: h\r\nauthorization: \(String(repeating: "t", count: count))\r\nx-a: b\r\n\r\n"
    }
    let first = UpstreamFixture(limits)
    _ = first.give(request(16_000), first.session.open())
    let frame = first.sent()
    #expect(frame.map(\.payload.count) == [frame[0].payload.count])
    // Three bytes have the length of up to 16,510 bytes of text; beyond, the length takes one byte more.
    var count = 16_000 + 16_384 - frame[0].payload.count + excess
    if count >= 127 + 16_384 { count -= 1 }

    let pair = Pair(limits)
    pair.run()
    #expect(pair.upstream.give(request(count), pair.upstream.session.open()) != "broken")
    let bytes = pair.upstream.written()
    let frames = SentFrame.all(bytes)
    #expect(frames.map(\.payload.count) == lengths)
    #expect(frames.map(\.type) == [1] + lengths.dropFirst().map { _ in 9 })
    #expect(frames.map { $0.flags & 4 } == lengths.dropLast().map { _ in 0 } + [4])
    #expect(frames.allSatisfy { $0.stream == 1 } && frames.first.map { $0.flags & 1 } == 1)
    pair.server.feed(bytes)
    #expect(pair.request(1) == request(count))
  }

  @Test func `content leaves frame by frame, as far as there is room for it`() {
    let fixture = CallerFixture(SessionLimits(window: 64 * 1024))
    fixture.feed(Frame.setting(4, 1 << 20) + Frame.window(0, 1 << 20) + Frame.request(1))
    _ = fixture.sent()
    let text = String(repeating: "0123456789abcdef", count: 4096)
    #expect(fixture.answer(1, "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n") != "blocked")
    #expect(fixture.answer(1, text) == "moved(65536)")
    var (content, pieces) = ([UInt8](), 0)
    while case let frames = fixture.sent(limit: 20_000), !frames.isEmpty {
      pieces += 1
      #expect(frames.map(\.payload.count).reduce(0, +) < 20_000 + 16_384)
      for frame in frames where frame.type == 0 { content += frame.payload }
    }
    #expect(pieces == 2 && String(decoding: content, as: UTF8.self) == text)
    #expect(fixture.streams[1]?.isSent == true)
  }

  @Test func `a stream to an upstream is opened again if nothing of it is left`() {
    let fixture = UpstreamFixture()
    let stream = fixture.request("POST /1 HTTP/1.1\r\nHost: h\r\nSecret: s\r\nContent-Length: 6\r\n\r\nsecret")
    #expect(!fixture.session.mayReopen(stream))
    fixture.feed(Frame.headers(1, [(":status", "200"), ("secret", "s")], ends: false))
    fixture.feed(Frame.data(1, Array("secret".utf8)))
    fixture.session.finish(stream)
    // The peer has not ended it, and is not told yet.
    #expect(!fixture.session.mayReopen(stream))
    #expect(fixture.sent().contains { $0.type == 3 })
    _ = fixture.changes(of: stream)
    #expect(fixture.session.mayReopen(stream))
    fixture.session.reopen(stream)
    _ = fixture.give("HEAD /3 HTTP/1.1\r\nHost: h\r\n\r\n", stream)
    let frames = fixture.sent()
    #expect(frames.map(\.type) == [1] && frames.map(\.flags) == [5] && frames.map(\.stream) == [3])
    fixture.feed(Frame.headers(3, [(":status", "200"), ("content-length", "9")]))
    #expect(fixture.take(stream) == ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", "ended"))
    #expect(stream.answer.fault == nil)
  }
}
