// Who is let in by what a request says of itself: DNS rebinding and other sites' pages are not.

import HTTP
import Testing

@testable import Proxy

@Suite struct CallerCheckTests {
  private static let check = CallerCheck(names: ["127.0.0.1", "localhost", "::1"])

  @Test(arguments: [
    ("127.0.0.1", true), ("127.0.0.1:8080", true), ("localhost", true), ("LOCALHOST:1", true), ("[::1]:8080", true),
    ("evil.example", false), ("127.0.0.1.evil.example", false), ("localhost.", false), ("127.0.0.2", false),
    ("evil.example:127", false), ("[::2]", false),
  ])
  func `the host must be one of the listener's names`(host: String, isAllowed: Bool) throws {
    try withRequest("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == (isAllowed ? nil : .unknownHost))
    }
  }

  @Test func `the host in an absolute target counts, and a request without a host is no browser's`() throws {
    let absolute = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    try withRequest(absolute) { head, input in
      #expect(Self.check.judge(head, input.bytes) == .unknownHost)
    }
    try withRequest("GET / HTTP/1.0\r\n\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == nil)
      #expect(CallerCheck(names: nil).judge(head, input.bytes) == nil)
    }
  }

  @Test(arguments: [
    ("", true),
    ("Sec-Fetch-Site: same-origin", true), ("Sec-Fetch-Site: none", true), ("sec-fetch-site: NONE", true),
    ("Sec-Fetch-Site: same-site", false), ("Sec-Fetch-Site: cross-site", false), ("Sec-Fetch-Site:", false),
    ("Sec-Fetch-Site: unheard-of", false),
    ("Origin: http://localhost:8080", true), ("Origin: https://localhost:8080", true),
    ("Origin: http://localhost", false), ("Origin: http://evil.example", false), ("Origin: null", false),
    ("Origin: localhost:8080", false), ("Origin:", false), ("Origin: http://localhost:8080.evil.example", false),
    // What the browser says of the site is believed before the origin.
    ("Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost:8080", false),
  ])
  func `a request that another site is behind is turned away`(fields: String, isAllowed: Bool) throws {
    let lines = fields.isEmpty ? "" : fields + "\r\n"
    try withRequest("POST / HTTP/1.1\r\nHost: localhost:8080\r\n\(lines)\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == (isAllowed ? nil : .crossSite))
      let open = CallerCheck(names: nil, rules: CallerRules(refusesCrossSite: false))
      #expect(open.judge(head, input.bytes) == nil)
    }
  }
}
