// Reads `Connection`: its options, and the fields of this message that it makes hop-by-hop.
//
//     Connection = #connection-option ; connection-option = token     (RFC 9110 §7.6.1)

import Bytes

/// The options in the `Connection` fields of one head.
public struct ConnectionOptions: Sendable {
  /// `close`: the connection ends after this message.
  public internal(set) var close = false
  /// `keep-alive`: an HTTP/1.0 peer can keep the connection.
  public internal(set) var keepAlive = false
  /// `upgrade`: the `Upgrade` field is about this connection.
  public internal(set) var upgrade = false

  // Options that are neither of these nor the name of a field with a rule of its own: names of fields to be dropped.
  static let maximumNominations = 16
  @usableFromInline var nominated: InlineArray<16, ByteRange> = InlineArray(repeating: ByteRange())
  @usableFromInline var nominatedCount = 0

  init() {}

  /// Resets the options. The places of nominations stay: only their count matters.
  mutating func removeAll() {
    close = false
    keepAlive = false
    upgrade = false
    nominatedCount = 0
  }

  /// Reads all `Connection` lines. False if one is not a list of tokens, or if they nominate more fields than any
  /// sender has reason to.
  mutating func read(_ fields: borrowing FieldTable, _ bytes: Span<UInt8>) -> Bool {
    if !fields.contains(.connection) { return true }
    for index in 0..<fields.count where fields[index].known == .connection {
      if !read(bytes, from: fields[index].value) { return false }
    }
    return true
  }

  private mutating func read(_ bytes: Span<UInt8>, from range: ByteRange) -> Bool {
    var index = Int(range.start)
    let end = Int(range.end)
    while index < end {
      if bytes[index] == ASCII.comma || ByteClass.of(bytes[index], ByteClass.whitespace) {
        index += 1
        continue
      }
      let start = index
      while index < end, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
      if index == start { return false }
      let option = ByteRange(from: start, to: index)
      while index < end, ByteClass.of(bytes[index], ByteClass.whitespace) { index += 1 }
      if index < end, bytes[index] != ASCII.comma { return false }
      if !add(option, bytes.extracting(option)) { return false }
    }
    return true
  }

  private mutating func add(_ range: ByteRange, _ option: Span<UInt8>) -> Bool {
    if option.equalsIgnoringCase("close") {
      close = true
    } else if option.equalsIgnoringCase("keep-alive") {
      keepAlive = true
    } else if option.equalsIgnoringCase("upgrade") {
      upgrade = true
    } else if FieldName(option) == .other {
      if nominatedCount == Self.maximumNominations { return false }
      nominated[nominatedCount] = range
      nominatedCount += 1
    }
    return true
  }

  /// The nominated names by themselves, for trailer fields, which arrive when the head's bytes are gone; nil if there
  /// are none.
  public func nominations(in bytes: Span<UInt8>) -> Nominations? {
    nominatedCount == 0
      ? nil
      : Nominations(
        names: (0..<nominatedCount).map { index in
          let name = bytes.extracting(nominated[index])
          return name.indices.map { name[$0] }
        })
  }

  /// True if a field of an unknown name was nominated to be dropped.
  @usableFromInline func nominates(_ name: ByteRange, in bytes: Span<UInt8>) -> Bool {
    for index in 0..<nominatedCount
    where bytes.extracting(nominated[index]).equalsIgnoringCase(bytes.extracting(name)) { return true }
    return false
  }
}

/// Names of fields that the sender of a head nominated to end at this hop, anywhere in the message (RFC 9110 §7.6.1).
public struct Nominations: Sendable {
  fileprivate let names: [[UInt8]]

  /// True if a field of an unknown name is among them.
  func contains(_ name: Span<UInt8>) -> Bool {
    for candidate in names where name.equalsIgnoringCase(candidate.span) { return true }
    return false
  }
}
