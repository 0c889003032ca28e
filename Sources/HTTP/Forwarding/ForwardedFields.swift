// How the fields that tell the upstream about the downstream are spelt: `Forwarded` (RFC 7239) and
// `X-Forwarded-For`. Whether what the caller said of itself is kept is the plan's decision; these append to it.
//
//     Forwarded = 1#forwarded-element ; forwarded-element = [ pair ] *( ";" [ pair ] ) ; pair = token "=" value
//     node = nodename [ ":" node-port ] ; nodename = IPv4address / "[" IPv6address "]" / "unknown" / obfnode

public import Bytes

/// Functions that append whole field lines about the way a request has come.
public enum ForwardedFields {
  /// Whether the elements that came with the request stand before ours.
  public enum Earlier: Sendable { case kept, dropped }

  /// `X-Forwarded-For` with the peer's address as the last element. `peer` is the address as text, an IPv6 address
  /// without brackets, or empty for a peer without one (a unix socket), which adds nothing. Several lines are joined
  /// into one, since many readers look at one only.
  public static func writeXForwardedFor(
    peer: Span<UInt8>, _ earlier: Earlier, _ fields: borrowing FieldTable, in bytes: Span<UInt8>,
    into buffer: inout ByteBuffer
  ) {
    let address = withoutZone(peer)
    if address.isEmpty, earlier == .dropped || !fields.contains(.xForwardedFor) { return }
    buffer.append("X-Forwarded-For: ")
    let kept = earlier == .kept && append(.xForwardedFor, of: fields, in: bytes, into: &buffer)
    if !address.isEmpty {
      if kept { buffer.append(", ") }
      buffer.append(address)
    }
    buffer.append("\r\n")
  }

  /// `Forwarded` with an element of ours as the last one. `peer` as above, an empty one being `unknown`; `host` is the
  /// `host[:port]` the request was for, and left out where empty.
  public static func writeForwarded(
    peer: Span<UInt8>, host: Span<UInt8>, scheme: HTTPScheme, _ earlier: Earlier, _ fields: borrowing FieldTable,
    in bytes: Span<UInt8>, into buffer: inout ByteBuffer
  ) {
    buffer.append("Forwarded: ")
    if earlier == .kept, append(.forwarded, of: fields, in: bytes, into: &buffer) { buffer.append(", ") }
    buffer.append("for=")
    let address = withoutZone(peer)
    if address.isEmpty {
      buffer.append("unknown")
    } else if isToken(address) {
      buffer.append(address)
    } else {
      // A colon or bracket is in no token, so an IPv6 address is always quoted (RFC 7239 §6).
      buffer.append("\"[")
      buffer.append(address)
      buffer.append("]\"")
    }
    if !host.isEmpty {
      buffer.append(";host=")
      let isPlain = isToken(host)
      if !isPlain { buffer.append(ASCII.quote) }
      buffer.append(host)
      if !isPlain { buffer.append(ASCII.quote) }
    }
    if scheme == .https { buffer.append(";proto=https\r\n") } else { buffer.append(";proto=http\r\n") }
  }

  // Appends the values of all lines of a name; false where there is nothing to append. A value that ends inside a
  // quoted string would swallow our element, so it and what is behind it is left out.
  private static func append(
    _ name: FieldName, of fields: borrowing FieldTable, in bytes: Span<UInt8>, into buffer: inout ByteBuffer
  ) -> Bool {
    var hasElements = false
    var next = fields.index(of: name)
    while let line = next {
      let value = bytes.trimmedList(fields[line].value)
      if endsInsideQuotes(bytes.extracting(value)) { break }
      if !value.isEmpty {
        if hasElements { buffer.append(", ") }
        buffer.append(bytes.extracting(value))
        hasElements = true
      }
      next = fields.index(of: name, from: line + 1)
    }
    return hasElements
  }

  private static func endsInsideQuotes(_ value: Span<UInt8>) -> Bool {
    var isQuoted = false
    var index = 0
    while index < value.count {
      if value[index] == ASCII.quote { isQuoted.toggle() }
      // A backslash escapes within quotes only, and one at the end escapes what would follow.
      if isQuoted, value[index] == ASCII.backslash { index += 1 }
      index += 1
    }
    return isQuoted
  }

  // The zone of a link-local address means something on this machine only.
  @_lifetime(copy peer)
  private static func withoutZone(_ peer: Span<UInt8>) -> Span<UInt8> {
    for index in 0..<peer.count where peer[index] == ASCII.percent { return peer.extracting(0..<index) }
    return peer
  }

  private static func isToken(_ bytes: Span<UInt8>) -> Bool {
    for index in 0..<bytes.count where !ByteClass.of(bytes[index], ByteClass.token) { return false }
    return true
  }
}
