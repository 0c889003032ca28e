internal import Bytes
internal import HTTP

/// The process's own pseudonym in `Via` (RFC 9110 §7.6.3): another one in every process, so that a request which names
/// it has been here, and not only at a proxy of the same kind. A class, so that a request takes one reference to it
/// instead of one to each of its parts.
package final class Pseudonym: Sendable {
  let bytes: [UInt8]
  /// `Via` of a message that has passed this hop alone.
  private let via10: [UInt8]
  private let via11: [UInt8]
  private let via2: [UInt8]
  /// The line that names this hop if `Via` is removed (RFC 8586), for a request that names no other.
  let cdnLoop: [UInt8]

  /// A pseudonym with 64 random bits at its end.
  package convenience init(random: UInt64 = .random(in: .min ... .max)) {
    let digits = String(random, radix: 16)
    self.init(named: "bearer-proxy-\(String(repeating: "0", count: 16 - digits.count))\(digits)")
  }

  init(named name: String) {
    bytes = Array(name.utf8)
    via10 = Array("Via: 1.0 \(name)\r\n".utf8)
    via11 = Array("Via: 1.1 \(name)\r\n".utf8)
    via2 = Array("Via: 2 \(name)\r\n".utf8)
    cdnLoop = Array("CDN-Loop: \(name)\r\n".utf8)
  }

  /// Appends `Via` for a message of `version` that has passed this hop alone.
  @inline(__always)
  func writeVia(_ version: HTTPVersion, into output: inout ByteBuffer) {
    switch version {
    case .http10: output.append(via10)
    case .http11: output.append(via11)
    case .http2: output.append(via2)
    }
  }

  /// True if a request has passed this process: one of its `Via` or `CDN-Loop` names it.
  func isNamed(in head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    head.fields.contains(.via) && isNamed(.via, in: head, bytes)
      || head.fields.contains(.cdnLoop) && isNamed(.cdnLoop, in: head, bytes)
  }

  @inline(never)
  private func isNamed(_ name: FieldName, in head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    for index in 0..<head.fields.count where head.fields[index].known == name {
      if end(in: bytes.extracting(head.fields[index].value)) != nil { return true }
    }
    return false
  }

  /// The end of this process's name in a value of `Via`, outside of comments; nil if it is not among the hops.
  func endOfMember(in value: Span<UInt8>) -> Int? {
    guard let end = end(in: value) else { return nil }
    var depth = 0
    for index in 0..<end {
      if value[index] == UInt8(ascii: "(") { depth += 1 }
      if value[index] == UInt8(ascii: ")") { depth -= 1 }
    }
    return depth == 0 ? end : nil
  }

  // The end of its first mention in a value; nil if there is none, or only as a part of a longer name.
  private func end(in value: Span<UInt8>) -> Int? {
    let own = bytes
    guard value.count >= own.count else { return nil }
    for start in 0...(value.count - own.count)
    where equal(value.extracting(start..<(start + own.count)), own.span) {
      let end = start + own.count
      if (start == 0 || !Self.isNamePart(value[start - 1])) && (end == value.count || !Self.isNamePart(value[end])) {
        return end
      }
    }
    return nil
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || byte == ASCII.dash || byte == ASCII.dot || byte == ASCII.underscore
  }
}

/// The hop's own fields in requests.
struct HopIdentity: Sendable {
  var pseudonym: Pseudonym
  var propagatesTrace = true
}
