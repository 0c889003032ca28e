// Writes heads into a buffer, without intermediate text. Nothing is checked here: values come from parsed heads or from
// our own literals.

public import Bytes

/// Functions that append the parts of a head to a buffer.
public enum HeadWriter {
  /// `METHOD SP`. The target and `requestLineEnd` follow.
  public static func method(_ name: Span<UInt8>, into buffer: inout ByteBuffer) {
    buffer.append(name)
    buffer.append(ASCII.space)
  }

  /// ` HTTP/1.1 CRLF`: a proxy sends its own version (RFC 9110 §2.5).
  public static func requestLineEnd(into buffer: inout ByteBuffer) {
    buffer.append(" HTTP/1.1\r\n")
  }

  /// A status line with the received reason phrase.
  public static func statusLine(_ status: Int, reason: Span<UInt8>, into buffer: inout ByteBuffer) {
    statusLineStart(status, into: &buffer)
    buffer.append(reason)
    endLine(&buffer)
  }

  /// A status line with the registered reason phrase.
  public static func statusLine(_ status: Int, into buffer: inout ByteBuffer) {
    statusLineStart(status, into: &buffer)
    buffer.append(StatusCode.reason(status))
    endLine(&buffer)
  }

  private static func endLine(_ buffer: inout ByteBuffer) {
    buffer.append(ASCII.carriageReturn, ASCII.lineFeed)
  }

  private static func statusLineStart(_ status: Int, into buffer: inout ByteBuffer) {
    buffer.append("HTTP/1.1 ")
    buffer.append(decimal: UInt64(status))
    buffer.append(ASCII.space)
  }

  /// A received field line, in plain spelling.
  public static func field(_ line: FieldLine, from bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    if line.isPlain {
      buffer.append(bytes.extracting(Int(line.name.start)..<Int(line.value.end) + 2))
      return
    }
    buffer.append(bytes.extracting(line.name))
    buffer.append(ASCII.colon, ASCII.space)
    buffer.append(bytes.extracting(line.value))
    endLine(&buffer)
  }

  /// A field line of our own. `name` is spelt as it is to be sent.
  public static func field(_ name: StaticString, _ value: Span<UInt8>, into buffer: inout ByteBuffer) {
    buffer.append(field: name, value)
  }

  /// A field line whose name the configuration has.
  package static func field(_ name: [UInt8], _ value: Span<UInt8>, into buffer: inout ByteBuffer) {
    buffer.append(name)
    buffer.append(ASCII.colon, ASCII.space)
    buffer.append(value)
    endLine(&buffer)
  }

  /// A field line of our own with a literal value.
  public static func field(_ name: StaticString, _ value: StaticString, into buffer: inout ByteBuffer) {
    buffer.append(name)
    buffer.append(ASCII.colon, ASCII.space)
    buffer.append(value)
    endLine(&buffer)
  }

  /// A field line of our own with a number.
  public static func field(_ name: StaticString, decimal value: UInt64, into buffer: inout ByteBuffer) {
    buffer.append(name)
    buffer.append(ASCII.colon, ASCII.space)
    buffer.append(decimal: value)
    endLine(&buffer)
  }

  /// The empty line that ends a head or a trailer section.
  public static func end(into buffer: inout ByteBuffer) { endLine(&buffer) }

  /// The field of content that is sent in chunks.
  package static func chunkedCoding(into buffer: inout ByteBuffer) {
    buffer.append("Transfer-Encoding: chunked\r\n")
  }

  /// A head's statement about its connection, and its end.
  package static func end(_ notice: ConnectionNotice, for version: HTTPVersion, into buffer: inout ByteBuffer) {
    switch (notice, version) {
    case (.kept, .http11), (_, .http2): break
    case (.kept, .http10): field("Connection", "keep-alive", into: &buffer)
    case (.closed, .http10), (.closed, .http11): field("Connection", "close", into: &buffer)
    case (.webSocket, .http10), (.webSocket, .http11): buffer.append("Connection: Upgrade\r\nUpgrade: websocket\r\n")
    case (.trailersAccepted, .http10), (.trailersAccepted, .http11): buffer.append("TE: trailers\r\nConnection: TE\r\n")
    }
    end(into: &buffer)
  }

  /// A chunk (RFC 9112 §7.1). `content` is not empty: that would be the last chunk.
  public static func chunk(_ content: Span<UInt8>, into buffer: inout ByteBuffer) {
    precondition(!content.isEmpty, "a chunk of nothing ends the content")
    buffer.append(hexadecimal: UInt64(content.count))
    endLine(&buffer)
    buffer.append(content)
    endLine(&buffer)
  }

  /// The last chunk. A trailer section, at least its `end`, follows.
  public static func lastChunk(into buffer: inout ByteBuffer) { buffer.append("0\r\n") }
}

/// The notice of a head about its connection. It is decided apart from the message's fields, and written as the
/// connection's version has it.
package enum ConnectionNotice: Sendable, Hashable {
  /// Another message can follow.
  case kept
  /// The connection ends after this message.
  case closed
  /// The connection becomes a WebSocket, or is asked to (RFC 6455 §4).
  case webSocket
  /// The connection is kept, and the sender accepts trailer fields (RFC 9110 §10.1.4).
  case trailersAccepted
}
