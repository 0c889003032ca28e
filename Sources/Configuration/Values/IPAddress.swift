// Owns what an IP address literal says about where it leads: this machine, a cloud's metadata service (by the list of
// `MetadataService`), or elsewhere. It resolves no names.

import Bytes
import Glibc
import HTTP

/// An IPv4 or IPv6 address, as bytes in network order.
enum IPAddress: Hashable {
  case v4([UInt8])
  case v6([UInt8])

  /// Reads four decimal numbers or an IPv6 address without brackets; an IPv4-mapped IPv6 address is the IPv4 address
  /// it maps (RFC 4291 §2.5.5.2).
  init?(_ text: some StringProtocol) {
    let text = String(text)
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      self = .v4(withUnsafeBytes(of: &v4) { Array($0) })
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      let bytes = withUnsafeBytes(of: &v6) { Array($0) }
      let isMapped = bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
      self = isMapped ? .v4(Array(bytes[12...])) : .v6(bytes)
    } else {
      return nil
    }
  }

  /// 127.0.0.0/8 (RFC 1122 §3.2.1.3) and ::1 (RFC 4291 §2.5.3).
  var isLoopback: Bool {
    switch self {
    case .v4(let bytes): bytes[0] == 127
    case .v6(let bytes): bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }
  }

  /// The 4 or 16 bytes.
  var bytes: [UInt8] {
    switch self {
    case .v4(let bytes), .v6(let bytes): bytes
    }
  }

  /// Whether the resolver would take a text for an IPv4 address although it is not four decimal numbers: `127.1`,
  /// `0x7f000001`, `2852039166`. Such a text hides where it leads.
  static func isObscure(_ text: String) -> Bool {
    var address = in_addr()
    return IPAddress(text) == nil && inet_aton(text, &address) != 0
  }
}

/// Whether a host, name or literal, is where a cloud hands out a machine's own credentials. Names are judged as
/// written; what they resolve to can only be judged where they are resolved.
func isMetadataService(host: String) -> Bool {
  if let address = IPAddress(host) { return MetadataService.mayBe(at: address.bytes) }
  return MetadataService.isNamed(host)
}
