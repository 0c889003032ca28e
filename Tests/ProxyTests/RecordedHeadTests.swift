// What an access record takes from a request head.

import HTTP
import Testing

@testable import Proxy

@Suite struct RecordedHeadTests {
  @Test(arguments: [
    ("GET /a/b?token=secret HTTP/1.1\r\nHost: h.example\r\n\r\n", "GETh.example/a/b"),
    ("OPTIONS http://h.example:1?code=secret HTTP/1.1\r\nHost: h.example:1\r\n\r\n", "OPTIONSh.example:1"),
    ("GET / HTTP/1.0\r\n\r\n", "GET/"),
  ])
  func `method, host and path are copied, never the query`(request: String, expected: String) throws {
    try withRequest(request) { head, input in
      var buffer = ByteBuffer(capacity: 16)
      RecordedHead.write(head, input.bytes, into: &buffer)
      #expect(buffer.text.hasPrefix(expected))
      #expect(!buffer.text.contains("secret"))
    }
  }
}
