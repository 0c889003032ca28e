// Cuts one `WWW-Authenticate` value into schemes, parameters and garbage. It looks ahead by one token and never back,
// so its time is the value's length.

import Bytes

/// The elements of one value, one after the other.
struct ChallengeScanner: ~Escapable {
  enum Element {
    case scheme(String)
    case token68(String)
    case parameter(AuthenticationChallenge.Parameter)
    /// Ungrammatical text, up to the next comma outside quotes.
    case garbage
  }

  private let bytes: Span<UInt8>
  private var index = 0
  /// The place of the last element.
  private(set) var last = 0..<0
  /// True if a scheme was just read, so that a token68 may follow.
  private var isBehindScheme = false

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// The next element; nil at the end.
  @_lifetime(self: copy self)
  mutating func next() -> Element? {
    let mayBeToken68 = isBehindScheme && skipWhitespace()
    isBehindScheme = false
    var start = index
    defer { last = start..<index }
    if mayBeToken68, let text = token68() { return .token68(text) }
    while index < bytes.count, bytes[index] == ASCII.comma || isWhitespace(index) { index += 1 }
    start = index
    guard index < bytes.count else { return nil }
    while index < bytes.count, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
    guard index > start else { return garbage() }
    let name = lowered(start..<index)
    let afterName = index
    skipWhitespace()
    if index < bytes.count, bytes[index] == ASCII.equals {
      index += 1
      skipWhitespace()
      guard let value = value() else { return garbage() }
      return .parameter(AuthenticationChallenge.Parameter(name: name, value: value))
    }
    index = afterName
    // A scheme ends with a space, a comma or the value.
    guard index == bytes.count || bytes[index] == ASCII.comma || isWhitespace(index) else { return garbage() }
    isBehindScheme = true
    return .scheme(name)
  }

  /// A token68 followed by a comma or the end; nil, and nothing consumed, if it is something else.
  @_lifetime(self: copy self)
  private mutating func token68() -> String? {
    let start = index
    var end = index
    while end < bytes.count, isToken68(bytes[end]) { end += 1 }
    guard end > start else { return nil }
    while end < bytes.count, bytes[end] == ASCII.equals { end += 1 }
    var rest = end
    while rest < bytes.count, isWhitespace(rest) { rest += 1 }
    guard rest == bytes.count || bytes[rest] == ASCII.comma else { return nil }
    index = rest
    return text(start..<end)
  }

  /// A token or a quoted string with something behind it; nil if there is neither.
  @_lifetime(self: copy self)
  private mutating func value() -> String? {
    guard index < bytes.count else { return nil }
    if bytes[index] == ASCII.quote { return quoted() }
    let start = index
    while index < bytes.count, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
    guard index > start, isAtEndOfValue else { return nil }
    return text(start..<index)
  }

  /// `quoted-string` (RFC 9110 §5.6.4).
  @_lifetime(self: copy self)
  private mutating func quoted() -> String? {
    var content: [UInt8] = []
    index += 1
    while index < bytes.count, bytes[index] != ASCII.quote {
      if bytes[index] == ASCII.backslash {
        index += 1
        guard index < bytes.count else { return nil }
      }
      content.append(bytes[index])
      index += 1
    }
    guard index < bytes.count else { return nil }
    index += 1
    return isAtEndOfValue ? String(decoding: content, as: UTF8.self) : nil
  }

  /// Skips to the next comma that is not quoted.
  @_lifetime(self: copy self)
  private mutating func garbage() -> Element {
    var isQuoted = false
    while index < bytes.count, isQuoted || bytes[index] != ASCII.comma {
      if bytes[index] == ASCII.quote { isQuoted.toggle() }
      if isQuoted, bytes[index] == ASCII.backslash { index += 1 }
      index += 1
    }
    index = min(index, bytes.count)
    return .garbage
  }

  private var isAtEndOfValue: Bool {
    index == bytes.count || bytes[index] == ASCII.comma || isWhitespace(index)
  }

  private func isWhitespace(_ index: Int) -> Bool { ByteClass.of(bytes[index], ByteClass.whitespace) }

  private func isToken68(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), ASCII.slash: true
    default: ByteClass.of(byte, ByteClass.unreserved)
    }
  }

  /// Skips white space; returns true if there was any.
  @discardableResult @_lifetime(self: copy self)
  private mutating func skipWhitespace() -> Bool {
    let start = index
    while index < bytes.count, isWhitespace(index) { index += 1 }
    return index > start
  }

  private func text(_ range: Range<Int>) -> String {
    unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }

  private func lowered(_ range: Range<Int>) -> String {
    var name: [UInt8] = []
    for index in range { name.append(ASCII.lowered(bytes[index])) }
    return String(decoding: name, as: UTF8.self)
  }
}
