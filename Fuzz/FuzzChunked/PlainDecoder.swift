// A second reading of the chunked coding, over bytes that are all there, with one function per rule of the grammar (RFC
// 9112 §7.1). It is slow and short, and does not know the bound on extensions, which inputs of 4 KiB do not reach.

/// A recursive-descent decoder.
struct PlainDecoder {
  enum End: Equatable {
    case incomplete
    /// The trailer section begins here.
    case complete(Int)
    case invalid
  }

  private enum Stop: Error { case incomplete, invalid }

  var content: [UInt8] = []
  var end = End.incomplete
  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    do throws(Stop) {
      while try chunk() {}
      end = .complete(index)
    } catch {
      end = error == .incomplete ? .incomplete : .invalid
    }
  }

  private func peek() throws(Stop) -> UInt8 {
    if index == bytes.count { throw .incomplete }
    return bytes[index]
  }

  private mutating func take(_ byte: Character) throws(Stop) {
    if try peek() != byte.asciiValue { throw .invalid }
    index += 1
  }

  private mutating func chunk() throws(Stop) -> Bool {
    let size = try chunkSize()
    try chunkExtensions()
    try take("\r")
    try take("\n")
    if size == 0 { return false }
    let available = bytes.count - index
    content += bytes[index..<index + min(available, size)]
    if available < size { throw .incomplete }
    index += size
    try take("\r")
    try take("\n")
    return true
  }

  private mutating func chunkSize() throws(Stop) -> Int {
    var size: Int?
    while let digit = Character(Unicode.Scalar(try peek())).hexDigitValue, bytes[index] < 0x80 {
      let (product, overflow) = (size ?? 0).multipliedReportingOverflow(by: 16)
      if overflow { throw .invalid }
      size = product + digit
      index += 1
    }
    guard let size else { throw .invalid }
    return size
  }

  private mutating func chunkExtensions() throws(Stop) {
    while try peek() != 0x0D {
      try whiteSpace()
      try take(";")
      try whiteSpace()
      try token()
      let afterName = index
      try whiteSpace()
      if try peek() != 0x3D {
        // The white space belongs to the next extension, if there is one.
        index = afterName
        continue
      }
      index += 1
      try whiteSpace()
      if try peek() == 0x22 { try quotedString() } else { try token() }
    }
  }

  private mutating func whiteSpace() throws(Stop) {
    while [0x20, 0x09].contains(try peek()) { index += 1 }
  }

  private mutating func token() throws(Stop) {
    let start = index
    while Self.isToken(try peek()) { index += 1 }
    if index == start { throw .invalid }
  }

  private mutating func quotedString() throws(Stop) {
    try take("\"")
    while try peek() != 0x22 {
      if try peek() == 0x5C { index += 1 }
      let byte = try peek()
      if byte < 0x20 && byte != 0x09 || byte == 0x7F { throw .invalid }
      index += 1
    }
    index += 1
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
  }
}
