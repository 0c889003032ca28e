// The form of one record: a JSON object on a line, or a line for people. Log and AccessRecordWriter fill it.

internal import Bytes

/// The format of records.
package enum LogFormat: String, Sendable, Hashable, CaseIterable {
  /// One JSON object on a line.
  case json
  /// A line for people: time, level, message, then `name=value`.
  case text
}

/// Appends fields to a line, in one format or the other. Names of fields are literals without anything to escape.
struct LogRecord {
  let format: LogFormat

  /// Opens a record with its time and level.
  @inline(__always)
  func begin(_ line: inout ByteBuffer, at now: WallTime, level: LogLevel) {
    switch format {
    case .json:
      line.append("{\"time\":\"")
      line.append(now)
      line.append("\",\"level\":\"")
      line.append(level.rawValue.utf8.span)
      line.append(UInt8(ascii: "\""))
    case .text:
      line.append(now)
      line.append(UInt8(ascii: " "))
      line.append(level.rawValue.utf8.span)
    }
  }

  /// Writes the message.
  @inline(__always)
  func message(_ line: inout ByteBuffer, _ message: StaticString) {
    switch format {
    case .json:
      line.append(",\"message\":\"")
      line.append(message)
      line.append(UInt8(ascii: "\""))
    case .text:
      line.append(UInt8(ascii: " "))
      line.append(message)
    }
  }

  /// A field of text from anywhere.
  func field(_ line: inout ByteBuffer, _ name: StaticString, text: Span<UInt8>) {
    begin(&line, name)
    let isQuoted = format == .json || needsQuotes(text)
    if isQuoted { line.append(UInt8(ascii: "\"")) }
    line.append(escaping: text)
    if isQuoted { line.append(UInt8(ascii: "\"")) }
  }

  /// A field of text that is a literal: its bytes are taken without an allocation.
  func field(_ line: inout ByteBuffer, _ name: StaticString, word: String) {
    begin(&line, name)
    if format == .json { line.append(UInt8(ascii: "\"")) }
    line.append(word.utf8.span)
    if format == .json { line.append(UInt8(ascii: "\"")) }
  }

  /// A whole number.
  func field(_ line: inout ByteBuffer, _ name: StaticString, integer: Int64) {
    begin(&line, name)
    line.append(decimal: integer)
  }

  /// A duration, shown in milliseconds.
  func field(_ line: inout ByteBuffer, _ name: StaticString, nanoseconds: UInt64) {
    begin(&line, name)
    line.append(milliseconds: nanoseconds)
  }

  func field(_ line: inout ByteBuffer, _ name: StaticString, boolean: Bool) {
    begin(&line, name)
    line.append(boolean ? "true" : "false")
  }

  /// Closes the record.
  @inline(__always)
  func end(_ line: inout ByteBuffer) {
    if format == .json { line.append(UInt8(ascii: "}")) }
    line.append(0x0A)
  }

  @inline(__always)
  private func begin(_ line: inout ByteBuffer, _ name: StaticString) {
    switch format {
    case .json:
      line.append(",\"")
      line.append(name)
      line.append("\":")
    case .text:
      line.append(UInt8(ascii: " "))
      line.append(name)
      line.append(UInt8(ascii: "="))
    }
  }

  /// True if a value must be quoted in a line for people.
  private func needsQuotes(_ text: Span<UInt8>) -> Bool {
    if text.isEmpty { return true }
    for index in text.indices {
      let byte = text[index]
      if byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        || byte == UInt8(ascii: "=")
      {
        return true
      }
    }
    return false
  }
}
