// Reads the trailer section behind a last chunk, with the empty line that ends the message. `TrailerRule` decides which
// fields are sent on.

import Bytes

/// The progress of reading a trailer section.
public enum TrailerProgress: Sendable, Hashable {
  /// It is incomplete. Call again with more bytes behind the same ones.
  case needsMore
  /// `fields` is filled in; the section takes this many bytes, and the message ends there.
  case complete(byteCount: Int)
  /// The message is broken.
  case invalid(TrailerError)
}

/// A parser for one trailer section after the other. Allocates when it is made, not when it reads.
public struct TrailerParser: ~Copyable {
  /// The trailer fields, as places in the bytes given.
  public internal(set) var fields: FieldTable
  private var lineStart = 0
  private var scanned = 0
  private var isFinished = false

  /// A parser whose table has room for `fieldCapacity` lines.
  public init(fieldCapacity: Int = 16) { fields = FieldTable(capacity: fieldCapacity) }

  /// Resets the parser. Keeps the storage.
  public mutating func reset() {
    fields.removeAll()
    lineStart = 0
    scanned = 0
    isFinished = false
  }

  /// Continues. `bytes` begin with the same byte on every call for one section; after `complete` or `invalid` the next
  /// call begins a new one.
  public mutating func parse(_ bytes: Span<UInt8>, limits: HeadLimits) -> TrailerProgress {
    if isFinished { reset() }
    let end = min(bytes.count, limits.headBytes)
    if scanned > lineStart {
      while scanned < end, bytes[scanned] != ASCII.lineFeed { scanned += 1 }
      if scanned == end, bytes.count < limits.headBytes { return .needsMore }
    }
    switch FieldSection.read(
      bytes, from: &lineStart, end: end, into: &fields, limit: limits.fieldCount, space: .refused)
    {
    case .needsMore:
      scanned = end
      if bytes.count < limits.headBytes { return .needsMore }
      isFinished = true
      return .invalid(.tooLarge)
    case .invalid(let error):
      isFinished = true
      return .invalid(.field(error))
    case .complete(let byteCount):
      isFinished = true
      return .complete(byteCount: byteCount)
    }
  }
}

/// The fault of bytes that are not an acceptable trailer section (RFC 9112 §7.1.2).
public enum TrailerError: Error, Sendable, Hashable {
  /// A field line is wrong.
  case field(FieldSyntaxError)
  /// The section is longer than `HeadLimits.headBytes`.
  case tooLarge
}
