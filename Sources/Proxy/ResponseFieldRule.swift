// Owns which of an upstream's response fields callers do not get as they are: places in the upstream's own space become places of
// the proxy, and a field that repeats the token is left out.

internal import HTTP
internal import Identity

/// What happens to one field line of a response, as far as the route decides it.
enum ResponseFieldRule: Sendable, Equatable {
  /// It passes.
  case pass
  /// It is left out.
  case drop
  /// Its value becomes the route's path and what stands behind this offset.
  case relocate(suffix: Int)

  /// Decides about a line of an answer to a request that carried `bearer`.
  init(_ line: FieldLine, _ bytes: Span<UInt8>, route: Route, bearer: BearerValue?) {
    if Self.repeats(bearer, line, bytes) {
      self = .drop
      return
    }
    switch line.known {
    case .location, .contentLocation:
      let value = bytes.extracting(line.value)
      self = Self.suffix(of: value, route).map { .relocate(suffix: $0) } ?? .pass
    default: self = .pass
    }
  }

  /// Where in a reference the part behind the upstream's path begins; nil for one that leads elsewhere, or that could be read to
  /// lead out of that path. Callers who followed an absolute one would go past the proxy, and come without a token.
  static func suffix(of reference: Span<UInt8>, _ route: Route) -> Int? {
    var path = 0
    for origin in route.upstreamOrigins where reference.count > origin.count {
      if reference.extracting(first: origin.count).equalsIgnoringCase(origin.span) { path = max(path, origin.count) }
    }
    // Of two slashes at the beginning, an authority follows (RFC 3986 §4.2).
    guard path < reference.count, reference[path] == UInt8(ascii: "/"),
      path > 0 || reference.count == 1 || reference[1] != UInt8(ascii: "/")
    else { return nil }
    let base = route.upstreamPath
    let rest = reference.extracting(droppingFirst: path)
    guard rest.count >= base.count, equal(rest.extracting(first: base.count), base.span) else { return nil }
    let suffix = rest.extracting(droppingFirst: base.count)
    var end = 0
    while end < suffix.count, suffix[end] != UInt8(ascii: "?"), suffix[end] != UInt8(ascii: "#") { end += 1 }
    var normal = ByteBuffer(capacity: 256)
    if case .refused = NormalPath.normalise(rest.extracting(first: base.count + end), into: &normal) { return nil }
    return NormalPath.staysBelow(suffix.extracting(first: end)) ? path + base.count : nil
  }

  /// Whether a line has the token in its name or value.
  static func repeats(_ bearer: BearerValue?, _ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    guard let bearer else { return false }
    return repeats(bearer, bytes.extracting(line.value)) || repeats(bearer, bytes.extracting(line.name))
  }

  /// Whether a text has the token in it. Nearly every value is shorter than a token.
  static func repeats(_ bearer: BearerValue, _ value: Span<UInt8>) -> Bool {
    let token = bearer.bytes.extracting(droppingFirst: "Bearer ".utf8.count)
    guard !token.isEmpty, value.count >= token.count else { return false }
    for start in 0...(value.count - token.count)
    where value[start] == token[0] && equal(value.extracting(start..<(start + token.count)), token) { return true }
    return false
  }
}
