internal import Bytes

/// Limits on the size of a head. A head at the limit is still accepted.
public struct HeadLimits: Sendable, Hashable {
  /// Bytes of the whole head with its final empty line, and of a trailer section likewise.
  public var headBytes: Int
  /// Field lines.
  public var fieldCount: Int
  /// Bytes of the request target.
  public var targetBytes: Int

  /// By default 32 KiB, 100 field lines and 8 KiB.
  public init(headBytes: Int = 32 * 1024, fieldCount: Int = 100, targetBytes: Int = 8 * 1024) {
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.targetBytes = targetBytes
  }
}

/// The place within a head or a trailer section that arrives in pieces.
struct HeadScan {
  /// The next part of the head.
  enum Phase { case beginning, startLine, fields, finished }

  var phase = Phase.beginning
  /// The beginning of the first incomplete line.
  var lineStart = 0
  /// Bytes of that line that are known to hold no line end.
  var scanned = 0

  /// True if a line that was incomplete before still is: then there is nothing new to read.
  mutating func isMidLine(_ bytes: Span<UInt8>, end: Int, limit: Int) -> Bool {
    guard scanned > lineStart else { return false }
    while scanned < end, bytes[scanned] != ASCII.lineFeed { scanned += 1 }
    return scanned == end && bytes.count < limit
  }
}
