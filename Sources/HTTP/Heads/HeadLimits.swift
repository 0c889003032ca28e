// Owns how much of a head is read before the peer is told that it is too much.

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
