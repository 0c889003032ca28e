// gRPC over HTTP/2 as a proxy sees it, by gRPC's own document (grpc/grpc, doc/PROTOCOL-HTTP2.md).

package import Bytes

/// The rule for requests that are gRPC calls.
package enum GRPCCall {
  /// True if a request is a call: HTTP/2, and the media type `application/grpc`, perhaps with the name of a format
  /// behind a plus. gRPC-Web has media types of its own.
  @inline(__always)
  package static func isOne(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    head.version == .http2 && hasMediaType(head, bytes)
  }

  private static func hasMediaType(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let line = head.fields.first(.contentType) else { return false }
    let (value, name): (_, StaticString) = (bytes.extracting(line.value), "application/grpc")
    let length = name.utf8CodeUnitCount
    guard value.startsIgnoringCase(with: name) else { return false }
    if value.count == length { return true }
    switch value[length] {
    case UInt8(ascii: "+"), ASCII.semicolon, ASCII.space, ASCII.tab: return true
    default: return false
    }
  }

  /// Bytes before a message: if it is compressed, and its length.
  private static let prefixLength = 5

  /// A step in the content of a call.
  package enum MessageStep: Sendable, Hashable {
    /// There is no whole message yet.
    case needsMore
    /// A message that is not compressed.
    case message([UInt8])
    /// A message that is compressed.
    case compressed
    /// A message of more bytes than the limit.
    case tooLarge
  }

  /// Takes the first message off the content of a call.
  package static func takeMessage(from content: inout [UInt8], limit: Int) -> MessageStep {
    let prefix = content.prefix(prefixLength)
    guard prefix.count == prefixLength else { return .needsMore }
    if prefix.first != 0 { return .compressed }
    let length = prefix.dropFirst().reduce(0) { $0 << 8 | Int($1) }
    if length > limit { return .tooLarge }
    guard content.count >= prefixLength + length else { return .needsMore }
    defer { content.removeFirst(prefixLength + length) }
    return .message(Array(content[prefixLength..<prefixLength + length]))
  }

  /// The bytes before a message of so many bytes.
  package static func prefix(_ count: Int) -> [UInt8] {
    [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
  }
}

/// The time that a caller gives to a call.
///
///     Timeout = "grpc-timeout" TimeoutValue TimeoutUnit, a number of at most 8 digits and H / M / S / m / u / n
package enum GRPCTimeout: Sendable, Hashable {
  /// The caller sets no limit.
  case none
  case limit(TimeSpan)
  /// The field is repeated, or has another form.
  case invalid

  /// Reads the head of a call.
  package init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
    let (value, count) = head.fields.values(named: "grpc-timeout", in: bytes)
    switch count {
    case 0: self = .none
    case 1: self = Self.span(bytes.extracting(value)).map { .limit($0) } ?? .invalid
    default: self = .invalid
    }
  }

  private static func span(_ value: Span<UInt8>) -> TimeSpan? {
    guard (2...9).contains(value.count), let number = value.extracting(droppingLast: 1).decimal else { return nil }
    let unit: UInt64
    switch value[value.count - 1] {
    case UInt8(ascii: "H"): unit = 3_600_000_000_000
    case UInt8(ascii: "M"): unit = 60_000_000_000
    case UInt8(ascii: "S"): unit = 1_000_000_000
    case UInt8(ascii: "m"): unit = 1_000_000
    case UInt8(ascii: "u"): unit = 1_000
    case UInt8(ascii: "n"): unit = 1
    default: return nil
    }
    // Eight digits of hours are longer than a TimeSpan, which is as good as no limit.
    let (product, isOver) = number.multipliedReportingOverflow(by: unit)
    return TimeSpan(nanoseconds: isOver ? .max : product)
  }
}

/// A status of gRPC that the proxy gives (grpc/grpc, doc/statuscodes.md).
package enum GRPCStatus: UInt8, Sendable, Hashable {
  case ok = 0
  case unknown = 2
  case deadlineExceeded = 4
  case permissionDenied = 7
  case resourceExhausted = 8
  case unimplemented = 12
  case `internal` = 13
  case unavailable = 14
  case unauthenticated = 16

  /// The meaning of an HTTP status: that of doc/http-grpc-status-mapping.md, and those that are more exact for an
  /// answer of the proxy's own.
  package init(http status: Int) {
    self =
      switch status {
      case 400, 417, 431: .internal
      case 401: .unauthenticated
      case 403: .permissionDenied
      case 404, 405, 421, 501: .unimplemented
      case 408: .deadlineExceeded
      case 413: .resourceExhausted
      case 429, 502, 503, 504: .unavailable
      default: .unknown
      }
  }

  /// A text in the form of `grpc-message`: printable ASCII, and all else percent-encoded.
  package static func message(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte >= 0x20, byte < 0x7F, byte != ASCII.percent {
        bytes.append(byte)
      } else {
        PercentEncoding.encode(byte, keeping: "".utf8, into: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
