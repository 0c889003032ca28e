// Writes header blocks (RFC 7541): fields as literals, without Huffman codes, and without the table that all requests
// of a connection would share. A token costs a copy then, and by the size of frames no caller learns another's.

internal import Bytes
internal import HTTP

/// The fields of one HEADERS frame.
enum HeaderBlock {
  // MARK: Pseudo-header fields

  static func status(_ status: Int, into block: inout ByteBuffer) {
    switch status {
    case 200: block.append(0x88)
    case 204: block.append(0x89)
    case 206: block.append(0x8A)
    case 304: block.append(0x8B)
    case 400: block.append(0x8C)
    case 404: block.append(0x8D)
    case 500: block.append(0x8E)
    default:
      block.append(0x08, 3)
      block.append(decimal: UInt64(status))
    }
  }

  static func scheme(isSecure: Bool, into block: inout ByteBuffer) { block.append(isSecure ? 0x87 : 0x86) }

  static func authority(_ value: Span<UInt8>, into block: inout ByteBuffer) {
    block.append(0x01)
    text(value, into: &block)
  }

  static func path(_ value: Span<UInt8>, into block: inout ByteBuffer) {
    if value.count == 1, value[0] == ASCII.slash { return block.append(0x84) }
    block.append(0x04)
    text(value, into: &block)
  }

  // MARK: Fields

  /// A field of our own, whose name is spelt in lower case and shorter than 127 bytes, like its value.
  static func field(_ name: StaticString, _ value: StaticString, into block: inout ByteBuffer) {
    block.append(0x00, UInt8(truncatingIfNeeded: name.utf8CodeUnitCount))
    block.append(name)
    block.append(UInt8(truncatingIfNeeded: value.utf8CodeUnitCount))
    block.append(value)
  }

  /// A line of a message: without indexing, or never indexed, which binds all who send it on (RFC 7541 §6.2).
  static func field(_ line: FieldLine, of bytes: Span<UInt8>, into block: inout ByteBuffer) {
    let (index, name) = (nameIndex(line.known), bytes.extracting(line.name))
    integer(index, prefix: 4, first: IndexedFields.contain(line.known, name) ? 0x00 : 0x10, into: &block)
    if index == 0 { write(name, line.known, into: &block) }
    text(bytes.extracting(line.value), into: &block)
  }

  private static func write(_ name: Span<UInt8>, _ known: FieldName, into block: inout ByteBuffer) {
    integer(name.count, prefix: 7, first: 0, into: &block)
    switch known {
    case .other, .lookalike: for index in 0..<name.count { block.append(ASCII.lowered(name[index])) }
    default: block.append(known.text)
    }
  }

  private static func text(_ value: Span<UInt8>, into block: inout ByteBuffer) {
    integer(value.count, prefix: 7, first: 0, into: &block)
    block.append(value)
  }

  /// RFC 7541 §5.1.
  private static func integer(_ value: Int, prefix bits: UInt8, first: UInt8, into block: inout ByteBuffer) {
    let highest = (1 << Int(bits)) - 1
    if value < highest { return block.append(first | UInt8(truncatingIfNeeded: value)) }
    block.append(first | UInt8(truncatingIfNeeded: highest))
    var rest = value - highest
    while rest >= 128 {
      block.append(UInt8(truncatingIfNeeded: rest & 127 | 128))
      rest >>= 7
    }
    block.append(UInt8(truncatingIfNeeded: rest))
  }

  /// The index of a name in the static table (RFC 7541 Appendix A); 0 if it is not there.
  private static func nameIndex(_ name: FieldName) -> Int {
    switch name {
    case .acceptEncoding: 16
    case .acceptLanguage: 17
    case .accept: 19
    case .age: 21
    case .allow: 22
    case .authorization: 23
    case .cacheControl: 24
    case .contentEncoding: 26
    case .contentLength: 28
    case .contentLocation: 29
    case .contentRange: 30
    case .contentType: 31
    case .cookie: 32
    case .date: 33
    case .eTag: 34
    case .expect: 35
    case .expires: 36
    case .ifMatch: 39
    case .ifModifiedSince: 40
    case .ifNoneMatch: 41
    case .ifRange: 42
    case .ifUnmodifiedSince: 43
    case .lastModified: 44
    case .location: 46
    case .maxForwards: 47
    case .range: 50
    case .referer: 51
    case .retryAfter: 53
    case .server: 54
    case .setCookie: 55
    case .strictTransportSecurity: 56
    case .userAgent: 58
    case .vary: 59
    case .via: 60
    case .wwwAuthenticate: 61
    default: 0
    }
  }
}

// MARK: Frames

/// The HEADERS frame at the end of a buffer, to which fields are added. It may need more frames then.
struct HeaderFrame {
  /// The offset of the frame within the buffer.
  let start: Int

  /// The length of a frame that every peer accepts (RFC 9113 §4.2), and of a frame's head.
  private static let longest = 16 * 1024
  private static let headCount = 9
  private static let (continuation, endsHeaders): (UInt8, UInt8) = (9, 4)

  /// Corrects the frame's length after fields were appended, and moves what it has no room for into others.
  func finish(_ buffer: inout ByteBuffer) {
    let length = buffer.count - start - Self.headCount
    if length <= Self.longest { return Self.write(length, at: start, &buffer) }
    split(&buffer)
  }

  @inline(never)
  private func split(_ buffer: inout ByteBuffer) {
    let (flags, id) = buffer.withBytes { bytes in
      (bytes[start + 4], (start + 5..<start + Self.headCount).map { bytes[$0] })
    }
    let first = start + Self.headCount + Self.longest
    var rest = buffer.withBytes { bytes in (first..<bytes.count).map { bytes[$0] } }[...]
    buffer.truncate(to: first)
    Self.write(Self.longest, at: start, &buffer)
    buffer.replace(at: start + 4, with: flags & ~Self.endsHeaders)
    while !rest.isEmpty {
      let (piece, at) = (rest.prefix(Self.longest), buffer.count)
      rest = rest.dropFirst(piece.count)
      buffer.append([0, 0, 0, Self.continuation, rest.isEmpty ? Self.endsHeaders : 0] + id)
      Self.write(piece.count, at: at, &buffer)
      buffer.append(Array(piece))
    }
  }

  private static func write(_ length: Int, at start: Int, _ buffer: inout ByteBuffer) {
    buffer.replace(at: start, with: UInt8(truncatingIfNeeded: length >> 16))
    buffer.replace(at: start + 1, with: UInt8(truncatingIfNeeded: length >> 8))
    buffer.replace(at: start + 2, with: UInt8(truncatingIfNeeded: length))
  }
}
