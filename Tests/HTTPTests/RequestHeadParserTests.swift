import HTTP
import Testing

/// One row: the bytes that arrive, and the result.
struct HeadCase: Sendable, CustomTestStringConvertible {
  var bytes: [UInt8]
  var expected: String
  var testDescription: String

  init(_ text: String, _ expected: String) {
    bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    self.expected = expected
    testDescription = String(text.prefix(60))
  }
}

private func summary(_ reading: HeadReading) -> String {
  switch reading {
  case .needsMore: "more"
  case .invalid(let error): error
  case .complete(let byteCount, _): "complete \(byteCount)"
  }
}

@Suite struct RequestHeadParserTests {
  /// The heads that have each fault first.
  static let faultyHeads: KeyValuePairs = [
    "requestLine": [
      "GET /\r\n", "GET\r\n", "GET \r\n", " GET / HTTP/1.1\r\n", "GET  / HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n",
      "GET / HTTP/1.1 \r\n", "GET / HTTP/1.1 x\r\n", "GET /\n",
    ],
    "version": [
      "GET /  HTTP/1.1\r\n", "GET / http/1.1\r\n", "GET / HTTP/1.\r\n", "GET / HTTP/1\r\n", "GET / HTTP/1.10\r\n",
      "GET / HTTPS/1.1\r\n",
    ],
    "lineEnd": ["GET / HTTP/1.1\n", "GET / HTTP/1.1\rx\n", "\nGET / HTTP/1.1\r\n", "\rGET / HTTP/1.1\r\n"],
    "emptyLines": ["\r\n\r\n\r\n\r\n\r\n"],
    "method": [
      "G\0T / HTTP/1.1\r\n", ":GET / HTTP/1.1\r\n", "G\u{C4}T / HTTP/1.1\r\n", "\u{16}\u{03}\u{01}\u{02}\0\u{01}",
    ],
    "target": [
      "GET foo HTTP/1.1\r\n", "GET * HTTP/1.1\r\n", "OPTIONS ** HTTP/1.1\r\n", "GET /a#b HTTP/1.1\r\n",
      "GET /a\u{7F} HTTP/1.1\r\n", "GET /a\0 HTTP/1.1\r\n", "GET /\u{E4} HTTP/1.1\r\n", "GET h:80 HTTP/1.1\r\n",
      "GET ftp://h/ HTTP/1.1\r\n", "GET http:// HTTP/1.1\r\n", "GET http:///a HTTP/1.1\r\n",
      "GET http://h:x/a HTTP/1.1\r\n", "CONNECT / HTTP/1.1\r\n", "CONNECT h HTTP/1.1\r\n",
      "CONNECT http://h:1/ HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n",
    ],
    "userInformation": ["GET http://u:p@h/ HTTP/1.1\r\n"],
    "versionUnsupported": ["GET / HTTP/2.0\r\n", "GET / HTTP/0.9\r\n"],
    "field(HTTP.FieldSyntaxError.spaceBeforeColon)": [
      "GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA\t: b\r\n",
    ],
    "field(HTTP.FieldSyntaxError.name)": [
      "GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\n: b\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA\0: b\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\n\u{C4}: b\r\n",
    ],
    "field(HTTP.FieldSyntaxError.folding)": [
      "GET / HTTP/1.1\r\nHost: h\r\n b\r\n", "GET / HTTP/1.1\r\n A: b\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\tc\r\n",
    ],
    "field(HTTP.FieldSyntaxError.value)": [
      "GET / HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA: \u{7F}\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nA: 1234567890\u{1B}4567890\r\n",
    ],
    "field(HTTP.FieldSyntaxError.lineEnd)": [
      "GET / HTTP/1.1\r\nHost: h\r\nA: b\n", "GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n",
      "GET / HTTP/1.1\r\nHost: h\r\n\rx\n",
    ],
    "hostMissing": ["GET / HTTP/1.1\r\n\r\n", "GET http://h/ HTTP/1.1\r\n\r\n"],
    "hostRepeated": ["GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n", "GET / HTTP/1.0\r\nHost: h\r\nhost: i\r\n\r\n"],
    "hostInvalid": [
      "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h:65536\r\n\r\n",
    ],
    "hostDisagrees": [
      "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://a:443/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET https://a/ HTTP/1.1\r\nHost: a:80\r\n\r\n",
      "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    "connectionOptions": [
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: a b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: \"a\"\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: \((0...16).map { "x-\($0)" }.joined(separator: ","))\r\n\r\n",
    ],
  ]

