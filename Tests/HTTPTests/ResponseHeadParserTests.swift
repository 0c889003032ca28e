import HTTP
import Testing

@Suite struct ResponseHeadParserTests {
  static let heads: [(String, status: Int, reason: String, fields: [String])] = [
    ("HTTP/1.1 200 OK\r\n\r\n", 200, "OK", []),
    ("HTTP/1.1 200 \r\n\r\n", 200, "", []),
    ("HTTP/1.1 301\r\nLocation: /\r\n\r\n", 301, "", ["Location!=/"]),
    ("HTTP/1.0 599  Odd\tone\u{FC}\r\nA:b\r\nB: \r\n\r\n", 599, " Odd\tone\u{FC}", ["A=b", "B="]),
    ("HTTP/1.1 100 Continue\r\n\r\n", 100, "Continue", []),
    // RFC 9112 §5.1: a proxy removes white space before the colon from a response.
    ("HTTP/1.1 204 No Content\r\nA \t: b\r\nServer : x\r\n\r\n", 204, "No Content", ["A=b", "Server!=x"]),
  ]

  @Test(arguments: heads)
  func `a head reads the same whole, byte by byte, split at every place, and with bytes behind it`(
    head: String, status: Int, reason: String, fields: [String]
  ) {
    let bytes = head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    #expect(parser.parse(bytes.span, into: &head, limits: HeadLimits()) == .complete(byteCount: bytes.count))
    let read = ResponseHeadText(head, bytes.span)
    #expect(read.status == status && read.reason == reason && read.fields == fields)
    #expect(head.isInterim == (status == 100))

    let whole = Feeding.response(bytes, .whole)
    #expect(Feeding.response(bytes, .byteByByte) == whole)
    #expect(Feeding.response(bytes + [0x0D, 0x0A], .whole) == whole)
    for place in bytes.indices {
      #expect(Feeding.response(bytes, .split(at: place)) == whole)
      #expect(Feeding.response(Array(bytes[..<place]), .whole) == .needsMore)
    }
  }

  /// The heads that have each fault first.
  static let faultyHeads: KeyValuePairs = [
    "statusLine": [
      "HTP/1.1 200 OK\r\n", "\r\nHTTP/1.1 200 OK\r\n", "http/1.1 200 OK\r\n", "HTTP/11.1 200 OK\r\n",
      "HTTP/1.1\t200 OK\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2\r\n", "HTTP/1.1 2000 OK\r\n",
      "HTTP/1.1 200X\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP/1.1 2xx OK\r\n",
    ],
    "versionUnsupported": ["HTTP/2.0 200 OK\r\n", "HTTP/0.9 200 OK\r\n"],
    "statusCode": ["HTTP/1.1 099 OK\r\n", "HTTP/1.1 600 OK\r\n"],
    "reason": ["HTTP/1.1 200 O\0K\r\n", "HTTP/1.1 200 \u{7F}\r\n"],
    "lineEnd": ["HTTP/1.1 200 OK\n", "HTTP/1.1 200\n", "HTTP/1.1 200 OK\rx\n"],
    "field(HTTP.FieldSyntaxError.folding)": ["HTTP/1.1 200 OK\r\nA: b\r\n c\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n"],
    "field(HTTP.FieldSyntaxError.name)": [
      "HTTP/1.1 200 OK\r\nA b: c\r\n", "HTTP/1.1 200 OK\r\n: b\r\n", "HTTP/1.1 200 OK\r\nA\r\n",
    ],
    "field(HTTP.FieldSyntaxError.lineEnd)": ["HTTP/1.1 200 OK\r\nA: b\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n"],
    "connectionOptions": ["HTTP/1.1 200 OK\r\nConnection: a b\r\n\r\n"],
    "field(HTTP.FieldSyntaxError.value)": ["HTTP/1.1 200 OK\r\nA: b\0\r\n"],
  ]

  static let faults = faultyHeads.flatMap { fault, heads in heads.map { HeadCase($0, fault) } }

  @Test(arguments: faults)
  func `a faulty head is refused for its first fault, however it arrives`(fault: HeadCase) {
    #expect(Feeding.response(fault.bytes, .whole) == .invalid(fault.expected))
    #expect(Feeding.response(fault.bytes, .byteByByte) == .invalid(fault.expected))
    for place in fault.bytes.indices {
      #expect(Feeding.response(fault.bytes, .split(at: place)) == .invalid(fault.expected))
    }
  }

  static let limitedHead = Array("HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n".utf8)

  static var limitRows: [(HeadLimits, HeadReading)] {
    let head = limitedHead
    return [
      (HeadLimits(headBytes: head.count - 1), .invalid("headTooLarge")),
      (HeadLimits(headBytes: 3), .invalid("headTooLarge")),
      (HeadLimits(fieldCount: 1), .invalid("field(HTTP.FieldSyntaxError.tooMany)")),
    ]
  }

  @Test func `limits hold at the byte`() {
    let head = Self.limitedHead
    for (limits, expected) in Self.limitRows {
      #expect(Feeding.response(head, .whole, limits: limits) == expected)
      #expect(Feeding.response(head, .byteByByte, limits: limits) == expected)
    }
    guard case .complete = Feeding.response(head, .whole, limits: HeadLimits(headBytes: head.count, fieldCount: 2))
    else {
      Issue.record("a head at the limit is accepted")
      return
    }
  }
}
