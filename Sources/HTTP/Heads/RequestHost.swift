// The host of a request: a rule of the parts of its head, however these were read.

import Bytes

/// The place that a request is for, in the bytes of its head.
@usableFromInline struct RequestHost: Equatable {
  /// The target's `host[:port]` if it has one, else that of the `Host` field. Empty if there is neither, and none is
  /// demanded.
  @usableFromInline private(set) var authority = ByteRange()
  /// The host within `authority`: without port, an IPv6 address without brackets.
  @usableFromInline private(set) var host = ByteRange()

  init() {}

  /// RFC 9112 §3.2: a 1.1 request without Host, any request with two or with an invalid one gets a 400.
  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) throws(RequestHeadError) {
    let target = head.target.authority
    guard let hostLine = head.fields.index(of: .host) else {
      if head.version.demandsHost { throw .hostMissing }
      authority = target
      if !target.isEmpty, let name = HostName(bytes.extracting(target)) { host = name.host.within(target) }
      return
    }
    if head.fields.index(of: .host, from: hostLine + 1) != nil { throw .hostRepeated }
    let named = head.fields[hostLine].value
    let field = bytes.extracting(named)
    guard let name = HostName(field) else { throw .hostInvalid }
    let isTargets = !target.isEmpty
    authority = isTargets ? target : named
    host = isTargets ? try Self.host(in: target, beside: field, head.target.scheme, bytes) : name.host.within(named)
  }

  // The target counts, not `Host` (RFC 9112 §3.2.2). A client that names two hosts at once is suspicious.
  @inline(never)
  private static func host(
    in target: ByteRange, beside field: Span<UInt8>, _ scheme: HTTPScheme?, _ bytes: Span<UInt8>
  ) throws(RequestHeadError) -> ByteRange {
    let named = bytes.extracting(target)
    guard let name = HostName(named) else { throw .target }
    let isSame =
      if let scheme {
        HostName.areEquivalent(named, field, scheme: scheme)
      } else {
        named.equalsIgnoringCase(field)
      }
    if !isSame { throw .hostDisagrees }
    return name.host.within(target)
  }
}
