import Bytes
import Testing

@testable import HTTP

/// One row: the fields of a request as `name=value`, and the head that they become, or nil for a malformed request.
struct FieldsCase: Sendable, CustomTestStringConvertible {
  var fields: [(String, String)]
  var head: String?
  var isSecure = false
  var hasContent = false
  var testDescription: String

  init(_ fields: [(String, String)], _ head: String?, isSecure: Bool = false, hasContent: Bool = false) {
    (self.fields, self.head, self.isSecure, self.hasContent) = (fields, head, isSecure, hasContent)
    testDescription = fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ").debugDescription
  }

  /// A GET with further fields.
  static func get(_ more: [(String, String)], _ head: String?) -> FieldsCase {
    FieldsCase(plain + more, head.map { "GET /a HTTP/1.1\r\nHost: h\r\n\($0)\r\n" })
  }

  /// A GET with one other pseudo-header field.
  static func with(_ name: String, _ value: String, _ head: String? = nil) -> FieldsCase {
    FieldsCase(plain.map { $0.0 == name ? (name, value) : $0 }, head)
  }

  /// A GET without one of its pseudo-header fields.
  static func without(_ name: String, _ head: String? = nil) -> FieldsCase {
    FieldsCase(plain.filter { $0.0 != name }, head)
  }

  /// An extended CONNECT, and what of the head follows its first two lines.
  static func tunnel(
    _ more: [(String, String)], _ head: String? = nil, protocol name: String = "websocket"
  ) -> FieldsCase {
    FieldsCase(
      plain.map { $0.0 == ":method" ? ($0.0, "CONNECT") : $0 } + [(":protocol", name)] + more,
      head.map { "GET /a HTTP/1.1\r\nHost: h\r\n\($0)\r\n" }, hasContent: true)
  }

