// Owns telling one text from another at the speed of memory. Not a digest for anybody else: who writes the cache needs no collision
// to write what they like.

/// 64 bits of a text: a wide multiplication for every 16 bytes, as wyhash does it.
struct ContentDigest: Hashable, Sendable {
  private let value: UInt64

  init(of bytes: [UInt8]) {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset + 16 <= bytes.count {
        let low = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let high = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        state = Self.fold(low ^ 0xA076_1D64_78BD_642F ^ state, high ^ 0xE703_7ED1_A0B4_28DB)
        offset += 16
      }
      var rest: (UInt64, UInt64) = (0, 0)
      for index in offset..<bytes.count {
        let byte = UInt64(bytes[index]) << UInt64(index % 8 * 8)
        if index - offset < 8 { rest.0 |= byte } else { rest.1 |= byte }
      }
      state = Self.fold(rest.0 ^ 0x8EBC_6AF0_9C88_C6E3 ^ state, rest.1 ^ UInt64(bytes.count))
    }
    value = state
  }

  private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
