/// The bytes with which a client begins HTTP/2 (RFC 9113 §3.4). As HTTP/1.1 they would be a request that is refused.
package enum ConnectionPreface {
  package static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// True if what has arrived on a connection is the beginning of HTTP/2.
  package static func begins(_ arrived: Span<UInt8>) -> Bool {
    for index in 0..<min(arrived.count, bytes.count) where arrived[index] != bytes[index] { return false }
    return !arrived.isEmpty
  }
}
