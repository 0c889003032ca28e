/// JSON text under construction. Secrets enter as bytes and never become a text.
package struct JSONWriter {
  /// The layout of the text: compact, or msal-python's for a cache.
  package enum Layout {
    /// No white space; characters beyond ASCII as they are.
    case compact
    /// Lines indented by four spaces; characters beyond ASCII escaped, for readers that assume another encoding.
    case indentedASCII
  }

  private let layout: Layout
  private var level = 0
  private var isFirst = true
  package private(set) var bytes: [UInt8] = []

  package init(_ layout: Layout) { self.layout = layout }

  /// Appends a value, members in order of their names.
  package mutating func append(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += "\(value)".utf8
    case .number(let value): bytes += "\(value)".utf8
    case .string(let text): append(text)
    case .array(let elements):
      open(UInt8(ascii: "["))
      for element in elements {
        separate()
        append(element)
      }
      close(UInt8(ascii: "]"))
    case .object(let members):
      open(UInt8(ascii: "{"))
      for (name, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        member(name)
        append(value)
      }
      close(UInt8(ascii: "}"))
    }
  }

  package mutating func openObject() { open(UInt8(ascii: "{")) }
  /// Closes the innermost object.
  package mutating func closeObject() { close(UInt8(ascii: "}")) }

  /// Appends a member's name; its value comes next.
  package mutating func member(_ name: String) {
    separate()
    append(name)
    bytes.append(UInt8(ascii: ":"))
    if layout == .indentedASCII { bytes.append(UInt8(ascii: " ")) }
  }

  /// Appends a value as written in another text.
  package mutating func append(verbatim value: ArraySlice<UInt8>) { bytes += value }

  /// Makes room for a text of about so many bytes.
  package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  package mutating func append(_ secret: Secret) {
    // Nearly all tokens are ASCII; others are written like every other text.
    let span = secret.bytes
    guard Self.isPlain(span) else {
      append(secret.revealed())
      return
    }
    bytes.append(UInt8(ascii: "\""))
    unsafe span.withUnsafeBufferPointer { unsafe bytes += $0 }
    bytes.append(UInt8(ascii: "\""))
  }

  /// True if a text needs no escapes in JSON.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    var isPlain = true
    for index in text.indices { isPlain = isPlain && JSONEscape.isPlain(text[index]) }
    return isPlain
  }

  private mutating func append(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if Self.isPlain(text.utf8Span.span) {
      bytes += text.utf8
      bytes.append(UInt8(ascii: "\""))
      return
    }
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        append(ascii: UInt8(truncatingIfNeeded: scalar.value))
      } else if layout == .compact {
        bytes += UTF8.encode(scalar).map(Array.init) ?? []
      } else {
        for unit in UTF16.encode(scalar).map(Array.init) ?? [] { append(escaped: unit) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(ascii byte: UInt8) {
    switch JSONEscape(byte) {
    case .none: bytes.append(byte)
    case .letter(let letter): bytes += [UInt8(ascii: "\\"), letter]
    case .codePoint: append(escaped: UInt16(byte))
    }
  }

  private mutating func append(escaped unit: UInt16) {
    bytes += "\\u".utf8
    for shift in [12, 8, 4, 0] { bytes.append(ASCII.hexadecimalDigit(UInt8(unit >> UInt16(shift) & 0x0F))) }
  }

  private mutating func open(_ bracket: UInt8) {
    bytes.append(bracket)
    level += 1
    isFirst = true
  }

  private mutating func close(_ bracket: UInt8) {
    level -= 1
    if !isFirst { breakLine() }
    isFirst = false
    bytes.append(bracket)
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
  }

  private mutating func breakLine() {
    guard layout == .indentedASCII else { return }
    bytes.append(0x0A)
    bytes += repeatElement(UInt8(ascii: " "), count: 4 * level)
  }
}

/// The form of an ASCII character in a JSON string (RFC 8259 §7).
@usableFromInline
package enum JSONEscape {
  /// As it is.
  case none
  /// A backslash and this letter.
  case letter(UInt8)
  /// `\u` and four digits.
  case codePoint

  /// DEL is escaped, too: terminals obey it.
  package init(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): self = .letter(byte)
    case 0x0A: self = .letter(UInt8(ascii: "n"))
    case 0x0D: self = .letter(UInt8(ascii: "r"))
    case 0x09: self = .letter(UInt8(ascii: "t"))
    case 0..<0x20, 0x7F: self = .codePoint
    default: self = .none
    }
  }

  /// True if a byte is ASCII and needs no escape.
  @inlinable @inline(__always)
  package static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}
