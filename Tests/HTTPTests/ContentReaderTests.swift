// Content of every framing, cut at every byte, with bytes of the next message behind it.

import Bytes
import HTTP
import Testing

@Suite struct ContentReaderTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var framing: BodyFraming
    var sent: String
    var content = ""
    var trailers: [String] = []
    /// Bytes behind the message.
    var rest = ""
    var testDescription: String { name }
  }

  private static let rows = [
    Row(name: "none", framing: .none, sent: "NEXT", rest: "NEXT"),
    Row(name: "empty", framing: .fixed(0), sent: "NEXT", rest: "NEXT"),
    Row(name: "fixed", framing: .fixed(5), sent: "helloNEXT", content: "hello", rest: "NEXT"),
    Row(
      name: "chunked", framing: .chunked, sent: "3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\nNEXT", content: "hello",
      rest: "NEXT"),
    Row(
      name: "trailers", framing: .chunked, sent: "5\r\nhello\r\n0\r\nX-Sum: 1\r\nETag: 2\r\n\r\nNEXT", content: "hello",
      trailers: ["X-Sum=1", "ETag!=2"], rest: "NEXT"),
    Row(name: "until close", framing: .untilClose, sent: "hello", content: "hello"),
  ]

  /// Content that a reader is given in pieces.
  private struct Reading {
    var content: [UInt8] = []
    var trailers: [String] = []
    var rest: [UInt8] = []
    var isComplete = false
    var error: ContentError?

    init(_ pieces: [[UInt8]], _ framing: BodyFraming) {
      var reader = ContentReader(framing)
      var parser = TrailerParser()
      for piece in pieces {
        rest += piece
        reading: while !isComplete {
          switch reader.next(rest.span, &parser, HeadLimits()) {
          case .needsMore(let consumed):
            rest.removeFirst(consumed)
            break reading
          case .data(let start, let count):
            content += rest[start..<start + count]
            rest.removeFirst(start + count)
          case .lastChunk(let consumed): rest.removeFirst(consumed)
          case .end(let consumed):
            if consumed > 0 { trailers = lines(parser.fields, rest.span) }
            rest.removeFirst(consumed)
            isComplete = true
          case .invalid(let error):
            self.error = error
            return
          }
        }
      }
      if !isComplete { isComplete = reader.senderEnded() }
    }
  }

  @Test(arguments: rows) func `content is read whole wherever it is cut, and no byte behind it`(row: Row) {
    let bytes = Array(row.sent.utf8)
    var feedings = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    feedings.append(bytes.map { [$0] })
    for pieces in feedings {
      let reading = Reading(pieces, row.framing)
      #expect(reading.isComplete && reading.error == nil)
      #expect(reading.content == Array(row.content.utf8))
      #expect(reading.trailers == row.trailers)
      #expect(reading.rest == Array(row.rest.utf8))
    }
  }

  @Test(arguments: rows) func `content that is cut short is not complete`(row: Row) {
    let message = Array(row.sent.utf8.dropLast(row.rest.utf8.count))
    for count in message.indices {
      #expect(Reading([Array(message[..<count])], row.framing).isComplete == (row.framing == .untilClose))
    }
  }

  @Test func `a fault says whether the chunks or the trailers have it`() {
    #expect(Reading([Array("5;\r\nx".utf8)], .chunked).error == .chunk(.extension))
    #expect(Reading([Array("0\r\nno field\r\n\r\n".utf8)], .chunked).error == .trailer(.field(.name)))
  }

  @Test func `the number of bytes to come is told if it is known`() {
    var parser = TrailerParser()
    var reader = ContentReader(.fixed(5))
    #expect(reader.remaining == 5 && !reader.isAtEnd)
    _ = reader.next(Array("hel".utf8).span, &parser, HeadLimits())
    #expect(reader.remaining == 2)
    _ = reader.next(Array("loN".utf8).span, &parser, HeadLimits())
    #expect(reader.remaining == nil && reader.isAtEnd)
    #expect(ContentReader(.chunked).remaining == nil && ContentReader(.untilClose).remaining == nil)
  }
}
