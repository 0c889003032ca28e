/// SHA-1 (FIPS 180-4 §6.1). The handshake of WebSockets demands it (RFC 6455 §4.2.2), and no secret depends on it.
package enum SHA1 {
  /// The digest of `bytes`.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var message = bytes + [0x80]
    while message.count % 64 != 56 { message.append(0) }
    message += bigEndian(UInt64(bytes.count) * 8, count: 8)
    var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    for start in stride(from: 0, to: message.count, by: 64) { mix(message[start..<start + 64], into: &hash) }
    return hash.flatMap { bigEndian(UInt64($0), count: 4) }
  }

  private static func mix(_ block: ArraySlice<UInt8>, into hash: inout [UInt32]) {
    var schedule = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<80 {
      let word = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
      schedule.append(rotate(word, 1))
    }
    var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
    for (index, word) in schedule.enumerated() {
      let (choice, constant): (UInt32, UInt32) =
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      (a, b, c, d, e) = (rotate(a, 5) &+ choice &+ e &+ constant &+ word, a, rotate(b, 30), c, d)
    }
    for (index, value) in [a, b, c, d, e].enumerated() { hash[index] &+= value }
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

  /// The last `count` bytes of a number, the most significant first.
  private static func bigEndian(_ number: UInt64, count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }
}
