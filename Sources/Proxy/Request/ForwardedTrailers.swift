// The trailer fields of one message that are forwarded. `TrailerRule` has the rules for every message.

internal import Bytes
internal import HTTP
internal import Routing

/// The fields that one message's trailer section must not carry on. Fields that end here in a head end here in
/// trailers, too: many upstreams read both alike.
struct ForwardedTrailers {
  /// Names that the head nominated to end here.
  var nominations: Nominations?
  /// The tokens that were sent to the upstream; for an answer.
  var credential = RequestCredential.none
  /// The listener's rules, whose proofs are not forwarded; for a request.
  var callers: CallerCheck?
  /// The route, whose own fields are not forwarded; for a request.
  var route: Route?

  func forwards(_ line: FieldLine, in bytes: Span<UInt8>) -> Bool {
    TrailerRule.forwards(line, nominations, in: bytes) && !credential.isRepeated(by: line, bytes)
      && callers?.rules.consumes(line, bytes) != true && route?.consumes(line, bytes) != true
  }
}
