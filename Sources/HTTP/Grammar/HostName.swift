// Reads `host[:port]`, as in a `Host` field or an absolute-form target, and compares it with a given host. Nothing is
// resolved or normalised.
//
//     Host = uri-host [ ":" port ] ; uri-host = IP-literal / IPv4address / reg-name       (RFC 9110 §7.2, RFC 3986
//     §3.2)

import Bytes

/// A host and maybe a port, as places in the bytes they were read from.
public struct HostName: Sendable, Hashable {
  /// The host, an IPv6 address without its brackets.
  public let host: ByteRange
  /// The port, if one is named.
  public let port: UInt16?
  /// True if the host is in brackets.
  public let isBracketed: Bool

  /// Reads all of `bytes`; `nil` if they are not an authority with a host. User information, percent-encoding and
  /// future kinds of address literal are not accepted, nor a port above 65535.
  public init?(_ bytes: Span<UInt8>) {
    let end = bytes.count
    guard end > 0 else { return nil }
    var index: Int
    if bytes[0] == ASCII.openBracket {
      index = 1
      while index < end,
        ByteClass.of(bytes[index], ByteClass.hexadecimal) || bytes[index] == ASCII.colon
          || bytes[index] == ASCII.dot
      { index += 1 }
      guard index < end, bytes[index] == ASCII.closeBracket, IPAddress.isIPv6(bytes.extracting(1..<index)) else {
        return nil
      }
      host = ByteRange(from: 1, to: index)
      isBracketed = true
      index += 1
    } else {
      index = 0
      while index < end, ByteClass.of(bytes[index], ByteClass.name) { index += 1 }
      guard index > 0 else { return nil }
      host = ByteRange(from: 0, to: index)
      isBracketed = false
    }
    if index == end {
      port = nil
      return
    }
    guard bytes[index] == ASCII.colon else { return nil }
    index += 1
    if index == end {  // "port" may be empty (RFC 3986 §3.2.3), and then names none.
      port = nil
      return
    }
    guard let number = bytes.extracting(index..<end).decimal, let port = UInt16(exactly: number) else { return nil }
    self.port = port
  }

  /// True if two texts are authorities with the same meaning for a scheme: the default port is the scheme's own (RFC
  /// 9110 §4.2.3).
  public static func areEquivalent(_ left: Span<UInt8>, _ right: Span<UInt8>, scheme: HTTPScheme) -> Bool {
    guard let first = HostName(left), let second = HostName(right) else { return false }
    return first.port ?? scheme.defaultPort == second.port ?? scheme.defaultPort
      && first.isBracketed == second.isBracketed
      && left.extracting(first.host).equalsIgnoringCase(right.extracting(second.host))
  }

  /// True if the host is `name`, compared without regard to case. `name` is in lower case, an IPv6 address without
  /// brackets; this was read from `bytes`.
  public func names(_ name: [UInt8], in bytes: Span<UInt8>) -> Bool {
    bytes.extracting(host).equalsIgnoringCase(name.span)
  }
}
