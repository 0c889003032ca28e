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
      if Self.spells(name, "GET") { self = .get } else if Self.spells(name, "PUT") { self = .put }
    case 4:
      if Self.spells(name, "POST") { self = .post } else if Self.spells(name, "HEAD") { self = .head }
    case 5:
      if Self.spells(name, "PATCH") { self = .patch } else if Self.spells(name, "TRACE") { self = .trace }
    case 6:
      if Self.spells(name, "DELETE") { self = .delete }
    case 7:
      if Self.spells(name, "OPTIONS") { self = .options } else if Self.spells(name, "CONNECT") { self = .connect }
    default: break
    }
  }

  private static func spells(_ name: Span<UInt8>, _ literal: StaticString) -> Bool {
    for index in 0..<name.count where unsafe name[index] != literal.utf8Start[index] { return false }
    return true
  }

  /// True if repeating it has no further effect (RFC 9110 §9.2.2). Of an unknown method that is not known.
  public var isIdempotent: Bool {
    switch self {
    case .get, .head, .options, .trace, .put, .delete: true
    default: false
    }
  }
}
