// IP addresses: which texts are one, how one is written, whether it leads to this machine. It resolves no names.
//
//     IPv6address = 6( h16 ":" ) ls32 / … / [ *6( h16 ":" ) h16 ] "::" ; h16 = 1*4HEXDIG             (RFC 3986 §3.2.2)
//     ls32        = ( h16 ":" h16 ) / IPv4address ; dec-octet = 0 to 255 without leading zeros

/// An IPv4 or IPv6 address, as bytes in network order.
package enum IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// Four bytes.
  case v4([UInt8])
  /// Sixteen bytes.
  case v6([UInt8])

  /// Reads four decimal numbers, or an IPv6 address without brackets and zone.
  package init?(_ text: some StringProtocol) {
    let text = Array(text.utf8)
    if let bytes = Self.v4(text.span) {
      self = .v4(bytes.indices.map { bytes[$0] })
    } else if let bytes = Self.v6(text.span) {
      self = .v6(bytes.indices.map { bytes[$0] })
    } else {
      return nil
    }
  }

  /// The 4 or 16 bytes.
  package var bytes: [UInt8] {
    switch self {
    case .v4(let bytes), .v6(let bytes): bytes
    }
  }

  /// The IPv4 address that an IPv4-mapped IPv6 address maps (RFC 4291 §2.5.5.2); any other address itself.
  package var unmapped: IPAddress {
    guard case .v6(let bytes) = self, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
      return self
    }
    return .v4(Array(bytes[12...]))
  }

  /// 127.0.0.0/8 (RFC 1122 §3.2.1.3) or ::1 (RFC 4291 §2.5.3), mapped or not.
  package var isLoopback: Bool {
    switch unmapped {
    case .v4(let bytes): bytes[0] == 127
    case .v6(let bytes): bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }
  }

  /// 0.0.0.0 or ::, mapped or not. It listens everywhere, and connecting to it leads to this machine.
  package var isUnspecified: Bool { unmapped.bytes.allSatisfy { $0 == 0 } }

  /// False for this machine, private networks and what no host has on the Internet (RFC 6890): as itself, mapped, or
  /// behind the translators' prefix.
  package var isPublic: Bool {
    switch unmapped {
    case .v4(let bytes):
      switch (bytes[0], bytes[1]) {
      case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19): false
      case (192, 0): bytes[2] != 0
      default: bytes[0] < 224
      }
    case .v6(let bytes):
      if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
        IPAddress.v4(Array(bytes[12...])).isPublic
      } else {
        // Global unicast (RFC 4291 §2.4), without 6to4 and Teredo, which lead to any IPv4 address.
        bytes[0] & 0xE0 == 0x20 && !bytes.starts(with: [0x20, 0x02]) && !bytes.starts(with: [0x20, 1, 0, 0])
      }
    }
  }

  /// `192.0.2.1`, or the shortest form of an IPv6 address (RFC 5952 §4): lower case, the first longest run of two or
  /// more zero groups as `::`, and the last four bytes as an IPv4 address if it is mapped or compatible.
  package var description: String {
    guard case .v6(let bytes) = self else { return Self.dotted(bytes[...]) }
    let groups = (0..<8).map { (index: Int) -> UInt16 in UInt16(bytes[index * 2]) << 8 | UInt16(bytes[index * 2 + 1]) }
    let gap = Self.longestGap(groups)
    let hasDots = gap.lowerBound == 0 && (gap.count == 6 || gap.count == 5 && groups[5] == 0xFFFF)
    var texts = groups[..<(hasDots ? 6 : 8)].map { String($0, radix: 16) }
    if hasDots { texts.append(Self.dotted(bytes[12...])) }
    if gap.isEmpty { return texts.joined(separator: ":") }
    return texts[..<gap.lowerBound].joined(separator: ":") + "::" + texts[gap.upperBound...].joined(separator: ":")
  }

  private static func dotted(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { String($0) }.joined(separator: ".")
  }

  /// The first longest run of two or more zero groups; empty if there is none.
  private static func longestGap(_ groups: [UInt16]) -> Range<Int> {
    var longest = 0..<0
    var start = 0
    for index in groups.indices {
      if groups[index] != 0 {
        start = index + 1
      } else if index + 1 - start > max(longest.count, 1) {
        longest = start..<(index + 1)
      }
    }
    return longest
  }
}

extension IPAddress {
  /// True if all of `text` is an IPv6 address, without brackets and zone. Allocates nothing.
  package static func isIPv6(_ text: Span<UInt8>) -> Bool { v6(text) != nil }

  private static func v6(_ text: Span<UInt8>) -> InlineArray<16, UInt8>? {
    var bytes = InlineArray<16, UInt8>(repeating: 0)
    var count = 0
    var gap: Int?
    var index = 0
    if text.count >= 2, text[0] == ASCII.colon, text[1] == ASCII.colon { (gap, index) = (0, 2) }
    while index < text.count {
      let start = index
      var group: UInt32 = 0
      while index < text.count, index - start < 5, let digit = ASCII.hexadecimalValue(text[index]) {
        group = group << 4 | UInt32(digit)
        index += 1
      }
      if index < text.count, text[index] == ASCII.dot {
        guard count <= 12, let last = v4(text.extracting(start..<text.count)) else { return nil }
        for offset in 0..<4 { bytes[count + offset] = last[offset] }
        count += 4
        break
      }
      guard (1...4).contains(index - start), count < 16 else { return nil }
      (bytes[count], bytes[count + 1]) = (UInt8(group >> 8), UInt8(group & 0xFF))
      count += 2
      if index == text.count { break }
      guard text[index] == ASCII.colon else { return nil }
      index += 1
      // A colon is followed by a group, or once by a second colon.
      if index == text.count { return nil }
      if text[index] == ASCII.colon {
        if gap != nil { return nil }
        (gap, index) = (count, index + 1)
      }
    }
    guard let gap else { return count == 16 ? bytes : nil }
    if count == 16 { return nil }
    for offset in 0..<(count - gap) { bytes.swapAt(count - 1 - offset, 15 - offset) }
    return bytes
  }

  private static func v4(_ text: Span<UInt8>) -> InlineArray<4, UInt8>? {
    var bytes = InlineArray<4, UInt8>(repeating: 0)
    var index = 0
    for octet in 0..<4 {
      if octet > 0 {
        guard index < text.count, text[index] == ASCII.dot else { return nil }
        index += 1
      }
      let start = index
      var value = 0
      while index < text.count, index - start < 3, text[index] &- ASCII.zero < 10 {
        value = value * 10 + Int(text[index] - ASCII.zero)
        index += 1
      }
      guard index > start, value <= 255, index - start == 1 || text[start] != ASCII.zero else { return nil }
      bytes[octet] = UInt8(value)
    }
    return index == text.count ? bytes : nil
  }
}