  static let faults = faultyHeads.flatMap { fault, heads in heads.map { HeadCase($0, fault) } }

  @Test(arguments: faults)
  func `a faulty head is refused for its first fault, however it arrives`(fault: HeadCase) {
    for feeding in [Feeding.whole, .byteByByte] {
      #expect(summary(Feeding.request(fault.bytes, feeding)) == fault.expected)
    }
    for place in fault.bytes.indices {
      #expect(summary(Feeding.request(fault.bytes, .split(at: place))) == fault.expected)
    }
  }

  static let heads = [
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET /a/b?c=d?e HTTP/1.1\r\nHost: example.com:8080\r\nAccept:*/*\r\nX:\t y \t\r\nEmpty:\r\n\r\n",
    "GET http://Example.com?q HTTP/1.1\r\nHost: example.COM\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close, x-a ,, keep-alive\r\n\r\n",
    "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
    "BREW /pot HTTP/1.7\r\nHost: h\r\nLong: \(String(repeating: "0123456789", count: 30))\r\n\r\n",
  ]

  @Test(arguments: heads)
  func `a head reads the same whole, byte by byte, split at every place, and with bytes behind it`(head: String) {
    let bytes = Array(head.utf8)
    let whole = Feeding.request(bytes, .whole)
    guard case .complete(bytes.count, _) = whole else {
      Issue.record("\(whole)")
      return
    }
    #expect(Feeding.request(bytes, .byteByByte) == whole)
    for place in bytes.indices { #expect(Feeding.request(bytes, .split(at: place)) == whole) }
    for tail in ["x", "\r\n", "GET / HTTP/1.1\r\n", "\0\0"] {
      #expect(Feeding.request(bytes + tail.utf8, .whole) == whole)
    }
    for length in bytes.indices {
      #expect(Feeding.request(Array(bytes[..<length]), .whole) == .needsMore, "a head is not complete before its end")
    }
  }

  private static func read(_ text: String) -> RequestHeadText { withRequest(text) { RequestHeadText($0, $1) } }

  @Test func `the ranges of a head's parts are exact`() {
    let origin = Self.read(Self.heads[3])
    #expect(origin.method == "GET" && origin.form == .origin && origin.path == "/a/b" && origin.query == "c=d?e")
    #expect(origin.authority == "example.com:8080" && origin.host == "example.com" && origin.version == .http11)
    #expect(origin.fields == ["Host!=example.com:8080", "Accept!=*/*", "X=y", "Empty="])

    let absolute = Self.read(Self.heads[4])
    #expect(absolute.form == .absolute && absolute.path == "" && absolute.query == "q")
    #expect(absolute.authority == "Example.com" && absolute.host == "Example.com")

    let asterisk = Self.read(Self.heads[5])
    #expect(
      asterisk.form == .asterisk && asterisk.path == "" && asterisk.query == nil && asterisk.authority == "[::1]:80")
    #expect(asterisk.host == "::1")

    let connect = Self.read(Self.heads[6])
    #expect(connect.form == .authority && connect.authority == "h:443" && connect.path == "")

