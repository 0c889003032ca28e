// Reads the trailer section behind a last chunk, with the empty line that ends the message. `TrailerRule` decides which
// fields are sent on.

/// A parser for one trailer section after the other. Allocates when it is made, not when it reads.
public struct TrailerParser: ~Copyable {
  /// The trailer fields, as places in the bytes given.
  public internal(set) var fields: FieldTable
  private var scan = HeadScan()

  /// A parser whose table has room for `fieldCapacity` lines.
  public init(fieldCapacity: Int = 16) { fields = FieldTable(capacity: fieldCapacity) }

  /// Resets the parser. Keeps the storage.
  public mutating func reset() {
    fields.removeAll()
    scan = HeadScan()
  }

  /// Continues. `bytes` begin with the same byte on every call for one section; after `complete` or `invalid` the next
  /// call begins a new one.
  public mutating func parse(_ bytes: Span<UInt8>, limits: HeadLimits) -> ReadingProgress<TrailerError> {
    if scan.phase == .finished { reset() }
    let end = min(bytes.count, limits.headBytes)
    if scan.isMidLine(bytes, end: end, limit: limits.headBytes) { return .needsMore }
    let progress = FieldSection.read(
      bytes, from: &scan.lineStart, end: end, into: &fields, limit: limits.fieldCount, space: .refused)
    if case .needsMore = progress, bytes.count < limits.headBytes {
      scan.scanned = end
      return .needsMore
    }
    scan.phase = .finished
    return switch progress {
    case .needsMore: .invalid(.tooLarge)
    case .invalid(let error): .invalid(.field(error))
    case .complete(let byteCount): .complete(byteCount: byteCount)
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
