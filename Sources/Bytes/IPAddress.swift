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
    let bytes = Array(text.utf8)
    if Self.isIPv4(bytes.span) {
      self = .v4(Self.numbers(bytes[...]))
    } else if Self.isIPv6(bytes.span) {
      self = .v6(Self.groups(bytes))
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

  /// The numbers of a valid IPv4 address.
  private static func numbers(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.split(separator: ASCII.dot).map { $0.reduce(UInt8(0)) { $0 &* 10 &+ ($1 - ASCII.zero) } }
  }

  /// The bytes of a valid IPv6 address.
  private static func groups(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var gap: Int?
    for (index, group) in text.split(separator: ASCII.colon, omittingEmptySubsequences: false).enumerated() {
      if group.isEmpty {
        // Of `::` at an end, two are empty; the gap is at the last of them.
        if index > 0 || text.count == 2 { gap = bytes.count }
      } else if group.contains(ASCII.dot) {
        bytes += numbers(group)
      } else {
        let value = group.reduce(UInt16(0)) { $0 << 4 | UInt16(ASCII.hexadecimalValue($1) ?? 0) }
        bytes += [UInt8(value >> 8), UInt8(value & 0xFF)]
      }
    }
    guard let gap else { return bytes }
    return bytes[..<gap] + [UInt8](repeating: 0, count: 16 - bytes.count) + bytes[gap...]
  }
}

extension IPAddress {
  /// True if all of `text` is an IPv6 address, without brackets and zone. Allocates nothing.
  package static func isIPv6(_ text: Span<UInt8>) -> Bool {
    var groups = 0
    var hasGap = false
    var index = 0
    if text.count >= 2, text[0] == ASCII.colon, text[1] == ASCII.colon {
      hasGap = true
      index = 2
    }
    while index < text.count {
      let start = index
      while index < text.count, index - start < 5, ASCII.hexadecimalValue(text[index]) != nil { index += 1 }
      if index < text.count, text[index] == ASCII.dot {
        groups += 2
        return isIPv4(text.extracting(start..<text.count)) && (hasGap ? groups < 8 : groups == 8)
      }
      guard (1...4).contains(index - start) else { return false }
      groups += 1
      if index == text.count { break }
      guard text[index] == ASCII.colon else { return false }
      index += 1
      // A colon is followed by a group, or once by a second colon.
      if index == text.count { return false }
      if text[index] == ASCII.colon {
        if hasGap { return false }
        hasGap = true
        index += 1
      }
    }
    return hasGap ? groups < 8 : groups == 8
  }

  private static func isIPv4(_ text: Span<UInt8>) -> Bool {
    var index = 0
    for octet in 0..<4 {
      if octet > 0 {
        guard index < text.count, text[index] == ASCII.dot else { return false }
        index += 1
      }
      let start = index
      var value = 0
      while index < text.count, index - start < 3, text[index] &- ASCII.zero < 10 {
        value = value * 10 + Int(text[index] - ASCII.zero)
        index += 1
      }
      guard index > start, value <= 255, index - start == 1 || text[start] != ASCII.zero else { return false }
    }
    return index == text.count
  }
}
