internal import Bytes

/// How far a head that arrives in pieces has been read: the same for requests and responses.
struct HeadScan {
  /// The part of the head that comes next.
  enum Phase { case startLine, fields, finished }

  var phase = Phase.startLine
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
