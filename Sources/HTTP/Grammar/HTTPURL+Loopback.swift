// Which hosts are this machine by their spelling: the only ones to which secrets are sent without TLS. Nothing is
// resolved.

extension HTTPURL {
  /// Whether the host is `localhost`, an address of 127.0.0.0/8 in four parts, or `::1`.
  public var isLoopback: Bool {
    if host == "localhost" || host == "::1" || host == "0:0:0:0:0:0:0:1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        // A leading zero reads as octal in some resolvers.
        part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
          && (part.count == 1 || part.first != "0")
      }
  }
}
