/// The method of a request. Names are case-sensitive (RFC 9110 §9.1).
public enum RequestMethod: UInt8, Sendable, Hashable {
  /// Safe.
  case get
  /// As `get`, and the answer has no content.
  case head
  /// Neither safe nor idempotent.
  case post
  /// Idempotent.
  case put
  /// Idempotent.
  case delete
  /// Neither safe nor idempotent (RFC 5789).
  case patch
  /// Safe.
  case options
  /// Safe; reflects the request, so a proxy that adds a token must not forward it.
  case trace
  /// Asks for a tunnel; not for a gateway.
  case connect
  /// Any other token; its spelling is in the head.
  case other

  init(_ name: Span<UInt8>) {
    self = .other
    switch name.count {
    case 3:
      if name.equals("GET") { self = .get } else if name.equals("PUT") { self = .put }
    case 4:
      if name.equals("POST") { self = .post } else if name.equals("HEAD") { self = .head }
    case 5:
      if name.equals("PATCH") { self = .patch } else if name.equals("TRACE") { self = .trace }
    case 6:
      if name.equals("DELETE") { self = .delete }
    case 7:
      if name.equals("OPTIONS") { self = .options } else if name.equals("CONNECT") { self = .connect }
    default: break
    }
  }

  /// True if repeating it has no further effect (RFC 9110 §9.2.2). Of an unknown method that is not known.
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .options, .trace, .put, .delete: true
    default: false
    }
  }
}
