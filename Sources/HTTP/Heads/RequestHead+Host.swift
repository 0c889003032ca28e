// The rules that need the whole head of a request: `Connection` and the host. They do not depend on how the head was
// read.

import Bytes

extension RequestHead {
  /// Fills in `connection`, `authority` and `host` from the other parts.
  mutating func settle(_ bytes: Span<UInt8>) -> RequestHeadError? {
    if !connection.read(fields, bytes) { return .connectionOptions }
    // RFC 9112 §3.2: a 1.1 request without Host, any request with two or with an invalid one gets a 400.
    guard let hostLine = fields.index(of: .host) else {
      if version.demandsHost { return .hostMissing }
      authority = target.authority
      if !authority.isEmpty, let name = HostName(bytes.extracting(authority)) { host = name.host.within(authority) }
      return nil
    }
    if fields.index(of: .host, from: hostLine + 1) != nil { return .hostRepeated }
    let named = fields[hostLine].value
    guard let name = HostName(bytes.extracting(named)) else { return .hostInvalid }
    authority = named
    host = name.host.within(named)
    if target.authority.isEmpty { return nil }
    return takeTargetsAuthority(bytes, host: bytes.extracting(named))
  }

  // The target counts, not `Host` (RFC 9112 §3.2.2). A client that names two hosts at once is suspicious.
  @inline(never)
  private mutating func takeTargetsAuthority(_ bytes: Span<UInt8>, host field: Span<UInt8>) -> RequestHeadError? {
    let named = bytes.extracting(target.authority)
    guard let name = HostName(named) else { return .target }
    let isSame =
      if let scheme = target.scheme {
        HostName.areEquivalent(named, field, scheme: scheme)
      } else {
        named.equalsIgnoringCase(field)
      }
    if !isSame { return .hostDisagrees }
    authority = target.authority
    host = name.host.within(target.authority)
    return nil
  }
}
