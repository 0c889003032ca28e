// Which hosts are refused by how they are written: those of a cloud's metadata service, and texts that hide where they
// lead.

import Bytes
import Glibc

extension IPAddress {
  /// Whether the resolver would take a text for an IPv4 address although it is not four decimal numbers: `127.1`,
  /// `0x7f000001`, `2852039166`.
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
