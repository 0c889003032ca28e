// Owns which texts between brackets are an IPv6 address. It is a matter of grammar alone: where an address leads is not
// asked here.
//
//     IPv6address = 6( h16 ":" ) ls32 / … / [ *6( h16 ":" ) h16 ] "::" ; h16 = 1*4HEXDIG             (RFC 3986 §3.2.2)
//     ls32        = ( h16 ":" h16 ) / IPv4address ; dec-octet = 0 to 255 without leading zeros

/// The grammar of IPv6 addresses.
package enum IPv6Address {
  /// Whether all of `text` is an IPv6 address, without brackets and zone.
  package static func isValid(_ text: Span<UInt8>) -> Bool {
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
      // Behind a colon there is a group, or a second colon, once.
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
