// Ids that are taken over if they are well-formed, and made otherwise.

import Bytes
import HTTP
import Testing

@testable import Proxy

@Suite struct RequestIdentityTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  private static func identity(_ fields: String) throws -> (traceparent: String, traceID: String, requestID: String) {
    let request = try RequestContext("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    var numbers = Counting()
    var buffer = ByteBuffer(capacity: 16)
    RequestIdentity.write(request.head, request.headBytes, using: &numbers, into: &buffer)
    let bytes = buffer.bytes
    return (
      RequestIdentity.traceparent(bytes).text, RequestIdentity.traceID(bytes).text,
      RequestIdentity.requestID(bytes).text
    )
  }

  @Test func `without ids of the caller's, both are made`() throws {
    let made = try Self.identity("")
    #expect(made.traceparent == "00-00000000000000010000000000000002-0000000000000003-00")
    #expect(made.traceID == "00000000000000010000000000000002")
    #expect(made.requestID == "00000000000000040000000000000005")
  }

  @Test func `a trace goes on with this proxy as the parent, sampled as before`() throws {
    let made = try Self.identity("traceparent: \(Self.parent)\r\n")
    #expect(made.traceparent == "00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01")
    #expect(made.traceID == "0af7651916cd43dd8448eb211c80319c")
  }

  @Test(arguments: [
    "00-00000000000000000000000000000000-b7ad6b7169203331-01", "nonsense", parent.uppercased(), "",
    "\(parent)\r\ntraceparent: \(parent)",
  ])
  func `a trace that is not well-formed, or one of two, starts anew`(value: String) throws {
    #expect(try Self.identity("traceparent: \(value)\r\n").traceID == "00000000000000010000000000000002")
  }

  @Test(arguments: [
    ("abc-123_x.y:z/=+@", true), (String(repeating: "a", count: 128), true),
    (String(repeating: "a", count: 129), false),
    ("", false), ("a b", false), ("a\"b", false), ("a,b", false), ("a;b", false), ("a<b", false), ("é", false),
  ])
  func `a request id is taken over if it needs no escaping anywhere`(id: String, isTaken: Bool) throws {
    let made = try Self.identity("X-Request-ID: \(id)\r\n")
    #expect((made.requestID == id) == isTaken)
    if !isTaken { #expect(made.requestID.utf8.count == 32) }
  }
}
