import Bytes
import HTTP
import Routing
import Testing

@Suite struct CheckRequestTests {
  /// A question with these fields of `HttpRequest`, and entries of `context_extensions`.
  private static func message(
    _ http: (inout ProtobufWriter) -> Void = { _ in }, extensions: [(String, String)] = []
  ) -> [UInt8] {
    var message = ProtobufWriter()
    message.message(1) { attributes in
      attributes.message(1) { $0.bytes(4, "spiffe://caller".utf8) }
      attributes.message(4) { $0.message(2, http) }
      for (name, value) in extensions { attributes.message(10) { Self.entry(&$0, name, value) } }
    }
    return message.bytes
  }

  private static func entry(_ message: inout ProtobufWriter, _ name: String, _ value: String) {
    message.bytes(1, name.utf8)
    message.bytes(2, value.utf8)
  }

  /// The head of a question in the HTTP form.
  private static func head(_ message: [UInt8], engine: String = "") throws -> String {
    var head = ByteBuffer(capacity: 1024)
    let question = try CheckRequest(message[...])
    try withRequest("POST /x HTTP/1.1\r\nHost: h\r\n\(engine)\r\n") { request, bytes in
      try bytes.withBytes { try question.writeHead(request, $0, limit: 4096, into: &head) }
    }
    return head.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }

  @Test func `a question becomes one in the HTTP form, with Envoy's reports and without the caller's`() throws {
    let message = Self.message(
      { http in
        http.bytes(2, "GET".utf8)
        http.bytes(4, "/a/b?c".utf8)
        http.bytes(5, "api.example".utf8)
        http.number(9, 5)
        for (name, value) in [
          (":path", "/z"), ("host", "z"), ("accept", "text/html"), ("x-bearer-refused", "Bearer z"), ("te", "gzip"),
          ("x-original-url", "/z"), ("x-forwarded-method", "PUT"), ("x_forwarded_host", "z"), ("cookie", "a=b"),
        ] { http.message(3) { Self.entry(&$0, name, value) } }
        http.message(13) { map in
          map.message(1) {
            $0.bytes(1, "x-part".utf8)
            $0.bytes(3, "b".utf8)
          }
        }
      }, extensions: [("route", "orders"), ("other", "x")])
    #expect(
      try Self.head(message, engine: "x-bearer-status: 401\r\nx-proxy-key: s\r\n")
        == "POST /.bearer/authorize/orders HTTP/1.1\r\nHost: localhost\r\nx-forwarded-method: GET\r\n"
        + "x-forwarded-uri: /a/b?c\r\nx-forwarded-host: api.example\r\naccept: text/html\r\nx-part: b\r\n"
        + "x-bearer-status: 401\r\nCookie: a=b\r\n\r\n")
    let names = try CheckRequest(message[...]).strayNames.map { String(decoding: $0, as: UTF8.self) }
    #expect(names == ["x-original-url", "x-forwarded-method", "x_forwarded_host"])
  }

  @Test func `an empty question asks for no route`() throws {
    #expect(try Self.head([]) == "POST /.bearer/authorize HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }

  @Test(arguments: ["", "a/b", "a/../b", "a?b", "a#b", "a%2fb", "a b", "a\r\nb"])
  func `a route's name is no path`(name: String) throws {
    let message = Self.message(extensions: [("route", name)])
    #expect(throws: RequestHeadError.self) { try Self.head(message) }
  }

  @Test(
    arguments: [
      ("a", "b\r\nc: d"), ("a\r\nb", "c"), ("a:b", "c"), ("A", "b"), ("a", " b"), ("a", "b\0"),
      ("proxy-connection", "\0"),
      ("a", String(repeating: "b", count: 5000)),
    ])
  func `a field that no head may have is refused, and one that is not read is not`(name: String, value: String) throws {
    let message = Self.message { http in http.message(3) { Self.entry(&$0, name, value) } }
    if name == "proxy-connection" {
      #expect(try !Self.head(message).contains("\0"))
    } else {
      #expect(throws: RequestHeadError.self) { try Self.head(message) }
    }
  }

  @Test func `what may occur once and occurs twice, or is of another type, is no question`() {
    func twice(_ field: UInt32) -> [UInt8] {
      Self.message { http in for _ in 0..<2 { http.bytes(field, "a".utf8) } }
    }
    let messages = [
      (twice(2), ProtobufError.repeated), (twice(4), .repeated), (twice(5), .repeated),
      (Self.message() + Self.message(), .repeated), (Self.message { $0.number(4, 1) }, .type),
      (Self.message(extensions: [("route", "a"), ("route", "b")]), .repeated), ([0x08, 0x01], .type),
      (Self.message { http in http.message(3) { for _ in 0..<2 { $0.bytes(1, "a".utf8) } } }, .repeated),
      (Self.message { http in http.message(3) { $0.number(2, 1) } }, .type),
    ]
    for (message, error) in messages { #expect(throws: error) { try CheckRequest(message[...]) } }
  }

  @Test(
    arguments: [
      ([], .needsMore, 0), ([0, 0, 0, 0], .needsMore, 4), ([0, 0, 0, 0, 0], .message([]), 0),
      ([0, 0, 0, 0, 1, 7], .message([7]), 0), ([1, 0, 0, 0, 1, 7], .compressed, 6),
      ([0, 0, 0, 0, 2, 7], .needsMore, 6), ([0, 0, 0, 0, 1, 7, 0, 8], .message([7]), 2),
      ([0, 0, 0, 0, 9], .tooLarge, 5), ([0, 0xFF, 0xFF, 0xFF, 0xFF, 7], .tooLarge, 6),
    ] as [([UInt8], GRPCCall.MessageStep, Int)])
  func `messages of a call come one after the other, not compressed and within a limit`(
    content: [UInt8], step: GRPCCall.MessageStep, left: Int
  ) {
    var content = content
    #expect(GRPCCall.takeMessage(from: &content, limit: 8) == step)
    #expect(content.count == left)
  }
}
