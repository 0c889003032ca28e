// Turns the fields of an HTTP/2 message into the HTTP/1.1 head with the same meaning. One parser and one set of rules
// then judge the messages of every version. No byte that could end a line, or a part of one, gets into that head.

package import Bytes

/// The fields of one message, as they arrive in an HTTP/2 header block. Keeps its storage for the next one.
package struct FieldBlock: ~Copyable {
  private var method = ByteBuffer(capacity: 16)
  private var scheme = ByteBuffer(capacity: 8)
  private var authority = ByteBuffer(capacity: 128)
  private var path = ByteBuffer(capacity: 512)
  /// The protocol of an extended CONNECT (RFC 8441 §4).
  private var tunnelled = ByteBuffer(capacity: 1)
  private var host = ByteBuffer(capacity: 128)
  private var cookies = ByteBuffer(capacity: 512)
  private var lines = ByteBuffer(capacity: 2048)
  private var hosts = 0
  /// True if there is a key of a WebSocket's handshake. RFC 8441 §5 needs none, but some gateways pass theirs on, and
  /// want the proof for it.
  package private(set) var hasKey = false
  /// The status of a response; 0 before.
  private var status = 0
  /// The value of `content-length`; nil if there is none.
  package private(set) var length: UInt64?
  /// Bytes of names, values and separators so far.
  package private(set) var byteCount = 0
  private let limit: Int

  /// Fields of at most so many bytes. What comes beyond is counted and not kept.
  package init(limit: Int) { self.limit = limit }

  /// True if there was more than can be kept.
  package var isTooLarge: Bool { byteCount > limit }

  /// True if the method is HEAD.
  package var isHead: Bool { RequestMethod(method.bytes) == .head }

  /// True if the request is an extended CONNECT.
  package var asksForTunnel: Bool { !tunnelled.isEmpty }

  /// Forgets the message before.
  package mutating func reset() {
    method.removeAll()
    scheme.removeAll()
    authority.removeAll()
    path.removeAll()
    tunnelled.removeAll()
    host.removeAll()
    cookies.removeAll()
    lines.removeAll()
    hosts = 0
    hasKey = false
    status = 0
    length = nil
    byteCount = 0
  }

  /// Adds a field. False: the request is malformed (RFC 9113 §8.1.1).
  package mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    byteCount += name.count + value.count + 4
    if isTooLarge { return true }
    if !name.isEmpty, name[0] == ASCII.colon { return addPseudo(name, value) }
    guard Self.isName(name), Self.isValue(value) else { return false }
    let known = FieldName(name)
    if Self.isOfConnection(known, value) { return false }
    switch known {
    case .host:
      hosts += 1
      host.removeAll()
      host.append(value)
    case .cookie:
      // RFC 9113 §8.2.3: the pieces of one field.
      if !cookies.isEmpty { cookies.append("; ") }
      cookies.append(value)
    case .contentLength:
      guard let number = Self.number(value) else { return false }
      length = number
      appendLine(name, value)
    default:
      if known == .other, name.equalsIgnoringCase("sec-websocket-key") { hasKey = true }
      appendLine(name, value)
    }
    return true
  }

  /// Adds a field of a response. False: the response is malformed.
  package mutating func addOfResponse(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    if !name.isEmpty, name[0] == ASCII.colon, name.equalsIgnoringCase(":status") {
      byteCount += name.count + value.count + 4
      guard status == 0, value.count == 3, let number = Self.number(value), 100...599 ~= number else { return false }
      status = Int(number)
      return true
    }
    if name.equalsIgnoringCase("content-length") {
      // Two of them become two lines, which no response may have.
      guard let value = Self.number(value) else { return false }
      length = value
    }
    return addTrailer(name, value)
  }

  /// Adds a field of a trailer section. False: the message is malformed.
  package mutating func addTrailer(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    byteCount += name.count + value.count + 4
    guard !isTooLarge, Self.isName(name), Self.isValue(value), !Self.isOfConnection(FieldName(name), value) else {
      return false
    }
    appendLine(name, value)
    return true
  }

  private mutating func appendLine(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    lines.append(name)
    lines.append(ASCII.colon, ASCII.space)
    lines.append(value)
    lines.append(ASCII.carriageReturn, ASCII.lineFeed)
  }

  // RFC 9113 §8.3.1. Each of them once. The lengths of the names tell nearly all of them apart.
  private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    switch name.count {
    case 5 where name.equalsIgnoringCase(":path"):
      return ByteClass.holds(all: value, ByteClass.target) && Self.take(value, into: &path)
    case 7 where name.equalsIgnoringCase(":method"):
      return ByteClass.holds(all: value, ByteClass.token) && Self.take(value, into: &method)
    case 7 where name.equalsIgnoringCase(":scheme"):
      return (value.equalsIgnoringCase("http") || value.equalsIgnoringCase("https")) && Self.take(value, into: &scheme)
    case 9 where name.equalsIgnoringCase(":protocol"):
      return ByteClass.holds(all: value, ByteClass.token) && Self.take(value, into: &tunnelled)
    case 10 where name.equalsIgnoringCase(":authority"):
      return ByteClass.holds(all: value, ByteClass.target) && Self.take(value, into: &authority)
    default: return false
    }
  }

  private static func take(_ value: Span<UInt8>, into part: inout ByteBuffer) -> Bool {
    if value.isEmpty || !part.isEmpty { return false }
    part.append(value)
    return true
  }

  // RFC 9113 §8.2.1: no upper case.
  private static func isName(_ name: Span<UInt8>) -> Bool {
    for index in 0..<name.count {
      if !ByteClass.of(name[index], ByteClass.token) || ASCII.lowered(name[index]) != name[index] { return false }
    }
    return !name.isEmpty
  }

  // RFC 9113 §8.2.1: no white space around it, either.
  private static func isValue(_ value: Span<UInt8>) -> Bool {
    guard ByteClass.holds(all: value, ByteClass.value) else { return false }
    return value.isEmpty
      || !ByteClass.of(value[0], ByteClass.whitespace) && !ByteClass.of(value[value.count - 1], ByteClass.whitespace)
  }

  private static func number(_ value: Span<UInt8>) -> UInt64? {
    value.count > 18 ? nil : value.decimal
  }

  // RFC 9113 §8.2.2.
  private static func isOfConnection(_ name: FieldName, _ value: Span<UInt8>) -> Bool {
    switch name {
    case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: true
    case .te: !value.equalsIgnoringCase("trailers")
    default: false
    }
  }

  /// Appends the HTTP/1.1 head. False: the request is malformed, because a pseudo-header field is missing or has no
  /// place in it.
  /// - Parameter hasContent: content, or its end, is still to come.
  /// - Parameter isSecure: the connection uses TLS.
  /// - Parameter key: of the handshake that an extended CONNECT becomes, if it has none.
  package func writeHead(hasContent: Bool, isSecure: Bool, key: [UInt8] = [], into head: inout ByteBuffer) -> Bool {
    if method.isEmpty { return false }
    let namesConnect = RequestMethod(method.bytes) == .connect
    if asksForTunnel, !namesConnect || authority.isEmpty || length != nil { return false }
    let isConnect = namesConnect && !asksForTunnel
    if isConnect != (path.isEmpty && scheme.isEmpty) || isConnect && authority.isEmpty { return false }
    if !isConnect {
      if path.isEmpty || scheme.isEmpty { return false }
      let isAsterisk = path.count == 1 && path.bytes[0] == ASCII.asterisk
      if path.bytes[0] != ASCII.slash, !isAsterisk { return false }
    }
    head.reserve(byteCount + 128)
    if asksForTunnel { head.append("GET") } else { head.append(method.bytes) }
    head.append(ASCII.space)
    if isConnect {
      head.append(authority.bytes)
    } else {
      // A target with a scheme, so that the rule for that form decides if an https request may come without TLS.
      if !isSecure, scheme.bytes.equalsIgnoringCase("https"), path.bytes[0] == ASCII.slash {
        head.append("https://")
        head.append(authority.isEmpty ? host.bytes : authority.bytes)
      }
      head.append(path.bytes)
    }
    HeadWriter.requestLineEnd(into: &head)
    // A Host field that differs, or is repeated, becomes a second line, which no request may have.
    if !authority.isEmpty { HeadWriter.field("Host", authority.bytes, into: &head) }
    if hosts > 1 || hosts == 1 && (authority.isEmpty || !authority.bytes.equalsIgnoringCase(host.bytes)) {
      for _ in 0..<hosts { HeadWriter.field("Host", host.bytes, into: &head) }
    }
    head.append(lines.bytes)
    if !cookies.isEmpty { HeadWriter.field("Cookie", cookies.bytes, into: &head) }
    if asksForTunnel {
      HeadWriter.field("Connection", "Upgrade", into: &head)
      HeadWriter.field("Upgrade", tunnelled.bytes, into: &head)
      if !hasKey { HeadWriter.field("Sec-WebSocket-Key", key.span, into: &head) }
    } else if hasContent, length == nil {
      HeadWriter.chunkedCoding(into: &head)
    }
    HeadWriter.end(into: &head)
    return true
  }

  // MARK: Response

  /// True if another head follows.
  package var isInterim: Bool { status < 200 }

  /// True if the request has succeeded.
  package var isSuccess: Bool { 200..<300 ~= status }

  /// False if the status, or the method of the request, excludes content.
  package func mayHaveContent(isHead: Bool) -> Bool { !isHead && status != 204 && status != 304 && !isInterim }

  /// Appends the HTTP/1.1 head of a response.
  /// - Parameter hasContent: content, or its end, is still to come.
  package func writeResponseHead(isHead: Bool, hasContent: Bool, into head: inout ByteBuffer) {
    head.reserve(byteCount + 64)
    HeadWriter.statusLine(status, into: &head)
    head.append(lines.bytes)
    if length == nil, mayHaveContent(isHead: isHead) {
      if hasContent {
        HeadWriter.chunkedCoding(into: &head)
      } else {
        HeadWriter.field("Content-Length", decimal: 0, into: &head)
      }
    }
    HeadWriter.end(into: &head)
  }

  /// Appends the HTTP/1.1 head of a response that makes a WebSocket of its stream, with the proof for a request's key.
  package func writeSwitch(_ acceptance: [UInt8], into head: inout ByteBuffer) {
    HeadWriter.statusLine(101, into: &head)
    head.append(lines.bytes)
    HeadWriter.field("Sec-WebSocket-Accept", acceptance.span, into: &head)
    HeadWriter.end(.webSocket, for: .http11, into: &head)
  }

  /// Appends the trailer section of HTTP/1.1.
  package func writeTrailers(into section: inout ByteBuffer) {
    section.append(lines.bytes)
    HeadWriter.end(into: &section)
  }
}
