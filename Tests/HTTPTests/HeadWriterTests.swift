import Bytes
import HTTP
import Testing

/// The bytes of a buffer as text.
func text(_ buffer: borrowing ByteBuffer) -> String {
  text(ByteRange(from: 0, to: buffer.count), buffer.bytes)
}

@Suite struct HeadWriterTests {
  static let notices: [(notice: ConnectionNotice, http10: String, http11: String)] = [
    (.kept, "Connection: keep-alive\r\n", ""), (.closed, "Connection: close\r\n", "Connection: close\r\n"),
    (.webSocket, "Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
    (.trailersAccepted, "TE: trailers\r\nConnection: TE\r\n", "TE: trailers\r\nConnection: TE\r\n"),
  ]

  @Test(arguments: notices)
  func `a head ends with the notice about its connection`(notice: ConnectionNotice, http10: String, http11: String) {
    for (version, expected) in [(HTTPVersion.http10, http10), (.http11, http11)] {
      var output = ByteBuffer(capacity: 64)
      HeadWriter.end(notice, for: version, into: &output)
      #expect(text(output) == expected + "\r\n")
    }
  }

  @Test func `a head written from a head that was read reads the same again`() {
    let source =
      "GET /a?b=c HTTP/1.1\r\nHost: h\r\nA:b\r\nC: d\r\nE: f\r\nConnection: x-drop\r\nX-Drop: g\r\nH:  i\r\nJ: "
      + "k\r\n\r\n"
    let written = withRequest(source) { head, bytes in
      var buffer = ByteBuffer(capacity: 4)
      HeadWriter.method(bytes.extracting(head.methodName), into: &buffer)
      buffer.append(bytes.extracting(head.target.whole))
      HeadWriter.requestLineEnd(into: &buffer)
      var run = FieldRun()
      for index in 0..<head.fields.count where HopByHop.forwards(head.fields[index], head.connection, in: bytes) {
        run.add(head.fields[index], from: bytes, into: &buffer)
      }
      run.finish(from: bytes, into: &buffer)
      HeadWriter.end(into: &buffer)
      return text(buffer)
    }
    #expect(written == "GET /a?b=c HTTP/1.1\r\nHost: h\r\nA: b\r\nC: d\r\nE: f\r\nH: i\r\nJ: k\r\n\r\n")
  }

  @Test func `a field line is spelt plainly whatever it was`() {
    for (source, expected) in [
      ("A:b", "A: b"), ("A:\t b \t", "A: b"), ("A: b", "A: b"), ("A:", "A: "), ("A : b", "A: b"),
    ] {
      let written = withResponse("HTTP/1.1 200 OK\r\n\(source)\r\n\r\n") { head, bytes in
        var one = ByteBuffer(capacity: 1)
        var other = ByteBuffer(capacity: 1)
        HeadWriter.field(head.fields[0], from: bytes, into: &one)
        var run = FieldRun()
        run.add(head.fields[0], from: bytes, into: &other)
        run.finish(from: bytes, into: &other)
        return [text(one), text(other)]
      }
      #expect(written == [expected + "\r\n", expected + "\r\n"])
    }
  }

  @Test func `status lines carry the given or the registered phrase`() {
    var buffer = ByteBuffer(capacity: 1)
    let phrase = Array("Fine".utf8)
    HeadWriter.statusLine(200, reason: phrase.span, into: &buffer)
    HeadWriter.statusLine(431, into: &buffer)
    HeadWriter.statusLine(299, into: &buffer)
    #expect(text(buffer) == "HTTP/1.1 200 Fine\r\nHTTP/1.1 431 Request Header Fields Too Large\r\nHTTP/1.1 299 \r\n")
  }

  @Test func `our own fields and chunks are spelt as the grammar says`() {
    var buffer = ByteBuffer(capacity: 1)
    let value = Array("v".utf8)
    HeadWriter.field("A", value.span, into: &buffer)
    HeadWriter.field("B", "w", into: &buffer)
    HeadWriter.field("C", decimal: 1024, into: &buffer)
    HeadWriter.end(into: &buffer)
    HeadWriter.chunk([UInt8](repeating: 0x61, count: 0x1F).span, into: &buffer)
    HeadWriter.lastChunk(into: &buffer)
    HeadWriter.end(into: &buffer)
    let data = String(repeating: "a", count: 0x1F)
    #expect(text(buffer) == "A: v\r\nB: w\r\nC: 1024\r\n\r\n1f\r\n\(data)\r\n0\r\n\r\n")
  }

  @Test func `every status this proxy answers with has a phrase`() {
    for status in [100, 200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 417, 421, 431, 500, 501, 502, 503, 504, 505] {
      #expect(StatusCode.reason(status).utf8CodeUnitCount > 0)
    }
  }
}
