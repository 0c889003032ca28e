extension String {
  /// A number for the text, the same in every process.
  package var fnv1a: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

/// 64 bits of one or two names, or of a text: a wide multiplication for every 16 bytes, as wyhash does it. Fingerprints
/// may collide, so a lookup compares the names themselves.
package struct Fingerprint: Hashable, Sendable {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// The fingerprint of an owner: an application and a person, each of which may be missing.
  @inline(__always)
  init(clientID: Span<UInt8>, homeAccountID: Span<UInt8>) {
    add(clientID, lowercased: false)
    add(homeAccountID, lowercased: false)
  }

  /// The fingerprint of a name, ASCII letters of either case alike.
  @inline(__always)
  init(name: Span<UInt8>) { add(name, lowercased: true) }

  /// The fingerprint of a whole text, at the speed of memory.
  package init(of text: [UInt8]) { add(text.span, lowercased: false) }

  @inline(__always)
  private mutating func add(_ bytes: Span<UInt8>, lowercased: Bool) {
    var index = 0
    while index + 16 <= bytes.count {
      fold(Self.word(bytes, index, 8, lowercased), Self.word(bytes, index + 8, 8, lowercased))
      index += 16
    }
    let first = min(bytes.count - index, 8)
    let second = bytes.count - index - first
    fold(Self.word(bytes, index, first, lowercased), Self.word(bytes, index + first, second, lowercased))
    fold(UInt64(bytes.count), 0)
  }

  /// Up to eight bytes.
  @inline(__always)
  private static func word(_ bytes: Span<UInt8>, _ start: Int, _ count: Int, _ lowercased: Bool) -> UInt64 {
    var word: UInt64 = 0
    if count == 8, !lowercased { return PlainObject.word(bytes, start) }
    for index in 0..<count {
      var byte = bytes[start + index]
      if lowercased, byte >= 0x41, byte <= 0x5A { byte |= 0x20 }
      word |= UInt64(byte) << UInt64(index * 8)
    }
    return word
  }

  @inline(__always)
  private mutating func fold(_ left: UInt64, _ right: UInt64) {
    let product = (left ^ 0xA076_1D64_78BD_642F ^ state).multipliedFullWidth(by: right ^ 0xE703_7ED1_A0B4_28DB)
    state = product.high ^ product.low
  }
}
