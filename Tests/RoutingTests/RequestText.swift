// Requests for tables: written as text, parsed by the HTTP module.

import Bytes
import HTTP
import Testing

/// Parses `text`, a request head and what follows, and lends both to `body`.
func withRequest(_ text: String, _ body: (borrowing RequestHead, borrowing ByteBuffer) throws -> Void) throws {
  var buffer = ByteBuffer(capacity: 4096)
  buffer.append(Array(text.utf8))
  var parser = RequestHeadParser()
  var head = RequestHead()
  let progress = buffer.withBytes { parser.parse($0, into: &head, limits: HeadLimits()) }
  guard case .complete = progress else {
    Issue.record("no request: \(text)")
    return
  }
  try body(head, buffer)
}