  static let plain = [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/a")]
}

private func written(_ row: FieldsCase) -> String? {
  var fields = FieldBlock(limit: 32 * 1024)
  for (name, value) in row.fields {
    let (name, value) = (latin1(name), latin1(value))
    if !fields.add(name.span, value.span) { return nil }
  }
  var head = ByteBuffer(capacity: 16)
  guard fields.writeHead(hasContent: row.hasContent, isSecure: row.isSecure, key: Array("K".utf8), into: &head) else {
    return nil
  }
  return head.withBytes { bytes in String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
}

private func latin1(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

/// The verdict of the parser that judges the heads of every version.
private func verdict(_ text: String) -> String {
  var parser = RequestHeadParser()
  var head = RequestHead()
  return switch parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits()) {
  case .complete: "complete"
  case .invalid(let error): "\(error)"
  case .needsMore: "more"
  }
}

@Suite struct FieldBlockTests {
  private static let asksForWebSocket = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
  static let rows: [FieldsCase] = [
    .get([], ""),
    .get([("accept", "*/*"), ("x-empty", "")], "accept: */*\r\nx-empty: \r\n"),
    .get([("te", "trailers")], "te: trailers\r\n"),
    // Pieces of a cookie become one field, at the end.
    .get([("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")], "x: y\r\nCookie: a=1; b=2\r\n"),
    // The authority counts. A Host that says the same is left out.
    .get([("host", "H")], ""),
    .get([("host", "other")], "Host: other\r\n"),
    .get([("host", "h"), ("host", "h")], "Host: h\r\nHost: h\r\n"),
    .without(":authority", "GET /a HTTP/1.1\r\n\r\n"),
    FieldsCase(
      FieldsCase.plain.filter { $0.0 != ":authority" } + [("host", "h")], "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"),
    // Content of unknown length is chunked.
    FieldsCase(FieldsCase.plain, "GET /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", hasContent: true),
    FieldsCase(
      FieldsCase.plain + [("content-length", "5")], "GET /a HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\n\r\n",
      hasContent: true),
    // An https request without TLS gets the target that the rule for it judges.
    .with(":scheme", "https", "GET https://h/a HTTP/1.1\r\nHost: h\r\n\r\n"),
    FieldsCase(
      FieldsCase.plain.map { $0.0 == ":scheme" ? ($0.0, "https") : $0 }, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
      isSecure: true),
    FieldsCase(
      [(":method", "OPTIONS"), (":scheme", "http"), (":authority", "h"), (":path", "*")],
      "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
    FieldsCase([(":method", "CONNECT"), (":authority", "h:1")], "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n"),
    FieldsCase([(":method", "CONNECT")], nil),
    FieldsCase([(":method", "CONNECT"), (":authority", "h:1"), (":path", "/"), (":scheme", "http")], nil),
    // An extended CONNECT becomes the handshake of HTTP/1.1, with a key of ours.
    .tunnel([], "\(asksForWebSocket)Sec-WebSocket-Key: K\r\n"),
    .tunnel(
      [("sec-websocket-key", "theirs"), ("sec-websocket-version", "13")],
      "sec-websocket-key: theirs\r\nsec-websocket-version: 13\r\n\(asksForWebSocket)"),
    .tunnel([], "Connection: Upgrade\r\nUpgrade: connect-udp\r\nSec-WebSocket-Key: K\r\n", protocol: "connect-udp"),
    .tunnel([("content-length", "0")]), .tunnel([(":protocol", "websocket")]), .tunnel([("upgrade", "websocket")]),
    .tunnel([], protocol: ""), .tunnel([], protocol: "web socket"), .tunnel([], protocol: "websocket, h2c"),
    .tunnel([], protocol: "websocket\r\nx: y"), .tunnel([], protocol: "websocket\n"),
    .tunnel([], protocol: "websocket\u{0}"), .tunnel([], protocol: "websocket/13"), .tunnel([], protocol: "\u{E4}"),
    FieldsCase([(":method", "CONNECT"), (":authority", "h"), (":protocol", "websocket")], nil),
    FieldsCase([(":method", "CONNECT"), (":scheme", "http"), (":path", "/a"), (":protocol", "websocket")], nil),
    // Missing, repeated, unknown and empty pseudo-header fields.
    .without(":method"), .without(":scheme"), .without(":path"),
    .get([(":path", "/b")], nil), .get([(":method", "GET")], nil), .get([(":authority", "h")], nil),
    .get([(":status", "200")], nil), .get([(":protocol", "websocket")], nil), .get([(":", "")], nil),
    .with(":path", ""), .with(":method", ""),
    // Bytes that would be a request of their own in HTTP/1.1.
    .with(":method", "GET / HTTP/1.1\r\nx: y"), .with(":method", "G ET"), .with(":method", "G\u{0}"),
    .with(":path", "/ HTTP/1.1\r\nHost: other\r\n\r\n"), .with(":path", "/a b"), .with(":path", "/a\n"),
    .with(":path", "/\u{E4}"), .with(":path", "/a#b"), .with(":path", "http://other/"), .with(":path", "a"),
    .with(":authority", "h\r\nx: y"), .with(":authority", "h x"), .with(":scheme", "ftp"),
    .with(":scheme", "http\r\n"),
    .get([("x", "a\r\nb: c")], nil), .get([("x", "a\nb: c")], nil), .get([("x", "a\rb")], nil),
    .get([("x", "a\u{0}b")], nil), .get([("x\r\ny", "a")], nil), .get([("x:", "a")], nil), .get([("x y", "a")], nil),
    .get([("", "a")], nil), .get([("X", "a")], nil), .get([("x\u{E4}", "a")], nil), .get([("x", " a")], nil),
    .get([("x", "a\t")], nil), .get([("cookie", "a\r\nx: y")], nil), .get([("host", "h\r\nx: y")], nil),
    // Fields of a connection.
    .get([("connection", "close")], nil), .get([("transfer-encoding", "chunked")], nil),
    .get([("upgrade", "websocket")], nil), .get([("keep-alive", "1")], nil), .get([("proxy-connection", "x")], nil),
    .get([("te", "gzip")], nil), .get([("te", "trailers, gzip")], nil),
  ]

  @Test(arguments: rows) func `becomes the head that says the same, or none`(_ row: FieldsCase) {
    #expect(written(row) == row.head)
  }

  /// Fields that no rule here forbids are left to the parser.
  @Test(arguments: [
    ([("host", "other")], "hostRepeated"), ([("host", "h"), ("host", "h")], "hostRepeated"), ([], "complete"),
    ([("cookie", "a"), ("cookie", "b")], "complete"),
  ]) func `is judged by the parser of HTTP/1.1`(_ more: [(String, String)], _ expected: String) {
    #expect(written(FieldsCase(FieldsCase.plain + more, nil)).map(verdict) == expected)
  }

  @Test(arguments: [
    ("u:p@h", "hostInvalid"), ("h/x", "hostInvalid"), ("h,other", "complete"), ("h:x", "hostInvalid"),
    ("h:80", "complete"), ("[::1]:1", "complete"),
  ]) func `lets the parser judge the authority`(_ authority: String, _ expected: String) {
    #expect(written(.with(":authority", authority)).map(verdict) == expected)
  }

  /// Whatever the bytes are, one request at most comes of them.
  @Test func `never becomes more than one head`() {
    for byte in UInt8.min...UInt8.max {
      for name in [":method", ":path", ":authority", ":protocol", "x", "cookie", "host"] {
        let value = "/a\(Character(Unicode.Scalar(byte)))b"
        guard let text = written(FieldsCase(FieldsCase.plain.filter { $0.0 != name } + [(name, value)], nil)) else {
          continue
        }
        // CR LF is one character.
        func count(_ part: String) -> Int { text.utf8.ranges(of: part.utf8).count }
        #expect(count("\r\n\r\n") == 1 && count("\n") == count("\r\n"))
      }
    }
  }

  @Test func `keeps no more than the limit`() {
    var fields = FieldBlock(limit: 100)
    let long = [UInt8](repeating: 0x61, count: 200)
    let isFine = fields.add(Array("x".utf8).span, long.span)
    let (isTooLarge, byteCount) = (fields.isTooLarge, fields.byteCount)
    fields.reset()
    let isReset = !fields.isTooLarge
    #expect(isFine && isTooLarge && byteCount == 205 && isReset)
  }
}
