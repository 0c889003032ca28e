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
    let afterRequest = withRequest("GET / HTTP/\(version)\r\nHost: h\r\n\(fields)\r\n") { head, _ in
      Persistence.after(request: head)
    }
    #expect(afterRequest == expected)
    let afterResponses = withResponse("HTTP/\(version) 200 OK\r\n\(fields)\r\n") { head, _ in
      [Persistence.after(response: head, framing: .fixed(1)), Persistence.after(response: head, framing: .untilClose)]
    }
    #expect(afterResponses == [expected, .close])
  }

  @Test func `nothing of HTTP follows a switch of protocols`() {
    let (after, isInterim) = withResponse("HTTP/1.1 101 x\r\n\r\n") { head, _ in
      (Persistence.after(response: head, framing: .none), head.isInterim)
    }
    #expect(after == .close && !isInterim)
  }
}
