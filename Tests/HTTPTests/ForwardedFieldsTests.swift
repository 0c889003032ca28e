import Bytes
import HTTP
import Testing

/// Both fields, as they are written for a request with `fields`.
private func written(
  peer: String, host: String = "h", scheme: HTTPScheme = .http, _ earlier: ForwardedFields.Earlier, _ fields: String
) -> [String] {
  var parser = RequestHeadParser()
  let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)
  guard case .complete = parser.parse(bytes.span, limits: HeadLimits()) else { return ["not read"] }
  let peerBytes = Array(peer.utf8)
  let hostBytes = Array(host.utf8)
  var list = ByteBuffer(capacity: 1)
  ForwardedFields.writeXForwardedFor(peer: peerBytes.span, earlier, parser.head.fields, in: bytes.span, into: &list)
  var elements = ByteBuffer(capacity: 1)
  ForwardedFields.writeForwarded(
    peer: peerBytes.span, host: hostBytes.span, scheme: scheme, earlier, parser.head.fields, in: bytes.span,
    into: &elements)
  return [text(list), text(elements)]
}

@Suite struct ForwardedFieldsTests {
  @Test func `the peer is the last element`() {
    #expect(
      written(peer: "10.0.0.1", .dropped, "")
        == ["X-Forwarded-For: 10.0.0.1\r\n", "Forwarded: for=10.0.0.1;host=h;proto=http\r\n"])
    #expect(
      written(peer: "2001:db8::1", host: "h:8443", scheme: .https, .kept, "")
        == ["X-Forwarded-For: 2001:db8::1\r\n", "Forwarded: for=\"[2001:db8::1]\";host=\"h:8443\";proto=https\r\n"])
    #expect(
      written(peer: "fe80::1%eth0", host: "", .kept, "")
        == ["X-Forwarded-For: fe80::1\r\n", "Forwarded: for=\"[fe80::1]\";proto=http\r\n"])
  }

  @Test func `earlier elements stand before it in one line, or are dropped`() {
    let fields =
      "X-Forwarded-For: a\r\nX-Forwarded-For: \r\nForwarded: for=a\r\nX-Forwarded-For: b,c\r\nForwarded: for=b\r\n"
    #expect(
      written(peer: "1.2.3.4", .kept, fields)
        == ["X-Forwarded-For: a, b,c, 1.2.3.4\r\n", "Forwarded: for=a, for=b, for=1.2.3.4;host=h;proto=http\r\n"])
    #expect(
      written(peer: "1.2.3.4", .dropped, fields)
        == ["X-Forwarded-For: 1.2.3.4\r\n", "Forwarded: for=1.2.3.4;host=h;proto=http\r\n"])
  }

  @Test func `a peer without an address is unknown`() {
    #expect(
      written(peer: "", .dropped, "X-Forwarded-For: a\r\n") == ["", "Forwarded: for=unknown;host=h;proto=http\r\n"])
    #expect(written(peer: "", .kept, "X-Forwarded-For: a\r\n")[0] == "X-Forwarded-For: a\r\n")
  }

  @Test(arguments: ["for=\"a", "for=\"a\\\"", "for=a\\\";x=\"", "\""])
  func `an element that ends inside quotes cannot swallow ours`(value: String) {
    #expect(
      written(peer: "1.2.3.4", .kept, "Forwarded: for=b\r\nForwarded: \(value)\r\n")[1]
        == (value == "for=a\\\";x=\""
          ? "Forwarded: for=b, for=a\\\";x=\", for=1.2.3.4;host=h;proto=http\r\n"
          : "Forwarded: for=b, for=1.2.3.4;host=h;proto=http\r\n"))
  }
}
