// The result for the bytes of a response head, in a form that can be compared.

import Bytes
import HTTP

/// The result for the bytes of a head.
enum HeadOutcome: Equatable {
  case needsMore
  case invalid(ResponseHeadError)
  /// `written` is the head as it would be forwarded.
  case complete(byteCount: Int, parts: [ByteRange], framing: [BodyFraming?], written: [UInt8])

  init(_ bytes: [UInt8], pieces: [Int], _ limits: HeadLimits) {
    var parser = ResponseHeadParser()
    var head = ResponseHead(fieldCapacity: 4)
    self = .needsMore
    for length in pieces {
      let arrived = bytes.span.extracting(0..<length)
      switch parser.parse(arrived, into: &head, limits: limits) {
      case .needsMore: continue
      case .invalid(let error):
        self = .invalid(error)
        return
      case .complete(let byteCount):
        var parts = [head.reason]
        for index in 0..<head.fields.count {
          parts += [head.fields[index].name, head.fields[index].value]
        }
        let framing = [RequestMethod.get, .head].map {
          try? BodyFraming.response(head, arrived, requestMethod: $0)
        }
        self = .complete(
          byteCount: byteCount, parts: parts, framing: framing, written: Self.written(head, arrived))
        return
      }
    }
  }

  /// A fault in a line whose end is missing may be seen at once or not at all.
  func agrees(with other: HeadOutcome) -> Bool {
    switch (self, other) {
    case (.invalid, .needsMore), (.needsMore, .invalid): true
    default: self == other
    }
  }

  private static func written(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>) -> [UInt8] {
    var buffer = ByteBuffer(capacity: 16)
    HeadWriter.statusLine(head.status, reason: bytes.extracting(head.reason), into: &buffer)
    var run = FieldRun()
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      if HopByHop.forwards(line, head.connection, in: bytes) { run.add(line, from: bytes, into: &buffer) }
    }
    run.finish(from: bytes, into: &buffer)
    HeadWriter.end(into: &buffer)
    return buffer.bytes.indices.map { buffer.bytes[$0] }
  }
}
