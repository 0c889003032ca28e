import HTTP
import Testing

/// A decoder's result for bytes that arrive in pieces.
struct ChunkedReading: Equatable {
  var content: [UInt8] = []
  /// Bytes consumed, up to the trailer section if that was reached.
  var consumed = 0
  var isEnded = false
  var error: ChunkError?

  init(_ bytes: [UInt8], _ feeding: Feeding) {
    var decoder = ChunkedDecoder()
    for length in feeding.lengths(bytes.count) {
      while !isEnded {
        let arrived = bytes.span.extracting(consumed..<length)
        let step = decoder.next(arrived)
        if case .needsMore(let count) = step {
          consumed += count
          #expect(consumed == length, "what is not content is framing, and all of it is taken")
          break
        }
        switch step {
        case .needsMore: break
        case .data(let start, let count):
          #expect(count > 0)
          for index in start..<start + count { content.append(arrived[index]) }
          consumed += start + count
        case .end(let count):
          consumed += count
          isEnded = true
        case .invalid(let error):
          self.error = error
          return
        }
      }
    }
  }
}

@Suite struct ChunkedDecoderTests {
  static let bodies: [(coded: String, content: String)] = [
    ("0\r\n", ""),
    ("000\r\n", ""),
    ("5\r\nhello\r\n0\r\n", "hello"),
    ("0005\r\nhello\r\n1\r\n!\r\n00\r\n", "hello!"),
    ("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n", "01234567890123456789"),
    ("5;a\r\nhello\r\n0;b=c\r\n", "hello"),
    ("5; a ; b = c;d=\"x\\\"y; z\"\r\nhello\r\n0\t;e\r\n", "hello"),
    ("2\r\n\r\n\r\n0\r\n", "\r\n"),
  ]

