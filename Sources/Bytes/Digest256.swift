/// 32 bytes of a digest, such as SHA-256. As a key it is compared and passed on without an allocation.
package struct Digest256: Sendable, Hashable {
  private let first: UInt64
  private let second: UInt64
  private let third: UInt64
  private let fourth: UInt64

  package static let byteCount = 32

  /// The digest of these bytes; there are 32.
  package init(_ bytes: Span<UInt8>) {
    precondition(bytes.count == Self.byteCount, "a digest has 32 bytes")
    func word(_ start: Int) -> UInt64 {
      var word: UInt64 = 0
      for index in start..<(start + 8) { word = word << 8 | UInt64(bytes[index]) }
      return word
    }
    first = word(0)
    second = word(8)
    third = word(16)
    fourth = word(24)
  }

  /// The 32 bytes.
  package var bytes: [UInt8] {
    [first, second, third, fourth].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }
}
