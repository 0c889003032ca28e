// Which hosts are this machine by their spelling: the only ones to which secrets are sent without TLS. Nothing is
// resolved.

import Bytes

extension HTTPURL {
  /// Whether the host is `localhost`, an address of 127.0.0.0/8 in four parts, or `::1`.
  public var isLoopback: Bool {
    if host == "localhost" { return true }
    // Not an IPv4-mapped address: where it leads depends on the machine's settings.
    guard let address = IPAddress(host), address == address.unmapped else { return false }
    return address.isLoopback
  }
}
