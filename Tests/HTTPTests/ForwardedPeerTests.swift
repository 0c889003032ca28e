import Bytes
import HTTP
import Testing

/// `X-Forwarded-For` and `Forwarded`, as written for a request with `fields`.
private func written(peer: String, host: String = "h", scheme: HTTPScheme = .http, _ fields: String) -> [String] {
  withRequest("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n") { head, bytes in
    let peer = ForwardedPeer(address: Array(peer.utf8), scheme: scheme)
    let hostBytes = Array(host.utf8)
    var list = ByteBuffer(capacity: 1)
    peer.writeXForwarded(head.fields, in: bytes, into: &list)
    let proto = "X-Forwarded-Proto: \(scheme)\r\n"
    guard text(list).hasSuffix(proto) else { return ["no \(proto)"] }
    var elements = ByteBuffer(capacity: 1)
    peer.writeForwarded(host: hostBytes.span, head.fields, in: bytes, into: &elements)
    return [String(text(list).dropLast(proto.count)), text(elements)]
  }
}

@Suite struct ForwardedPeerTests {
  @Test func `the peer is the last element`() {
    #expect(
      written(peer: "10.0.0.1", "")
        == ["X-Forwarded-For: 10.0.0.1\r\n", "Forwarded: for=10.0.0.1;host=h;proto=http\r\n"])
    #expect(
      written(peer: "2001:db8::1", host: "h:8443", scheme: .https, "")
        == ["X-Forwarded-For: 2001:db8::1\r\n", "Forwarded: for=\"[2001:db8::1]\";host=\"h:8443\";proto=https\r\n"])
    #expect(
      written(peer: "fe80::1%eth0", host: "", "")
        == ["X-Forwarded-For: fe80::1\r\n", "Forwarded: for=\"[fe80::1]\";proto=http\r\n"])
  }

  @Test func `earlier elements precede it in one line`() {
    let fields =
      "X-Forwarded-For: a\r\nX-Forwarded-For: \r\nForwarded: for=a\r\nX-Forwarded-For: b,c\r\nForwarded: for=b\r\n"
    #expect(
      written(peer: "1.2.3.4", fields)
        == ["X-Forwarded-For: a, b,c, 1.2.3.4\r\n", "Forwarded: for=a, for=b, for=1.2.3.4;host=h;proto=http\r\n"])
  }

  @Test func `a peer without an address is unknown`() {
    #expect(written(peer: "", "") == ["", "Forwarded: for=unknown;host=h;proto=http\r\n"])
    #expect(written(peer: "", "X-Forwarded-For: a\r\n")[0] == "X-Forwarded-For: a\r\n")
  }

  @Test(arguments: ["for=\"a", "for=\"a\\\"", "for=a\\\";x=\"", "\""])
  func `an element that ends inside quotes cannot swallow ours`(value: String) {
    #expect(
      written(peer: "1.2.3.4", "Forwarded: for=b\r\nForwarded: \(value)\r\n")[1]
        == (value == "for=a\\\";x=\""
          ? "Forwarded: for=b, for=a\\\";x=\", for=1.2.3.4;host=h;proto=http\r\n"
          : "Forwarded: for=b, for=1.2.3.4;host=h;proto=http\r\n"))
  }
}
