// Owns what an IP address literal says about where it leads: this machine, a cloud's metadata service, or elsewhere.
// It resolves no names.

import Glibc

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

  /// Addresses at which clouds hand out a machine's own credentials: all of link-local (RFC 3927, RFC 4291 §2.5.6),
  /// where AWS, Azure, Google, Oracle and OpenStack listen, and the few that stand elsewhere.
  var isMetadataService: Bool {
    switch self {
    case .v4(let bytes):
      bytes.starts(with: [169, 254]) || Self.metadataServicesV4.contains(bytes)
    case .v6(let bytes):
      (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80) || bytes == Self.ec2MetadataV6
    }
  }

  /// Alibaba Cloud, Azure's host agent, Oracle Cloud at Customer.
  private static let metadataServicesV4: [[UInt8]] = [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]]
  /// fd00:ec2::254.
  private static let ec2MetadataV6: [UInt8] = [0xFD, 0x00, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54]

  /// Whether the resolver would take a text for an IPv4 address although it is not four decimal numbers: `127.1`,
  /// `0x7f000001`, `2852039166`. Such a text hides where it leads.
  static func isObscure(_ text: String) -> Bool {
    var address = in_addr()
    return IPAddress(text) == nil && inet_aton(text, &address) != 0
  }
}

/// Whether a host, name or literal, is where a cloud hands out a machine's own credentials. Names are judged as written;
/// what they resolve to can only be judged where they are resolved.
func isMetadataService(host: String) -> Bool {
  let host = host.hasSuffix(".") ? String(host.dropLast()) : host
  return IPAddress(host)?.isMetadataService ?? metadataServiceNames.contains(host)
}

private let metadataServiceNames: Set<String> = [
  "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
]
