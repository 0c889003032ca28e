// A caller must not learn from sizes which fields another caller sent before, on a connection that they share.

import Bytes
import HTTP
import Testing

@testable import HTTP2

@Suite struct IndexedFieldsTests {
  private static let value = "0123456789abcdef0123456789abcdef"

  /// Bytes of the header block of a message with this field, when it is sent the second time and later.
  private static func size(of name: String, _ send: (String) -> [SentFrame]) -> Int {
    let sizes = (0..<3).map { _ in send(name.isEmpty ? "" : "\(name): \(value)\r\n")[0].payload.count }
    #expect(sizes[1] == sizes[2])
    return sizes[2]
  }

  private static func requestSize(_ name: String) -> Int {
    let fixture = UpstreamFixture()
    return size(of: name) { line in
      _ = fixture.give("GET /p HTTP/1.1\r\nHost: h\r\n\(line)\r\n", fixture.session.open())
      return fixture.sent()
    }
  }

  private static func responseSize(_ name: String) -> Int {
    let fixture = CallerFixture()
    var id: UInt32 = 1
    return size(of: name) { line in
      fixture.feed(Frame.request(id))
      _ = fixture.answer(Int32(id), "HTTP/1.1 204 No Content\r\n\(line)\r\n")
      id += 2
      return fixture.sent()
    }
  }

  @Test(arguments: [
    "authorization", "cookie", "x-api-key", "api-key", "ocp-apim-subscription-key", "x-functions-key", "x-auth-token",
    "x-amz-security-token", "x-csrf-token", "x-any-field", "referer", "x-request-id", "traceparent", "forwarded",
    "x-forwarded-for", "x-real-ip", "origin", "if-none-match",
  ]) func `no table keeps what one caller's request has and another's has not`(_ name: String) {
    #expect(Self.requestSize(name) > Self.requestSize("") + 16)
  }

  @Test(arguments: ["set-cookie", "x-auth-token", "www-authenticate", "location", "x-any-field", "etag"])
  func `no table keeps what a response has for one request`(_ name: String) {
    #expect(Self.responseSize(name) > Self.responseSize("") + 16)
  }

  @Test(arguments: ["user-agent", "accept", "content-type", "grpc-accept-encoding"])
  func `no table keeps what many requests have alike, either`(_ name: String) {
    #expect(Self.requestSize(name) > Self.requestSize("") + 16)
  }

  @Test(arguments: ["server", "date", "content-type", "vary", "x-content-type-options"])
  func `no table keeps what many responses have alike, either`(_ name: String) {
    #expect(Self.responseSize(name) > Self.responseSize("") + 16)
  }

  @Test func `a secret is marked for all who send it on`() {
    let fixture = UpstreamFixture()
    _ = fixture.give("GET /p HTTP/1.1\r\nHost: h\r\nX-Key: \(Self.value)\r\n\r\n", fixture.session.open())
    let payload = fixture.sent()[0].payload
    // RFC 7541 §6.2.3: 0x10, then the length of the name, coded or not.
    let marks = payload.indices.dropLast().filter { payload[$0] == 0x10 && payload[$0 + 1] & 0x7F <= 5 }
    #expect(!marks.isEmpty)
    let trailers = fixture.session.open()
    _ = fixture.give("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", trailers)
    _ = fixture.give("0\r\nX-Sum: \(Self.value)\r\n\r\n", trailers)
    #expect(fixture.sent().last?.payload.first == 0x10)
  }
}
