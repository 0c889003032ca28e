// Owns which of an upstream's response fields callers do not get as they are: places in the upstream's own space become
// places of the proxy, and a field that repeats the token is left out.

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
  init(_ line: FieldLine, _ bytes: Span<UInt8>, route: Route, callerHost: Span<UInt8>, bearer: BearerValue?) {
    if Self.repeats(bearer, line, bytes) {
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
