import HTTP
import Testing

@Suite struct HostNameTests {
  @Test(
    arguments: [
      ("h", "h", nil), ("Example.COM", "Example.COM", nil), ("example.com.", "example.com.", nil),
      ("127.0.0.1:8080", "127.0.0.1", 8080), ("h:", "h", nil), ("h:0", "h", 0), ("h:65535", "h", 65535),
      ("h:00080", "h", 80), ("[::1]", "::1", nil), ("[::ffff:127.0.0.1]:443", "::ffff:127.0.0.1", 443),
      ("0.0.0.0=5000", "0.0.0.0=5000", nil), ("a_b~c", "a_b~c", nil),
      ("[::]", "::", nil), ("[1::]", "1::", nil), ("[2001:db8::1]:80", "2001:db8::1", 80),
      ("[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8", nil), ("[1:2:3:4:5:6:7::]", "1:2:3:4:5:6:7::", nil),
      ("[::2:3:4:5:6:7:8]", "::2:3:4:5:6:7:8", nil), ("[1:2:3:4:5:6:192.0.2.1]", "1:2:3:4:5:6:192.0.2.1", nil),
      ("[ABCD:abcd::0.0.0.255]", "ABCD:abcd::0.0.0.255", nil), ("[64:ff9b::192.0.2.33]", "64:ff9b::192.0.2.33", nil),
    ] as [(String, String, UInt16?)])
  func `a host and its port are taken apart`(authority: String, host: String, port: UInt16?) throws {
    let bytes = Array(authority.utf8)
    let read = HostName(bytes.span)
    let name = try #require(read)
    #expect(text(name.host, bytes.span) == host)
    #expect(name.port == port)
    #expect(name.isBracketed == authority.hasPrefix("["))
  }

  @Test(
    arguments: [
      "", ":80", "h:x", "h:-1", "h:65536", "h:99999999999999999999", "h:80:80", "h h", "h/", "u@h", "h#", "[::1", "::1",
      "[]", "[::1]x", "[::1]:x", "[g::]", "[fe80::1%25eth0]", "[v1.a]", "h%41", "h\u{E9}", "h\\", "\"h\"", "h\0",
      "[:::]", "[12345::1]", "[1::2::3]", "[1]", "[:]", "[:1]", "[1:]", "[::1:]", "[:1::2]", "[1:::2]",
      "[1:2:3:4:5:6:7]",
      "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[::1:2:3:4:5:6:7:8]", "[1.2.3.4]", "[::1.2.3]", "[::1.2.3.4.5]",
      "[::256.1.1.1]", "[::01.1.1.1]", "[::1.2.3.4:1]", "[::a.1.1.1]", "[1:2:3:4:5:6:7:1.2.3.4]", "[.]", "[::.1]",
      "[::1", "[[::1]]", "[::1]]",
    ])
  func `anything else is no authority`(authority: String) {
    let bytes = Array(authority.utf8)
    #expect(HostName(bytes.span) == nil)
  }

  @Test func `names are compared without regard to case and as a whole`() throws {
    let bytes = Array("LocalHost:8080".utf8)
    let read = HostName(bytes.span)
    let name = try #require(read)
    let rows = [("localhost", true), ("localhos", false), ("localhost:8080", false), ("", false)]
    for (candidate, expected) in rows {
      let isNamed = name.names(Array(candidate.utf8), in: bytes.span)
      #expect(isNamed == expected, "\(candidate)")
    }
    let address = Array("[::1]".utf8)
    let isNamed = HostName(address.span)?.names(Array("::1".utf8), in: address.span)
    #expect(isNamed == true)
  }
}
