// How much of a head is read before the peer is told that it is too much.

internal import Bytes

/// Limits on the size of a head. A head at the limit is still accepted.
public struct HeadLimits: Sendable, Hashable {
  /// Bytes of the whole head with its final empty line, and of a trailer section likewise.
  public var headBytes: Int
  /// Field lines.
  public var fieldCount: Int
  /// Bytes of the request target.
  public var targetBytes: Int

  /// 32 KiB, 100 field lines and 8 KiB, unless said otherwise.
  public init(headBytes: Int = 32 * 1024, fieldCount: Int = 100, targetBytes: Int = 8 * 1024) {
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.targetBytes = targetBytes
  }
}

/// How far a head that arrives in pieces has been read: the same for requests and responses.
struct HeadScan {
  /// The part of the head that comes next.
  enum Phase { case beginning, startLine, fields, finished }

  var phase = Phase.beginning
  /// Where the first line begins that is not complete.
  var lineStart = 0
  /// How much of that line is known to hold no line end.
  var scanned = 0

  /// Whether the line of which a part was there before is still without its end: then there is nothing new to learn.
  mutating func isMidLine(_ bytes: Span<UInt8>, end: Int, limit: Int) -> Bool {
    guard scanned > lineStart else { return false }
    while scanned < end, bytes[scanned] != ASCII.lineFeed { scanned += 1 }
    return scanned == end && bytes.count < limit
  }
}