    let old = Self.read("GET http://h/a? HTTP/1.0\r\n\r\n")
    #expect(old.version == .http10 && old.authority == "h" && old.path == "/a" && old.query == "")
    #expect(old.host == "h" && connect.host == "h")
    let nameless = Self.read("GET / HTTP/1.0\r\n\r\n")
    #expect(nameless.authority == "" && nameless.host == "")
    #expect(Self.read(Self.heads[7]).version == .http11, "a later minor version counts as 1.1")
  }

  @Test(
    arguments: [
      ("GET", RequestMethod.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete),
      ("PATCH", .patch), ("TRACE", .trace), ("get", .other), ("GETS", .other), ("PROPFIND", .other), ("G", .other),
    ])
  func `methods are told apart by their exact spelling`(name: String, method: RequestMethod) {
    let read = withRequest("\(name) / HTTP/1.1\r\nHost: h\r\n\r\n") { head, _ in head.method }
    #expect(read == method)
  }

  static let limitedHead = Array("GET /0123456789 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n".utf8)

  static var limitRows: [(HeadLimits, String)] {
    let head = limitedHead
    return [
      (HeadLimits(headBytes: head.count, fieldCount: 2, targetBytes: 11), "complete \(head.count)"),
      (HeadLimits(headBytes: head.count - 1), "headTooLarge"),
      (HeadLimits(headBytes: 3), "headTooLarge"), (HeadLimits(headBytes: 5), "targetTooLong"),
      (HeadLimits(headBytes: 12, targetBytes: 12), "targetTooLong"),
      (HeadLimits(fieldCount: 1), "field(HTTP.FieldSyntaxError.tooMany)"),
      (HeadLimits(targetBytes: 10), "targetTooLong"),
    ]
  }

  @Test func `limits hold at the byte, however the head arrives`() {
    let head = Self.limitedHead
    for (limits, expected) in Self.limitRows {
      #expect(summary(Feeding.request(head, .whole, limits: limits)) == expected)
      #expect(summary(Feeding.request(head, .byteByByte, limits: limits)) == expected)
      #expect(summary(Feeding.request(head + head, .whole, limits: limits)) == expected)
    }
  }

  @Test func `a head without an end is refused at the limit`() {
    let limits = HeadLimits(headBytes: 1000, targetBytes: 800)
    for (start, error) in [
      ("GET /", "targetTooLong"), ("G", "headTooLarge"), ("GET / HTTP/1.1\r\nA", "headTooLarge"),
      ("GET / HTTP/1.1\r\nA: ", "headTooLarge"),
    ] {
      let bytes = Array(start.utf8) + [UInt8](repeating: 0x61, count: 2000)
      #expect(summary(Feeding.request(bytes, .whole, limits: limits)) == error)
      #expect(summary(Feeding.request(bytes, .byteByByte, limits: limits)) == error)
    }
  }

  @Test func `one parser reads one head after the other and forgets the last`() {
    var parser = RequestHeadParser()
    var head = RequestHead(fieldCapacity: 1)
    let first = Array("GET http://h/a?b HTTP/1.0\r\nHost: h\r\nConnection: close, x\r\nA: b\r\nC: d\r\n\r\n".utf8)
    let second = Array("PUT /z HTTP/1.0\r\n\r\n".utf8)
    var progress = parser.parse(first.span, into: &head, limits: HeadLimits())
    #expect(progress == .complete(byteCount: first.count))
    #expect(head.fields.count == 4 && head.connection.close)
    progress = parser.parse(second.span, into: &head, limits: HeadLimits())
    #expect(progress == .complete(byteCount: second.count))
    #expect(head.fields.count == 0 && !head.fields.contains(.host) && !head.connection.close)
    #expect(head.host.isEmpty)
    #expect(head.authority.isEmpty && head.target.authority.isEmpty && !head.target.hasQuery)
    // Another parser forgets what the head had before, too.
    var other = RequestHeadParser()
    _ = parser.parse(first.span, into: &head, limits: HeadLimits())
    progress = other.parse(second.span, into: &head, limits: HeadLimits())
    #expect(progress == .complete(byteCount: second.count))
    #expect(head.fields.count == 0 && head.host.isEmpty && !head.connection.close)
  }

  @Test func `each fault has the status that its sender can act on`() {
    #expect(RequestHeadError.targetTooLong.status == 414)
    #expect(RequestHeadError.headTooLarge.status == 431)
    #expect(RequestHeadError.field(.tooMany).status == 431)
    #expect(RequestHeadError.versionUnsupported.status == 505)
    #expect(RequestHeadError.requestLine.status == 400)
    #expect(RequestHeadError.field(.value).status == 400)
  }

  @Test(arguments: [
    ("http://API.example:80/a", "api.example", "API.example:80"),
    ("http://api.example/a", "api.example:80", "api.example"),
    ("http://api.example:/a", "api.example", "api.example:"), ("https://h/a", "h:443", "h"),
    ("https://h:443/a", "H", "h:443"), ("http://[::1]:80/", "[::1]", "[::1]:80"),
    ("http://h:0080/", "h", "h:0080"), ("http://h:81/", "h:81", "h:81"),
  ])
  func `if target and Host mean the same, the target's authority counts`(
    target: String, host: String, authority: String
  ) throws {
    let read = withRequest("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n") {
      [text($0.authority, $1), text($0.host, $1)]
    }
    #expect(read == [authority, authority.hasPrefix("[") ? "::1" : String(authority.prefix { $0 != ":" })])
  }
}
