// Owns which fields of an upstream's answer would speak for the whole origin of the listener: for every other route,
// and for the sign-in pages. Browsers know one origin, the listener's, where there are many services.

internal import Bytes
internal import HTTP
internal import Identity
internal import Routing

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
    guard line.known == .setCookie, !ResponseFieldRule.repeats(bearer, line, bytes) else { return }
    UpstreamCookie.write(bytes.extracting(line.value), route: route, into: &output)
  }
}
