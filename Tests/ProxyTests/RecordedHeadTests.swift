// An access record's part of a request head.

import Bytes
import HTTP
import Testing

@testable import Proxy

@Suite struct RecordedHeadTests {
  @Test(arguments: [
    ("GET /a/b?token=secret HTTP/1.1\r\nHost: h.example\r\n\r\n", "GETh.example/a/b"),
    ("OPTIONS http://h.example:1?code=secret HTTP/1.1\r\nHost: h.example:1\r\n\r\n", "OPTIONSh.example:1"),
    ("GET / HTTP/1.0\r\n\r\n", "GET/"),
  ])
  func `method, host and path are recorded, never the query`(request: String, expected: String) throws {
    let context = try RequestContext(request)
    let recorded = RecordedHead(context.head)
    let text = context.headBytes.withBytes { bytes in
      [recorded.method, recorded.host, recorded.path].map { bytes.extracting($0).text }.joined()
    }
    #expect(text.hasPrefix(expected))
    #expect(!text.contains("secret"))
  }
}