  @Test(arguments: bodies)
  func `content is found whole, byte by byte, split at every place, and with bytes behind it`(
    coded: String, content: String
  ) {
    let bytes = Array(coded.utf8)
    let whole = ChunkedReading(bytes, .whole)
    #expect(
      whole.content == Array(content.utf8) && whole.isEnded && whole.error == nil && whole.consumed == bytes.count)
    #expect(ChunkedReading(bytes, .byteByByte) == whole)
    for place in bytes.indices {
      #expect(ChunkedReading(bytes, .split(at: place)) == whole)
      #expect(!ChunkedReading(Array(bytes[..<place]), .whole).isEnded)
    }
    #expect(ChunkedReading(bytes + Array("\r\nGET / HTTP/1.1\r\n".utf8), .whole) == whole)
  }

  static let faults: [(coded: String, error: ChunkError)] = [
    ("\r\n", .size), (" 5\r\n", .size), ("-5\r\n", .size), ("+5\r\n", .size), ("0x5\r\n", .size), ("5_0\r\n", .size),
    (";a\r\n", .size), ("g\r\n", .size), ("5 \r\n", .size), ("5 x\r\n", .size), ("5\0\r\n", .size),
    ("5\n", .lineEnd), ("5\rx", .lineEnd), ("5\r\r\n", .lineEnd), ("5;a\n", .lineEnd), ("5;a\rb\r\n", .lineEnd),
    ("5;a=\"\n", .lineEnd),
    ("5;\r\n", .extension), ("5;;a\r\n", .extension), ("5;a=\r\n", .extension), ("5;a=b=c\r\n", .extension),
    ("5;a \r\n", .extension), ("5;a=b \r\n", .extension), ("5;a=\"b\r\n", .extension), ("5;a=\"b\"c\r\n", .extension),
    ("5;a=\"\\\r\n", .extension), ("5;a\0\r\n", .extension), ("5;a b\r\n", .extension), ("5;a=b c\r\n", .extension),
    ("5\r\nhelloX\r\n", .dataEnd), ("5\r\nhello\n", .dataEnd), ("5\r\nhello\rX", .dataEnd),
    ("3\r\nhello\r\n", .dataEnd),
    ("8000000000000000\r\n", .sizeOverflow), ("FFFFFFFFFFFFFFFF\r\n", .sizeOverflow),
    ("10000000000000000\r\n", .sizeOverflow), ("100000000000000000000005\r\n", .sizeOverflow),
  ]

  @Test(arguments: faults)
  func `a broken coding is refused, however it arrives`(coded: String, error: ChunkError) {
    let bytes = Array(coded.utf8)
    let whole = ChunkedReading(bytes, .whole)
    #expect(whole.error == error)
    #expect(ChunkedReading(bytes, .byteByByte).error == error)
    for place in bytes.indices { #expect(ChunkedReading(bytes, .split(at: place)).error == error) }
  }

  @Test(
    arguments: [
      ("5 \r\n", nil), ("5\t  \r\n", nil), ("0005 \r\n", nil), ("5;a \r\n", nil), ("5;a=b \t\r\n", nil),
      ("5 ;a=\"b\" \r\n", nil), ("5 x\r\n", .size), ("5 \n", .size), ("5 \rx", .lineEnd), (" 5\r\n", .size),
      ("5; \r\n", .extension),
    ] as [(String, ChunkError?)])
  func `white space at the end of a size's line is removed from answers`(line: String, error: ChunkError?) {
    var decoder = ChunkedDecoder(.removed)
    let bytes = Array(line.utf8)
    for (index, byte) in bytes.enumerated() {
      switch decoder.next([byte].span) {
      case .needsMore(let consumed): #expect(consumed == 1)
      case .invalid(let found):
        #expect(found == error)
        return
      case .data, .end: Issue.record("no content was sent, at \(index)")
      }
    }
    #expect(error == nil && decoder.remaining == 5)
  }

  @Test func `the largest chunk is one below 2 to the 63`() {
    var decoder = ChunkedDecoder()
    let size = Array("7FFFFFFFFFFFFFFF\r\n".utf8)
    #expect(decoder.next(size.span) == .needsMore(consumed: size.count))
    #expect(decoder.remaining == UInt64(Int64.max))
  }

  static let longFaults: [(coded: String, error: ChunkError)] = [
    ("5;a=\(String(repeating: "b", count: 8200))\r\n", .extensionTooLong),
    (String(repeating: "0", count: 8200) + "5\r\n", .extensionTooLong),
    // Over the message, only bytes beyond the content's share count: 271 - 130 bytes a chunk here, and 16 KiB in all.
    (String(repeating: "1;a=\(String(repeating: "b", count: 268))\r\nx\r\n", count: 117), .extensionTooLong),
    (String(repeating: String(repeating: "0", count: 270) + "1\r\nx\r\n", count: 118), .extensionTooLong),
  ]

  /// Messages of well-behaved senders: fixed-width sizes, and a signature on each chunk.
  static let longBodies: [(unit: String, count: Int, content: Int)] = [
    ("00000001\r\nx\r\n", 2500, 2500),
    ("00000001\r\nx\r\n", 100_000, 100_000),
    ("00002000\r\n\(String(repeating: "x", count: 8192))\r\n", 3072, 24 << 20),
    ("1;sig=0123456789abcdef\r\nx\r\n", 600, 600),
    ("1;chunk-signature=\(String(repeating: "a", count: 64))\r\nx\r\n", 10_000, 10_000),
    (
      "400;signature=\(String(repeating: "a", count: 2000))\r\n\(String(repeating: "x", count: 1024))\r\n", 500,
      500 << 10
    ),
  ]

  @Test(arguments: longBodies)
  func `valid messages do not break off, however long they are`(unit: String, count: Int, content: Int) {
    let bytes = Array((String(repeating: unit, count: count) + "0\r\n").utf8)
    var decoder = ChunkedDecoder()
    var (consumed, read, isEnded) = (0, 0, false)
    loop: while !isEnded {
      switch decoder.next(bytes.span.extracting(consumed..<bytes.count)) {
      case .needsMore: break loop
      case .data(let start, let length):
        consumed += start + length
        read += length
      case .end: isEnded = true
      case .invalid(let error):
        Issue.record("\(error) after \(read) bytes of content")
        return
      }
    }
    #expect(isEnded && read == content)
  }

  @Test func `extensions and zeros are bounded in front of one chunk, and in proportion to content`() {
    for (coded, error) in Self.longFaults {
      #expect(ChunkedReading(Array(coded.utf8), .whole).error == error)
      #expect(ChunkedReading(Array(coded.utf8), .byteByByte).error == error)
    }
    let plain = Array((String(repeating: "1\r\nx\r\n", count: 10_000) + "0\r\n").utf8)
    #expect(ChunkedReading(plain, .whole).isEnded, "many small chunks are no fault")
  }

  @Test func `content is handed on as it arrives, before its chunk is complete`() {
    var decoder = ChunkedDecoder()
    let first = Array("A;x\r\n0123".utf8)
    #expect(decoder.next(first.span) == .data(start: 5, count: 4))
    #expect(decoder.remaining == 6)
    let second = Array("456789\r\n0\r\n\r\n".utf8)
    #expect(decoder.next(second.span) == .data(start: 0, count: 6))
    #expect(decoder.next(second.span.extracting(6...)) == .end(consumed: 5))
  }
}
