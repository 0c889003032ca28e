// The `Vary` of a hop whose answer depends on fields of the request.

package import Bytes

/// Names of request fields that decide about a hop's answers (RFC 9110 §12.5.5).
package struct VaryFields: Sendable {
  private let names: [[UInt8]]
  /// As field lines.
  private let lines: [UInt8]

  package init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    lines = names.flatMap { Array("Vary: \($0)\r\n".utf8) }
  }

  /// Appends a line for each name that the response's own lines lack: a response that comes this way more than once
  /// does not grow each time.
  package func write(beside fields: borrowing FieldTable, _ bytes: Span<UInt8>, into output: inout ByteBuffer) {
    if names.isEmpty { return }
    if fields.contains(.vary) { writeMissing(beside: fields, bytes, into: &output) } else { output.append(lines) }
  }

  @inline(never)
  private func writeMissing(beside fields: borrowing FieldTable, _ bytes: Span<UInt8>, into output: inout ByteBuffer) {
    for name in names where !fields.lists(.vary, name.span, in: bytes) {
      HeadWriter.field("Vary", name.span, into: &output)
    }
  }
}
