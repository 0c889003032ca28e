// The fields about the downstream: `Forwarded` (RFC 7239), `X-Forwarded-For` and `X-Forwarded-Proto`. The caller's own
// values come before this hop's.
//
//     Forwarded = 1#forwarded-element ; forwarded-element = [ pair ] *( ";" [ pair ] ) ; pair = token "=" value
//     node = nodename [ ":" node-port ] ; nodename = IPv4address / "[" IPv6address "]" / "unknown" / obfnode

public import Bytes

/// The peer of a connection in the form of these fields, once for all requests of the connection.
public struct ForwardedPeer: Sendable {
  private let hasAddress: Bool
  private let scheme: HTTPScheme
  // The field lines of a request that came without such fields. The second ends before the request's own part.
  private let xForwarded: [UInt8]
  private let forwarded: [UInt8]

  private static let xForwardedFor: StaticString = "X-Forwarded-For: "
  private static let forwardedName: StaticString = "Forwarded: "

  /// `address` is text, an IPv6 address without brackets, or empty for a peer without one (a unix socket).
  public init(address: [UInt8], scheme: HTTPScheme) {
    // The zone of a link-local address has a meaning on this machine only.
    let address = address.prefix { $0 != ASCII.percent }
    let text = String(decoding: address, as: UTF8.self)
    hasAddress = !address.isEmpty
    self.scheme = scheme
    let proto = "X-Forwarded-Proto: \(scheme == .https ? "https" : "http")\r\n"
    xForwarded = Array(((hasAddress ? "\(Self.xForwardedFor)\(text)\r\n" : "") + proto).utf8)
    let node =
      if !hasAddress {
        "unknown"
      } else if ByteClass.holds(all: address.span, ByteClass.token) {
        text
      } else {
        // A colon or bracket is in no token, so an IPv6 address is always quoted (RFC 7239 §6).
        "\"[\(text)]\""
      }
    forwarded = Array("\(Self.forwardedName)for=\(node)".utf8)
  }

  /// Appends `X-Forwarded-For` with the peer's address, if it has one, as the last element, and `X-Forwarded-Proto`.
  /// Several lines are joined into one, since many readers look at one only.
  public func writeXForwarded(_ fields: borrowing FieldTable, in bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    guard fields.contains(.xForwardedFor) else {
      buffer.append(xForwarded)
      return
    }
    buffer.append(Self.xForwardedFor)
    let hasEarlier = Self.append(.xForwardedFor, of: fields, in: bytes, into: &buffer)
    if !hasAddress {
      buffer.append("\r\n")
      buffer.append(xForwarded)
    } else {
      if hasEarlier { buffer.append(", ") }
      buffer.append(xForwarded.span.extracting(droppingFirst: Self.xForwardedFor.utf8CodeUnitCount))
    }
  }

  /// Appends `Forwarded` with an element of ours as the last one. `host` is the request's `host[:port]`, and left out
  /// if empty.
  public func writeForwarded(
    host: Span<UInt8>, _ fields: borrowing FieldTable, in bytes: Span<UInt8>, into buffer: inout ByteBuffer
  ) {
    if fields.contains(.forwarded) {
      buffer.append(Self.forwardedName)
      if Self.append(.forwarded, of: fields, in: bytes, into: &buffer) { buffer.append(", ") }
      buffer.append(forwarded.span.extracting(droppingFirst: Self.forwardedName.utf8CodeUnitCount))
    } else {
      buffer.append(forwarded)
    }
    if !host.isEmpty {
      buffer.append(";host=")
      let isPlain = ByteClass.holds(all: host, ByteClass.token)
      if !isPlain { buffer.append(ASCII.quote) }
      buffer.append(host)
      if !isPlain { buffer.append(ASCII.quote) }
    }
    if scheme == .https { buffer.append(";proto=https\r\n") } else { buffer.append(";proto=http\r\n") }
  }

  // Appends the values of all lines of a name; false if there is nothing to append. A value that ends inside a quoted
  // string would swallow our element, so it and everything behind it is left out.
  private static func append(
    _ name: FieldName, of fields: borrowing FieldTable, in bytes: Span<UInt8>, into buffer: inout ByteBuffer
  ) -> Bool {
    var hasElements = false
    for index in 0..<fields.count where fields[index].known == name {
      let value = bytes.trimmedList(fields[index].value)
      if endsInsideQuotes(bytes.extracting(value)) { break }
      if !value.isEmpty {
        if hasElements { buffer.append(", ") }
        buffer.append(bytes.extracting(value))
        hasElements = true
      }
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
}
