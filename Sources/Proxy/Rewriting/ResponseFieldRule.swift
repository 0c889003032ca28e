// Which of an upstream's response fields callers do not get as they are: places in the upstream's own space become
// places of the proxy, and a field that repeats the token is left out.

internal import Bytes
internal import HTTP
internal import Identity
internal import Routing

/// What happens to one field line of a response, as far as the route decides it.
enum ResponseFieldRule: Sendable, Equatable {
  /// It passes.
  case pass
  /// It is left out.
  case drop
  /// Its value is a reference to the upstream's own space, and becomes one to the route's.
  case relocate(Relocation)

  /// Decides about a line of an answer to a request that carried `bearer`, and `callerHost` where the route preserves
  /// that.
  init(_ line: FieldLine, _ bytes: Span<UInt8>, route: Route, callerHost: Span<UInt8>, bearer: borrowing BearerValue?) {
    if bearer.isRepeated(by: line, bytes) {
      self = .drop
      return
    }
    switch line.known {
    case .location, .contentLocation:
      let value = bytes.extracting(line.value)
      if let place = Relocation(of: value, route: route, callerHost: callerHost) {
        self = .relocate(place)
      } else {
        self = .pass
      }
    default: self = .pass
    }
  }
}

/// Fields by which a server disposes of its origin.
enum OriginClaim {
  /// What becomes of these is decided here: cookies are confined to their route, the others are left out. Caches and
  /// cookies that are cleared, TLS that is demanded, other places and reports for the origin, a worker's reach, hints
  /// that every request brings, who is signed in: an upstream says all of this of its own origin, which browsers never
  /// see.
  static var names: FieldNameSet {
    FieldNameSet(.setCookie).with(.serviceWorkerAllowed).with(.clearSiteData).with(.strictTransportSecurity)
      .with(.altSvc).with(.nel).with(.reportTo).with(.reportingEndpoints).with(.acceptCH).with(.setLogin)
      .with(.secureSessionRegistration)
  }

  /// Writes what callers get of such a line, if anything.
  @inline(never)
  static func write(
    _ line: FieldLine, _ bytes: Span<UInt8>, route: Route, bearer: BearerValue?, into output: inout ByteBuffer
  ) {
    guard line.known == .setCookie, !bearer.isRepeated(by: line, bytes) else { return }
    UpstreamCookie.write(bytes.extracting(line.value), route: route, into: &output)
  }
}
