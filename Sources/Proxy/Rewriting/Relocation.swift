// Rewrites a reference into the upstream's own space (`Location`, `Content-Location`) as one into the route's. A caller
// who followed an upstream's own address would bypass the proxy, and come without a token.

internal import Bytes
internal import HTTP
internal import Routing

/// The caller's address, which an upstream that gets the caller's `Host` takes for its own.
struct CallerAddress: ~Escapable {
  /// Empty if the upstream does not get it.
  let host: Span<UInt8>
  /// The scheme that the caller used, as in `X-Forwarded-Proto`.
  let scheme: HTTPScheme

  @_lifetime(copy host)
  init(host: Span<UInt8>, scheme: HTTPScheme) {
    self.host = host
    self.scheme = scheme
  }
}

/// A reference to the upstream for callers: the route's path, then the part behind the upstream's path.
struct Relocation: Sendable, Equatable {
  /// Bytes of the route's path that are written: all, or all but the last slash.
  var prefix: Int
  /// The place in the reference from which it is kept.
  var suffix: Int
  /// True if the result would begin with two slashes, and so with an authority of the upstream's choice (RFC 3986
  /// §4.2). `/.` is written in front, which every reader removes after it has seen that there is no authority (RFC 3986
  /// §5.2.4).
  var isGuarded: Bool

  /// Reads the target of a reference; nil if it is outside the upstream's space, or if a reader could be led out of
  /// that space.
  init?(of reference: Span<UInt8>, route: Route, caller: CallerAddress) {
    guard let path = Self.pathStart(reference, route, caller) else { return nil }
    var end = path
    while end < reference.count, reference[end] != UInt8(ascii: "?"), reference[end] != UInt8(ascii: "#") { end += 1 }
    let base = route.upstreamPath
    let written = reference.extracting(path..<end)
    prefix = route.path.count
    if written.isEmpty, base.count == 1 {
      suffix = end
    } else if written.count >= base.count, equal(written.extracting(first: base.count), base.span) {
      suffix = path + base.count
    } else if base.count > 1, equal(written, base.span.extracting(droppingLast: 1)) {
      // The route accepts its path without the last slash too, for the upstream's without it.
      prefix = max(route.path.count - 1, 1)
      suffix = end
    } else {
      return nil
    }
    isGuarded = prefix == 1 && suffix < end && reference[suffix] == UInt8(ascii: "/")
    if written.isEmpty { return }
    var normal = ByteBuffer(capacity: 256)
    if case .refused = NormalPath.normalise(written, into: &normal, allowing: route.encodedPath) { return nil }
    guard suffix == end || NormalPath.staysBelow(reference.extracting(suffix..<end)) else { return nil }
  }

  func write(_ reference: Span<UInt8>, route: Route, into output: inout ByteBuffer) {
    if isGuarded { output.append("/.") }
    let path = route.path
    output.append(path.span.extracting(first: prefix))
    output.append(reference.extracting(droppingFirst: suffix))
  }

  // The beginning of a reference's path if it has the upstream's authority or none; nil for every other one.
  private static func pathStart(_ reference: Span<UInt8>, _ route: Route, _ caller: CallerAddress) -> Int? {
    let scheme: HTTPScheme
    let start: Int
    if reference.startsIgnoringCase(with: "//") {
      // The scheme is that of the request which the upstream answered (RFC 3986 §5.2.2).
      (scheme, start) = (route.upstreamScheme, 2)
    } else if reference.startsIgnoringCase(with: "http://") {
      (scheme, start) = (.http, 7)
    } else if reference.startsIgnoringCase(with: "https://") {
      (scheme, start) = (.https, 8)
    } else {
      return reference.count > 0 && reference[0] == UInt8(ascii: "/") ? 0 : nil
    }
    var end = start
    while end < reference.count, !isAuthorityEnd(reference[end]) { end += 1 }
    let authority = reference.extracting(start..<end)
    guard let name = HostName(authority) else { return nil }
    let port = name.port ?? scheme.defaultPort
    if scheme == route.upstreamScheme, port == route.upstreamPort, name.names(route.upstreamHost, in: authority) {
      return end
    }
    // A scheme that neither hop used is one that the upstream wants callers to change to: led back to their own, they
    // would repeat for ever.
    guard scheme == caller.scheme || scheme == route.upstreamScheme else { return nil }
    return HostName.areEquivalent(authority, caller.host, scheme: scheme) ? end : nil
  }

  private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }
}
