import HTTP
import Testing

@Suite struct PersistenceTests {
  static let rows: [(version: String, fields: String, expected: Persistence)] = [
    ("1.1", "", .keepAlive),
    ("1.1", "Connection: close\r\n", .close),
    ("1.1", "Connection: keep-alive\r\n", .keepAlive),
    ("1.1", "Connection: Keep-Alive, CLOSE\r\n", .close),
    ("1.1", "Connection: x\r\nConnection: close\t\r\n", .close),
    ("1.1", "Connection: x-close\r\n", .keepAlive),
    ("1.0", "", .close),
    ("1.0", "Connection: Keep-Alive\r\n", .keepAlive),
    ("1.0", "Connection: keep-alive, close\r\n", .close),
    ("1.0", "Proxy-Connection: keep-alive\r\n", .close),
  ]

  @Test(arguments: rows)
  func `a connection is kept as RFC 9112 section 9.3 says`(version: String, fields: String, expected: Persistence) {
    var requests = RequestHeadParser()
    var requestHead = RequestHead()
    let request = Array("GET / HTTP/\(version)\r\nHost: h\r\n\(fields)\r\n".utf8)
    #expect(
      requests.parse(request.span, into: &requestHead, limits: HeadLimits()) == .complete(byteCount: request.count))
    let afterRequest = Persistence.after(request: requestHead)
    #expect(afterRequest == expected)

    var responses = ResponseHeadParser()
    var responseHead = ResponseHead()
    let response = Array("HTTP/\(version) 200 OK\r\n\(fields)\r\n".utf8)
    #expect(
      responses.parse(response.span, into: &responseHead, limits: HeadLimits()) == .complete(byteCount: response.count))
    let afterFixed = Persistence.after(response: responseHead, framing: .fixed(1))
    let afterUntilClose = Persistence.after(response: responseHead, framing: .untilClose)
    #expect(afterFixed == expected)
    #expect(afterUntilClose == .close)
  }

  @Test func `nothing of HTTP follows a switch of protocols`() {
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    let bytes = Array("HTTP/1.1 101 x\r\n\r\n".utf8)
    _ = parser.parse(bytes.span, into: &head, limits: HeadLimits())
    let after = Persistence.after(response: head, framing: .none)
    let isInterim = head.isInterim
    #expect(after == .close && !isInterim)
  }
}
