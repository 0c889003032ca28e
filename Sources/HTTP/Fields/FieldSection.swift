// The grammar of field lines. One pass: each byte of a name is looked up once, values are skipped eight bytes at a
// time. It does not interpret fields.
//
//     field-line = field-name ":" OWS field-value OWS            (RFC 9112 §5)

import Bytes

enum FieldSection {
  /// The rule for white space before a colon: an error, or removed as RFC 9112 §5.1 demands of a proxy for responses.
  enum SpaceBeforeColon { case refused, removed }

  /// Reads lines from `position`, which is left at the first incomplete line. Bytes at and behind `end` are not read.
  static func read(
    _ bytes: Span<UInt8>, from position: inout Int, end: Int, into fields: inout FieldTable, limit: Int,
    space: SpaceBeforeColon
  ) -> ReadingProgress<FieldSyntaxError> {
    precondition(end <= bytes.count && position >= 0)
    while true {
      var index = position
      while index < end, ByteClass.of(unsafe bytes[unchecked: index], ByteClass.token) { index += 1 }
      if index == end { return .needsMore }
      let nameEnd = index
      if bytes[index] != ASCII.colon || index == position {
        if index == position, bytes[index] == ASCII.carriageReturn {
          if index + 1 == end { return .needsMore }
          return bytes[index + 1] == ASCII.lineFeed ? .complete(byteCount: index + 2) : .invalid(.lineEnd)
        }
        if index == position || space == .refused {
          return nameError(bytes, from: position, stoppedAt: index, end: end)
        }
        while index < end, ByteClass.of(bytes[index], ByteClass.whitespace) { index += 1 }
        if index == end { return .needsMore }
        if bytes[index] != ASCII.colon { return nameError(bytes, from: position, stoppedAt: nameEnd, end: end) }
      }
      let colon = index
      index += 1
      while index < end, ByteClass.of(unsafe bytes[unchecked: index], ByteClass.whitespace) { index += 1 }
      let valueStart = index
      index = valueEnd(bytes, from: index, end: end)
      if index == end { return .needsMore }
      if bytes[index] != ASCII.carriageReturn { return .invalid(bytes[index] == ASCII.lineFeed ? .lineEnd : .value) }
      if index + 1 == end { return .needsMore }
      if bytes[index + 1] != ASCII.lineFeed { return .invalid(.lineEnd) }
      if fields.count == limit { return .invalid(.tooMany) }
      let next = index + 2
      while index > valueStart, ByteClass.of(bytes[index - 1], ByteClass.whitespace) { index -= 1 }
      let isPlain =
        colon == nameEnd && valueStart == colon + 2 && bytes[colon + 1] == ASCII.space && next == index + 2
      let name = ByteRange(from: position, to: nameEnd)
      fields.append(
        FieldLine(
          name: name, value: ByteRange(from: valueStart, to: index), known: FieldName(bytes.extracting(name)),
          isPlain: isPlain))
      position = next
    }
  }

  // The offset of the first byte that no field value has, at most `end`. Eight bytes are tested at once: a byte below
  // 0x20 borrows in the subtraction, DEL becomes 0 and borrows in the other. The lowest set bit is the first such byte;
  // those behind it may be marked by the borrow. HTAB is marked, too, and the table allows it.
  @inline(__always)
  private static func valueEnd(_ bytes: Span<UInt8>, from start: Int, end: Int) -> Int {
    var index = start
    while index + 8 <= end {
      let word = UInt64(
        littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
      let deleted = word ^ 0x7F7F_7F7F_7F7F_7F7F
      let low = (word &- 0x2020_2020_2020_2020) & ~word
      let zero = (deleted &- 0x0101_0101_0101_0101) & ~deleted
      let marks = (low | zero) & 0x8080_8080_8080_8080
      guard marks != 0 else {
        index += 8
        continue
      }
      index += marks.trailingZeroBitCount / 8
      if !ByteClass.of(unsafe bytes[unchecked: index], ByteClass.value) { return index }
      index += 1
    }
    while index < end, ByteClass.of(unsafe bytes[unchecked: index], ByteClass.value) { index += 1 }
    return index
  }

  // Reports the fault only once the bytes behind cannot change it, so that the result does not depend on how the bytes
  // were cut into pieces.
  @inline(never)
  private static func nameError(
    _ bytes: Span<UInt8>, from start: Int, stoppedAt index: Int, end: Int
  ) -> ReadingProgress<FieldSyntaxError> {
    let byte = bytes[index]
    if ByteClass.of(byte, ByteClass.whitespace) {
      if index == start { return .invalid(.folding) }
      var after = index
      while after < end, ByteClass.of(bytes[after], ByteClass.whitespace) { after += 1 }
      if after == end { return .needsMore }
      return .invalid(bytes[after] == ASCII.colon ? .spaceBeforeColon : .name)
    }
    if byte == ASCII.lineFeed { return .invalid(.lineEnd) }
    if byte == ASCII.carriageReturn {
      if index + 1 == end { return .needsMore }
      return .invalid(bytes[index + 1] == ASCII.lineFeed ? .name : .lineEnd)
    }
    return .invalid(.name)
  }
}

/// One field line of a head or trailer section, as places in the bytes it was read from.
public struct FieldLine: Sendable {
  /// The name as spelt.
  public var name: ByteRange
  /// The value without the white space around it; possibly empty.
  public var value: ByteRange
  /// The name, if a rule knows it.
  public var known: FieldName
  /// True if the line is `name: value CRLF` with exactly one space, so that its bytes can be sent on as they are.
  public var isPlain: Bool
}

/// The fault of bytes that are no field section (RFC 9112 §5, RFC 9110 §5). It completes "not acceptable HTTP:".
public enum FieldSyntaxError: String, Error, Sendable, Hashable, CaseIterable {
  /// The name is empty, has a byte that is not a `tchar`, or no colon follows it.
  case name = "a field name is not a token"
  /// RFC 9112 §5.1.
  case spaceBeforeColon = "a field's colon follows white space"
  /// Line folding is obsolete (RFC 9112 §5.2). In front of the first field it is another fault (RFC 9112 §2.2).
  case folding = "a field is folded over several lines"
  /// NUL or another control byte (RFC 9110 §5.5).
  case value = "a field value holds a control byte"
  /// LF alone, or a CR that is not followed by LF (RFC 9112 §2.2).
  case lineEnd = "a field line does not end with CR LF"
  /// More lines than `HeadLimits.fieldCount`.
  case tooMany = "there are too many fields"
}

/// The progress of reading a part of a message: a head, a line of it, or a trailer section.
public enum ReadingProgress<Fault: Error & Hashable>: Sendable, Hashable {
  /// It is incomplete. Call again with more bytes behind the same ones.
  case needsMore
  /// It is read, and ends behind this many bytes; empty lines before a request's head are among them.
  case complete(byteCount: Int)
  /// It is broken, and the connection of no further use.
  case invalid(Fault)
}
