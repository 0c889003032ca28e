// Spans in the form for a collector: OTLP's ExportTraceServiceRequest in its JSON encoding, which differs from
// proto3's: ids are hexadecimal, enumerations numbers (OTLP specification, "JSON Protobuf Encoding").

internal import Bytes

/// Renders batches of spans of one process.
package struct TracesDocument: Sendable {
  private let resource: [(key: String, value: String)]
  private let version: String

  /// Bytes of a text that are exported; the rest is cut off.
  package static let textLimit = 1024

  /// Documents of a process with these attributes; `version` is the program's.
  package init(resource: [(key: String, value: String)], version: String) {
    self.resource = resource
    self.version = version
  }

  package func bytes(of spans: [SpanRecord]) -> [UInt8] {
    var buffer = ByteBuffer(capacity: 512 + spans.count * 640)
    buffer.append(#"{"resourceSpans":[{"resource":{"attributes":["#)
    for (index, attribute) in resource.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      Self.append(attribute.key, .string(attribute.value), to: &buffer)
    }
    buffer.append(#"]},"scopeSpans":[{"scope":{"name":"bearer-proxy","version":"#)
    Self.append(version, to: &buffer)
    buffer.append(#"},"spans":["#)
    for (index, span) in spans.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      Self.append(span, to: &buffer)
    }
    buffer.append("]}]}]}")
    return buffer.withReadableBytes { Array($0) }
  }

  private static func append(_ span: SpanRecord, to buffer: inout ByteBuffer) {
    buffer.append(#"{"traceId":""#)
    buffer.append(hexadecimal: span.context.traceHigh, digits: 16)
    buffer.append(hexadecimal: span.context.traceLow, digits: 16)
    buffer.append(#"","spanId":""#)
    buffer.append(hexadecimal: span.context.span, digits: 16)
    // Bit 8 of the flags: bit 9 is set if the parent is another process's.
    var flags = UInt64(span.context.flags) | 0x100
    switch span.parent {
    case .none: break
    case .local(let parent), .remote(let parent):
      buffer.append(#"","parentSpanId":""#)
      buffer.append(hexadecimal: parent, digits: 16)
      if case .remote = span.parent { flags |= 0x200 }
    }
    buffer.append(#"","flags":"#)
    buffer.append(decimal: flags)
    if let state = span.traceState {
      buffer.append(#","traceState":"#)
      append(state, to: &buffer)
    }
    buffer.append(#","name":"#)
    append(span.name, to: &buffer)
    buffer.append(#","kind":"#)
    buffer.append(decimal: UInt64(span.kind.rawValue))
    // 64-bit numbers are strings, since a reader's numbers may be floating-point ones.
    buffer.append(#","startTimeUnixNano":""#)
    buffer.append(decimal: span.start)
    buffer.append(#"","endTimeUnixNano":""#)
    buffer.append(decimal: span.end)
    buffer.append(#"","attributes":["#)
    for (index, (key, value)) in span.attributes.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      append("\(key)", value, to: &buffer)
    }
    buffer.append(span.isError ? #"],"status":{"code":2}}"# : #"],"status":{}}"#)
  }

  private static func append(_ key: String, _ value: SpanValue, to buffer: inout ByteBuffer) {
    buffer.append(#"{"key":"#)
    append(key, to: &buffer)
    switch value {
    case .string(let text):
      buffer.append(#","value":{"stringValue":"#)
      append(text, to: &buffer)
    case .integer(let number):
      buffer.append(#","value":{"intValue":""#)
      buffer.append(decimal: number)
      buffer.append(UInt8(ascii: "\""))
    }
    buffer.append("}}")
  }

  private static func append(_ text: String, to buffer: inout ByteBuffer) {
    buffer.append(UInt8(ascii: "\""))
    var bytes = Array(text.utf8)
    if bytes.count > textLimit {
      bytes = Array(bytes.prefix(textLimit))
      // No character is cut in two.
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    }
    buffer.append(escaping: bytes.span)
    buffer.append(UInt8(ascii: "\""))
  }
}
