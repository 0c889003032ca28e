// Reads JSON text (RFC 8259), strictly and with places. FoundationEssentials' decoder names no line, and needs half a
// second for a cache of ten thousand accounts.

/// Reads one JSON text from its first byte to its last.
///
/// Values are returned in order; `members` passes on an object's members one by one, so that a big document is never in
/// memory twice.
public struct JSONReader {
  /// Maximum depth of nested values.
  public static let depthLimit = 128

  /// The rule for members of one object that have the same name (RFC 8259 §4 leaves that open).
  public enum Repetition: Sendable {
    /// The last one counts, as with most readers: for replies of providers and documents that other programs write.
    case lastCounts
    /// The text is refused: for signed texts, which must mean the same to every reader (RFC 7519 §4).
    case refused
  }

  private let bytes: [UInt8]
  private let repetition: Repetition
  private var index = 0
  private var depth = 0

  /// A reader at the beginning of a text.
  public init(_ bytes: [UInt8], repetition: Repetition = .lastCounts) {
    self.bytes = bytes
    self.repetition = repetition
  }

  /// Reads the next value whole.
  public mutating func value() throws(JSONTextError) -> JSONValue {
    switch try next() {
    case UInt8(ascii: "{"):
      var members: [String: JSONValue] = [:]
      try self.members { name, reader throws(JSONTextError) in
        let isRepeated = members.updateValue(try reader.value(), forKey: name) != nil
        if isRepeated, reader.repetition == .refused { throw reader.error(.repeated) }
      }
      return .object(members)
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"):
      try literal("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try literal("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try literal("null")
      return .null
    default: return try number()
    }
  }

  /// True if the next value is an object.
  public mutating func isAtObject() throws(JSONTextError) -> Bool {
    try next() == UInt8(ascii: "{")
  }

  /// Reads an object; `visit` reads the value of each member with the reader it is given.
  public mutating func members(
    _ visit: (_ name: String, _ reader: inout JSONReader) throws(JSONTextError) -> Void
  ) throws(JSONTextError) {
    try enter(UInt8(ascii: "{"))
    defer { depth -= 1 }
    if try next() == UInt8(ascii: "}") {
      index += 1
      return
    }
    while true {
      guard try next() == UInt8(ascii: "\"") else { throw unexpected() }
      let name = try string()
      guard try next() == UInt8(ascii: ":") else { throw unexpected() }
      index += 1
      try visit(name, &self)
      if try !continues(to: UInt8(ascii: "}")) { return }
    }
  }

  /// The place of the next byte.
  package var position: Int { index }

  /// Continues behind a value that was read in another way (`PlainObject`).
  package mutating func skip(to position: Int) { index = position }

  /// Requires that nothing but white space follows.
  public mutating func finish() throws(JSONTextError) {
    skipWhiteSpace()
    guard index == bytes.count else { throw error(.trailing) }
  }

  private mutating func elements() throws(JSONTextError) -> [JSONValue] {
    try enter(UInt8(ascii: "["))
    defer { depth -= 1 }
    var elements: [JSONValue] = []
    if try next() == UInt8(ascii: "]") {
      index += 1
      return elements
    }
    repeat {
      elements.append(try value())
    } while try continues(to: UInt8(ascii: "]"))
    return elements
  }

  private mutating func enter(_ bracket: UInt8) throws(JSONTextError) {
    guard try next() == bracket else { throw unexpected() }
    guard depth < Self.depthLimit else { throw error(.depth) }
    index += 1
    depth += 1
  }

  /// Reads a comma (true) or the closing bracket (false).
  private mutating func continues(to bracket: UInt8) throws(JSONTextError) -> Bool {
    let byte = try next()
    guard byte == UInt8(ascii: ",") || byte == bracket else { throw unexpected() }
    index += 1
    return byte != bracket
  }

  /// The next byte that is not white space, without consuming it.
  private mutating func next() throws(JSONTextError) -> UInt8 {
    skipWhiteSpace()
    guard index < bytes.count else { throw error(.end) }
    return bytes[index]
  }

  private mutating func skipWhiteSpace() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return
      }
    }
  }

  private mutating func literal(_ word: StaticString) throws(JSONTextError) {
    for expected in word.description.utf8 {
      guard index < bytes.count else { throw error(.end) }
      guard bytes[index] == expected else { throw unexpected() }
      index += 1
    }
  }

  private mutating func number() throws(JSONTextError) -> JSONValue {
    let start = index
    if bytes[index] == UInt8(ascii: "-") { index += 1 }
    if index < bytes.count, bytes[index] == UInt8(ascii: "0") {
      index += 1
    } else {
      try digits()
    }
    var isInteger = true
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      try digits()
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isInteger, let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else { throw error(.number) }
    return .number(value)
  }

  private mutating func digits() throws(JSONTextError) {
    let start = index
    while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
    guard index > start else { throw unexpected() }
  }

  /// Reads a string whose opening quote is the next byte.
  private mutating func string() throws(JSONTextError) -> String {
    index += 1
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        let text = try text(start..<index)
        index += 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      guard byte >= 0x20 else { throw unexpected() }
      index += 1
    }
    throw error(.end)
  }

  /// Bytes as a text. Not by `String(validating:as:)`, which takes three times as long here: it is generic, and not
  /// specialised.
  private func text(_ range: Range<Int>) throws(JSONTextError) -> String {
    do throws(UTF8.ValidationError) {
      return String(copying: try UTF8Span(validating: bytes.span.extracting(range)))
    } catch {
      throw self.error(.encoding)
    }
  }

  /// The slow path, from the first backslash on.
  private mutating func escapedString(from start: Int) throws(JSONTextError) -> String {
    var text = Array(bytes[start..<index])
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else { throw error(.encoding) }
        return text
      case UInt8(ascii: "\\"): text.append(contentsOf: Unicode.UTF8.encode(try escape()).map(Array.init) ?? [])
      case 0..<0x20:
        index -= 1
        throw unexpected()
      default: text.append(byte)
      }
    }
    throw error(.end)
  }

  private mutating func escape() throws(JSONTextError) -> Unicode.Scalar {
    guard index < bytes.count else { throw error(.end) }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default:
      index -= 1
      throw unexpected()
    }
    let unit = try hexadecimal()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // Two halves of a pair; a single half becomes the replacement character.
    guard unit < 0xDC00, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return "\u{FFFD}" }
    let mark = index
    index += 2
    let low = try hexadecimal()
    guard (0xDC00...0xDFFF).contains(low) else {
      index = mark
      return "\u{FFFD}"
    }
    return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
  }

  private mutating func hexadecimal() throws(JSONTextError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard index < bytes.count else { throw error(.end) }
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else { throw unexpected() }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }

  private func unexpected() -> JSONTextError {
    index < bytes.count ? error(.byte(bytes[index])) : error(.end)
  }

  private func error(_ problem: JSONTextError.Problem) -> JSONTextError {
    let read = bytes[..<min(index, bytes.count)]
    let lineStart = read.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return JSONTextError(problem: problem, line: 1 + read.count { $0 == 0x0A }, column: 1 + read.count - lineStart)
  }
}

/// The fault and its place in a text that is not JSON.
public struct JSONTextError: Error, Sendable, Hashable {
  /// The fault.
  public enum Problem: Sendable, Hashable {
    /// The text ends too early.
    case end
    /// A byte that is not allowed there.
    case byte(UInt8)
    /// A string that is not UTF-8.
    case encoding
    /// A number beyond every range.
    case number
    /// Values inside values, more than `JSONReader.depthLimit` of them.
    case depth
    /// The text continues behind the value.
    case trailing
    /// Two members of one object have the same name, and the reader refuses that.
    case repeated
  }

  /// The fault.
  public var problem: Problem
  /// The line, from 1.
  public var line: Int
  /// The byte in the line, from 1.
  public var column: Int

  /// A problem at a place.
  public init(problem: Problem, line: Int, column: Int) {
    self.problem = problem
    self.line = line
    self.column = column
  }
}
