internal import Bytes
internal import HTTP

/// An answer. The server adds the fields that frame its content.
package struct ServerResponse: Sendable {
  package enum Content: Sendable {
    case whole([UInt8])
    /// So many pieces, each sent by itself, with a pause between two.
    case paced(count: Int, pause: Duration, piece: @Sendable (Int) -> [UInt8])
  }

  package var status: Int
  package var fields: [(name: String, value: String)]
  package var content: Content
  /// True if the server stops when this is sent.
  package var isLast = false

  package init(status: Int, fields: [(name: String, value: String)] = [], content: Content) {
    self.status = status
    self.fields = fields
    self.content = content
  }

  package init(status: Int, contentType: String, _ text: String) {
    self.init(status: status, fields: [("Content-Type", contentType)], content: .whole(Array(text.utf8)))
  }
}

/// The end of an answer's content.
enum ResponseFraming {
  /// `Content-Length`.
  case length(Int)
  case chunked
  /// The connection's end: to an HTTP/1.0 caller.
  case untilClose

  init(_ content: ServerResponse.Content, to version: HTTPVersion) {
    self =
      switch content {
      case .whole(let bytes): .length(bytes.count)
      case .paced: version.hasChunks ? .chunked : .untilClose
      }
  }
}

extension ByteBuffer {
  /// Writes the head of `response`. `date`: seconds since 1970; nil leaves the field out.
  mutating func appendHead(
    _ response: ServerResponse, _ framing: ResponseFraming, _ persistence: Persistence, _ version: HTTPVersion,
    date: Int64?
  ) {
    HeadWriter.statusLine(response.status, into: &self)
    if let date {
      append("Date: ")
      HTTPDate.write(date, into: &self)
      append("\r\n")
    }
    for (name, value) in response.fields { append(Array("\(name): \(value)\r\n".utf8)) }
    switch framing {
    case .length(let count): HeadWriter.field("Content-Length", decimal: UInt64(count), into: &self)
    case .chunked: HeadWriter.chunkedCoding(into: &self)
    case .untilClose: break
    }
    HeadWriter.end(persistence == .keepAlive ? .kept : .closed, for: version, into: &self)
  }

  /// Writes a piece of the content.
  mutating func appendPiece(_ bytes: [UInt8], _ framing: ResponseFraming) {
    if case .chunked = framing { HeadWriter.chunk(bytes.span, into: &self) } else { append(bytes) }
  }

  /// Writes the end of the content.
  mutating func appendEnd(_ framing: ResponseFraming) {
    guard case .chunked = framing else { return }
    HeadWriter.lastChunk(into: &self)
    HeadWriter.end(into: &self)
  }
}
