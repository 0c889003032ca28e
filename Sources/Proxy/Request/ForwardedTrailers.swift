// Which trailer fields of one message are forwarded. What holds for every message is `TrailerRule`'s.

internal import Bytes
internal import HTTP
internal import Routing

/// What one message's trailer section must not carry on. What ends here in a head ends here in trailers, too: many
/// upstreams read both alike.
struct ForwardedTrailers {
  /// Names that the head nominated to end here.
  var nominations: Nominations?
  /// The tokens that the upstream was sent; of an answer.
  var credential = RequestCredential.none
  /// The listener's rules, whose proofs stay here; of a request.
  var callers: CallerCheck?
  /// The route, whose choice of a token stays here; of a request.
  var route: Route?

  func forwards(_ line: FieldLine, in bytes: Span<UInt8>) -> Bool {
    TrailerRule.forwards(line, nominations, in: bytes) && !credential.isRepeated(by: line, bytes)
      && callers?.rules.consumes(line, bytes) != true && route?.choice?.consumes(line, bytes) != true
  }
}
