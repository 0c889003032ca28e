// Owns socket addresses: reading literals, telling loopback ones, writing them for people.

internal import Glibc

/// An IPv4, IPv6 or unix socket address.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address proper.
  public enum Kind: Sendable, Hashable {
    /// Four bytes in network order, and a port.
    case ipv4(UInt32, port: UInt16)
    /// Sixteen bytes in network order, a port, and the zone of a link-local address (0: none).
    case ipv6([UInt8], port: UInt16, zone: UInt32)
    /// A path in the file system; empty for the unnamed end of a connection.
    case unix(path: String)
  }

  /// The address proper.
  public var kind: Kind

  /// An address of the given kind.
  public init(_ kind: Kind) {
    self.kind = kind
  }

  /// Reads an IPv4 or IPv6 literal (without brackets); `nil` for anything else, host names included.
  public init?(literal: String, port: UInt16) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, literal, &four) == 1 {
      kind = .ipv4(UInt32(bigEndian: four.s_addr), port: port)
    } else if inet_pton(AF_INET6, literal, &six) == 1 {
      kind = .ipv6(withUnsafeBytes(of: &six) { Array($0) }, port: port, zone: 0)
    } else {
      return nil
    }
  }

  /// Whether only this machine can be at the other end.
  public var isLoopback: Bool {
    switch kind {
    case .ipv4(let address, _): address >> 24 == 127
    case .ipv6(let bytes, _, _):
      if let mapped = mappedIPv4(bytes) {
        mapped >> 24 == 127
      } else {
        bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
      }
    case .unix: true
    }
  }

  /// The address in network order: 4 or 16 bytes; none for a unix socket.
  public var bytes: [UInt8] {
    switch kind {
    case .ipv4(let address, _): (0..<4).map { UInt8(truncatingIfNeeded: address >> (24 - 8 * $0)) }
    case .ipv6(let bytes, _, _): bytes
    case .unix: []
    }
  }

  private func mappedIPv4(_ bytes: [UInt8]) -> UInt32? {
    guard bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else { return nil }
    return bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The port; 0 for a unix socket.
  public var port: UInt16 {
    switch kind {
    case .ipv4(_, let port), .ipv6(_, let port, _): port
    case .unix: 0
    }
  }

  /// The host without port or brackets: `192.0.2.1`, `2001:db8::1`; for a unix socket its path, or `unix`.
  public var host: String {
    switch kind {
    case .ipv4(let address, _):
      return "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    case .ipv6(var bytes, _, _):
      return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
        guard let start = buffer.baseAddress, inet_ntop(AF_INET6, &bytes, start, socklen_t(buffer.count)) != nil else {
          return ""
        }
        return String(cString: start)
      }
    case .unix(let path):
      return path.isEmpty ? "unix" : path
    }
  }

  /// `192.0.2.1:80`, `[2001:db8::1]:80`, `unix:/run/proxy.sock`.
  public var description: String {
    switch kind {
    case .ipv4(_, let port): "\(host):\(port)"
    case .ipv6(_, let port, _): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }

  var family: Int32 {
    switch kind {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// The longest path a unix socket can have, without its terminating zero.
  public static let unixPathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  // MARK: The kernel's form

  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    switch kind {
    case .ipv4(let address, let port):
      var raw = sockaddr_in()
      raw.sin_family = sa_family_t(AF_INET)
      raw.sin_port = port.bigEndian
      raw.sin_addr.s_addr = address.bigEndian
      return Self.rebound(&raw, body)
    case .ipv6(let bytes, let port, let zone):
      var raw = sockaddr_in6()
      raw.sin6_family = sa_family_t(AF_INET6)
      raw.sin6_port = port.bigEndian
      raw.sin6_scope_id = zone
      withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: bytes) }
      return Self.rebound(&raw, body)
    case .unix(let path):
      var raw = sockaddr_un()
      raw.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix(Self.unixPathLimit))) }
      return Self.rebound(&raw, body)
    }
  }

  private static func rebound<Raw, Result>(
    _ raw: inout Raw, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafeBytes(of: &raw) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { rebound in
        guard let start = rebound.baseAddress else { preconditionFailure("an address has bytes") }
        return body(start, socklen_t(bytes.count))
      }
    }
  }

  /// Reads the kernel's form; `nil` for families this code base has no use for.
  init?(_ raw: UnsafeRawBufferPointer) {
    guard raw.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where raw.count >= MemoryLayout<sockaddr_in>.size:
      let address = raw.loadUnaligned(as: sockaddr_in.self)
      kind = .ipv4(UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
    case AF_INET6 where raw.count >= MemoryLayout<sockaddr_in6>.size:
      let address = raw.loadUnaligned(as: sockaddr_in6.self)
      let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
      kind = .ipv6(bytes, port: UInt16(bigEndian: address.sin6_port), zone: address.sin6_scope_id)
    case AF_UNIX:
      let path = raw.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
      kind = .unix(path: String(decoding: path, as: UTF8.self))
    default:
      return nil
    }
  }
}
