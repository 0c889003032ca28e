public import Bytes
internal import Glibc

extension SocketAddress {
  var family: Int32 {
    switch kind {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// The longest path of a unix socket, without its terminating zero.
  public static let unixPathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

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

  /// The address that a system call writes; nil if it fails.
  static func read(
    _ call: (UnsafeMutablePointer<sockaddr>?, inout socklen_t) -> Int32
  ) -> SocketAddress? {
    withUnsafeTemporaryAllocation(byteCount: MemoryLayout<sockaddr_storage>.size, alignment: 8) { raw in
      var length = socklen_t(raw.count)
      let result = raw.withMemoryRebound(to: sockaddr.self) { call($0.baseAddress, &length) }
      guard result == 0 else { return nil }
      return SocketAddress(UnsafeRawBufferPointer(rebasing: raw.prefix(Int(length))))
    }
  }

  /// Both ends of a connection; nil if it is not connected any more.
  static func ends(of channel: Channel) -> (peer: SocketAddress, own: SocketAddress)? {
    guard let peer = read({ getpeername(channel.descriptor, $0, &$1) }),
      let own = read({ getsockname(channel.descriptor, $0, &$1) })
    else { return nil }
    return (peer, own)
  }

  /// Reads the kernel's form; `nil` for other families.
  init?(_ raw: UnsafeRawBufferPointer) {
    guard raw.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where raw.count >= MemoryLayout<sockaddr_in>.size:
      let address = raw.loadUnaligned(as: sockaddr_in.self)
      self.init(.ipv4(UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port)))
    case AF_INET6 where raw.count >= MemoryLayout<sockaddr_in6>.size:
      let address = raw.loadUnaligned(as: sockaddr_in6.self)
      let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
      self.init(.ipv6(bytes, port: UInt16(bigEndian: address.sin6_port), zone: address.sin6_scope_id))
    case AF_UNIX:
      let path = raw.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
      self.init(.unix(path: String(decoding: path, as: UTF8.self)))
    default:
      return nil
    }
  }
}
