/// An IPv4, IPv6 or unix socket address.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The family and its values.
  public enum Kind: Sendable, Hashable {
    /// Four bytes in network order, and a port.
    case ipv4(UInt32, port: UInt16)
    /// Sixteen bytes in network order, a port, and the zone of a link-local address (0: none).
    case ipv6([UInt8], port: UInt16, zone: UInt32)
    /// A path in the file system; empty for the unnamed end of a connection.
    case unix(path: String)
  }

  /// The family and its values.
  public var kind: Kind

  /// An address of the given kind.
  public init(_ kind: Kind) { self.kind = kind }

  package init(_ address: IPAddress, port: UInt16) {
    switch address {
    case .v4(let bytes): kind = .ipv4(bytes.reduce(0) { $0 << 8 | UInt32($1) }, port: port)
    case .v6(let bytes): kind = .ipv6(bytes, port: port, zone: 0)
    }
  }

  /// Reads an IPv4 or IPv6 literal (without brackets); `nil` for anything else, host names included.
  public init?(literal: String, port: UInt16) {
    guard let address = IPAddress(literal) else { return nil }
    self.init(address, port: port)
  }

  /// The IP address; nil for a unix socket.
  package var ipAddress: IPAddress? {
    switch kind {
    case .ipv4(let address, _): .v4((0..<4).map { UInt8(truncatingIfNeeded: address >> (24 - 8 * $0)) })
    case .ipv6(let bytes, _, _): .v6(bytes)
    case .unix: nil
    }
  }

  /// True if only this machine can be at the other end.
  public var isLoopback: Bool { ipAddress?.isLoopback ?? true }

  /// The address in network order: 4 or 16 bytes; none for a unix socket.
  public var bytes: [UInt8] { ipAddress?.bytes ?? [] }

  /// The port; 0 for a unix socket.
  public var port: UInt16 {
    switch kind {
    case .ipv4(_, let port), .ipv6(_, let port, _): port
    case .unix: 0
    }
  }

  /// The host without port or brackets: `192.0.2.1`, `2001:db8::1`; for a unix socket its path, or `unix`.
  public var host: String {
    if case .unix(let path) = kind { return path.isEmpty ? "unix" : path }
    return ipAddress?.description ?? ""
  }

  /// `192.0.2.1:80`, `[2001:db8::1]:80`, `unix:/run/proxy.sock`.
  public var description: String {
    switch kind {
    case .ipv4(_, let port): "\(host):\(port)"
    case .ipv6(_, let port, _): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
