import HTTP
import Testing

private func read(_ bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = HeadLimits()) -> String {
  var parser = TrailerParser()
  for length in feeding.lengths(bytes.count) {
    switch parser.parse(bytes.span.extracting(0..<length), limits: limits) {
    case .needsMore: continue
    case .invalid(let error): return "\(error)"
    case .complete(let byteCount): return "\(byteCount) \(lines(parser.fields, bytes.span))"
    }
  }
  return "more"
}

@Suite struct TrailerParserTests {
  @Test(
    arguments: [
      ("\r\n", "2 []"),
      ("A: b\r\n\r\n", #"8 ["A=b"]"#),
      ("ETag:x\r\nX-Sum:  1 \r\n\r\n", #"22 ["ETag!=x", "X-Sum=1"]"#),
    ])
  func `a section reads the same however it arrives`(section: String, expected: String) {
    let bytes = Array(section.utf8)
    #expect(read(bytes, .whole) == expected)
    #expect(read(bytes + [0x47], .whole) == expected)
    #expect(read(bytes, .byteByByte) == expected)
    for place in bytes.indices {
      #expect(read(bytes, .split(at: place)) == expected)
      #expect(read(Array(bytes[..<place]), .whole) == "more")
    }
  }

  static let faults = [
    ("\n", "field(HTTP.FieldSyntaxError.lineEnd)"), (" a: b\r\n", "field(HTTP.FieldSyntaxError.folding)"),
    ("a : b\r\n", "field(HTTP.FieldSyntaxError.spaceBeforeColon)"), ("a\r\n", "field(HTTP.FieldSyntaxError.name)"),
    ("a: b\0\r\n", "field(HTTP.FieldSyntaxError.value)"),
    ("a: b\r\nc: d\r\ne: f\r\n", "field(HTTP.FieldSyntaxError.tooMany)"),
    ("a: \(String(repeating: "b", count: 100))\r\n", "tooLarge"),
  ]

  @Test(arguments: faults)
  func `a faulty section is refused`(section: String, expected: String) {
    let limits = HeadLimits(headBytes: 50, fieldCount: 2)
    #expect(read(Array(section.utf8), .whole, limits: limits) == expected)
    #expect(read(Array(section.utf8), .byteByByte, limits: limits) == expected)
  }

  @Test func `one parser reads one section after the other`() {
    var parser = TrailerParser()
    let first = Array("A: b\r\n\r\n".utf8)
    let second = Array("\r\n".utf8)
    #expect(parser.parse(first.span, limits: HeadLimits()) == .complete(byteCount: 8))
    #expect(parser.fields.count == 1)
    #expect(parser.parse(second.span, limits: HeadLimits()) == .complete(byteCount: 2))
    #expect(parser.fields.count == 0)
  }

  private static func forwards(_ name: String, _ nominations: Nominations?) -> Bool {
    var parser = TrailerParser()
    let bytes = Array("\(name): x\r\n\r\n".utf8)
    _ = parser.parse(bytes.span, limits: HeadLimits())
    return TrailerRule.forwards(parser.fields[0], nominations, in: bytes.span)
  }

  @Test(
    arguments: [
      ("X-Checksum", true), ("Server-Timing", true), ("ETag", true), ("Date", true),
      ("Content-Length", false), ("Transfer-Encoding", false), ("Content_Length", false), ("Host", false),
      ("Authorization", false), ("Proxy-Authorization", false), ("Set-Cookie", false), ("Cookie", false),
      ("Content-Type", false), ("Content-Encoding", false), ("Content-Range", false), ("Trailer", false),
      ("Connection", false), ("TE", false), ("Cache-Control", false), ("Max-Forwards", false), ("Expect", false),
      ("Range", false), ("WWW-Authenticate", false), ("X-Forwarded-For", false), ("Location", false), ("Via", false),
      ("traceparent", false), ("Keep-Alive", false), ("X-HTTP-Method-Override", false), ("X_HTTP_Method", false),
      ("X-Method-Override", false), ("X-Original-URL", false), ("X_Rewrite_URL", false), ("PATH_INFO", false),
      ("Use-As-Dictionary", false), ("X-Matched-Path", false), ("X_Host", false), ("X-Forwarded-Method", false),
    ])
  func `only fields that steer nothing are forwarded as trailers`(name: String, expected: Bool) {
    #expect(Self.forwards(name, nil) == expected)
  }

  @Test(arguments: [
    ("X-Listed", false), ("x-LISTED", false), ("X-Second", false), ("X-Kept", true), ("X-List", true), ("ETag", true),
  ])
  func `a trailer field that the head nominates ends here`(name: String, expected: Bool) throws {
    let nominations = withRequest(
      "POST / HTTP/1.1\r\nHost: h\r\nConnection: x-listed, etag\r\nConnection: close, X-Second\r\n\r\n"
    ) { $0.connection.nominations(in: $1) }
    #expect(Self.forwards(name, nominations) == expected)
  }
}
