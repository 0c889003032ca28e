// A span's place in all traces, and the field that carries it from one system to the next. Random numbers are
// parameters.
//
//     traceparent = version "-" trace-id "-" parent-id "-" trace-flags, all in HEXDIGLC   (W3C Trace Context §3.2)

package import Bytes

/// The place of a span, as in a `traceparent` field: its trace's id, its own, and the flags.
package struct TraceContext: Sendable, Hashable {
  /// Length of every `traceparent` that is written.
  package static let byteCount = 55

  /// The first half of the trace id.
  package var traceHigh: UInt64
  /// The second half of the trace id.
  package var traceLow: UInt64
  /// The id of the span, which is not 0: in a field that was received, of the span that made the request.
  package var span: UInt64
  /// The flags; bit 0: the trace is recorded.
  package var flags: UInt8

  /// True if the trace is recorded (the `sampled` flag).
  package var isSampled: Bool {
    get { flags & 1 == 1 }
    set { flags = newValue ? flags | 1 : flags & ~1 }
  }

  package init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, flags: UInt8) {
    self.traceHigh = traceHigh
    self.traceLow = traceLow
    self.span = span
    self.flags = flags
  }

  /// A new trace from random numbers. Ids of 0 are invalid, so they become 1.
  package init(randomHigh: UInt64, randomLow: UInt64, randomSpan: UInt64, isSampled: Bool) {
    traceHigh = randomHigh
    traceLow = randomHigh == 0 && randomLow == 0 ? 1 : randomLow
    span = max(randomSpan, 1)
    flags = isSampled ? 1 : 0
  }

  /// Reads a field value; `nil` if it is not valid: then a new trace begins. Of a later version than 0, the part that
  /// version 0 defines is used (W3C Trace Context §4.3).
  package init?(_ value: Span<UInt8>) {
    guard value.count >= Self.byteCount, value[2] == ASCII.dash, value[35] == ASCII.dash, value[52] == ASCII.dash,
      let version = Self.number(value, 0..<2), let high = Self.number(value, 3..<19),
      let low = Self.number(value, 19..<35), let span = Self.number(value, 36..<52),
      let flags = Self.number(value, 53..<55)
    else { return nil }
    guard version != 0xFF, high != 0 || low != 0, span != 0 else { return nil }
    if value.count > Self.byteCount, version == 0 || value[55] != ASCII.dash { return nil }
    traceHigh = high
    traceLow = low
    self.span = span
    self.flags = version == 0 ? UInt8(flags) : UInt8(flags) & 1
  }

  /// Another span of the same trace. An id of 0 is invalid, so it becomes 1.
  package func sibling(_ id: UInt64) -> TraceContext {
    var sibling = self
    sibling.span = max(id, 1)
    return sibling
  }

  /// Appends the 55 bytes of version 0.
  package func write(into buffer: inout ByteBuffer) {
    buffer.append("00-")
    buffer.append(hexadecimal: traceHigh, digits: 16)
    buffer.append(hexadecimal: traceLow, digits: 16)
    buffer.append(ASCII.dash)
    buffer.append(hexadecimal: span, digits: 16)
    buffer.append(ASCII.dash)
    buffer.append(hexadecimal: UInt64(flags), digits: 2)
  }

  private static func number(_ value: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var number: UInt64 = 0
    for index in range {
      let byte = value[index]
      // Capitals are not valid here (W3C Trace Context §3.2.2.3).
      guard let digit = ASCII.hexadecimalValue(byte), byte == ASCII.lowered(byte) else { return nil }
      number = number << 4 | UInt64(digit)
    }
    return number
  }
}
