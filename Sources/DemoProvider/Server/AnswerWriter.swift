// Owns how an answer's head and the frames of its body are written. Which answer, and when, is others'.

internal import HTTP
internal import Tokens

/// How the end of an answer's body is shown.
enum AnswerFraming {
  /// `Content-Length`.
  case length(Int)
  /// Chunks.
  case chunked
  /// The connection's end: to an HTTP/1.0 caller.
  case untilClose
}

extension ByteBuffer {
  /// Writes the head of `answer`.
  mutating func appendHead(_ answer: DemoAnswer, _ framing: AnswerFraming, closes: Bool, now: UnixTime) {
    HeadWriter.statusLine(answer.status, into: &self)
    append("date: ")
    HTTPDate.write(now.seconds, into: &self)
    append("\r\n")
    for (name, value) in answer.fields { appendField(name, value) }
    switch framing {
    case .length(let count): appendField("content-length", "\(count)")
    case .chunked: appendField("transfer-encoding", "chunked")
    case .untilClose: break
    }
    if closes { appendField("connection", "close") }
    HeadWriter.end(into: &self)
  }

  /// Writes bytes of the body.
  mutating func appendPiece(_ bytes: [UInt8], _ framing: AnswerFraming) {
    guard case .chunked = framing else {
      append(bytes)
      return
    }
    HeadWriter.chunkStart(bytes.count, into: &self)
    append(bytes)
    HeadWriter.chunkEnd(into: &self)
  }

  /// Writes the end of the body.
  mutating func appendEnd(_ framing: AnswerFraming) {
    guard case .chunked = framing else { return }
    HeadWriter.lastChunk(into: &self)
    HeadWriter.end(into: &self)
  }

  private mutating func appendField(_ name: String, _ value: String) {
    append(Array("\(name): \(value)\r\n".utf8))
  }
}
