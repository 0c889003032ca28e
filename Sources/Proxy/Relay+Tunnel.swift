// Owns what a relay does when both sides have agreed on another protocol than HTTP.

internal import HTTP
internal import Network

extension Relay {
  /// Answers with the switch of protocols that was asked for; from there on both directions are moved as they come.
  mutating func switchProtocols(_ byteCount: Int) -> ResponseStep? {
    let isAgreed = scratch.responseInput.withBytes { WebSocketUpgrade.isAgreed(scratch.responseParser.head, $0) }
    guard admission.asksForWebSocket, isAgreed else {
      return .failed(.unanswered(.upstreamMalformed, mayRepeat: false))
    }
    status = 101
    if answeredAt == nil { answeredAt = connection.state.loop.now }
    scratch.responseInput.withBytes {
      ResponseRewriting.writeSwitch(
        scratch.responseParser.head, $0, route: admission.route, bearer: bearer, into: &scratch.responseOutput)
    }
    scratch.responseInput.consume(byteCount)
    // Behind the head may stand what the caller sent in the belief that the upstream agrees.
    scratch.requestInput.consume(headBytes)
    request = BodyPump(.untilClose, writesChunks: false)
    response = BodyPump(.untilClose, writesChunks: false)
    isRequestSent = false
    isTunnel = true
    closesDownstream = true
    // Another round, in which the caller is watched too.
    return .tookItsTurn
  }
}
