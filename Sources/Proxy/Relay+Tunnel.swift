// Owns what a relay does when both sides have agreed on another protocol than HTTP.

internal import HTTP
internal import HTTPClient
internal import Network
internal import Telemetry

extension Relay {
  /// Answers with the switch of protocols that was asked for; from there on both directions are moved as they come.
  mutating func switchProtocols(_ byteCount: Int) -> ResponseStep? {
    let isAgreed = scratch.responseInput.withBytes { WebSocketUpgrade.isAgreed(scratch.responseParser.head, $0) }
    guard admission.asksForWebSocket, isAgreed else {
      return .failed(.unanswered(.upstreamMalformed(.unaskedSwitch), mayRepeat: false))
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
    request = .webSocket
    response = .webSocket
    isRequestSent = false
    isTunnel = true
    connection.isTunnel = true
    closesDownstream = true
    // Another round, in which the caller is watched too.
    return .tookItsTurn
  }

  /// Ends a tunnel that has been silent for too long, or that the end of the process cuts off: neither is a failure.
  func tunnelEnded() -> End {
    sayGoingAway()
    return .completed(reusesUpstream: false, keepsDownstream: false)
  }

  /// Says to both sides of a WebSocket that it ends (status 1001, RFC 6455 §7.4.1). What a side does not take at once it does not
  /// get: the connection's end follows.
  @inline(never)
  private func sayGoingAway() {
    if !isResponseSent, response?.takesFrame == true, scratch.responseOutput.isEmpty {
      WebSocketFrames.writeGoingAway(mask: nil, into: &scratch.responseOutput)
      _ = scratch.responseOutput.send(to: downstream)
    }
    if !isRequestSent, request.takesFrame, scratch.requestOutput.isEmpty {
      let mask = UInt32(truncatingIfNeeded: connection.state.clock.nextRandom())
      WebSocketFrames.writeGoingAway(mask: mask, into: &scratch.requestOutput)
      _ = scratch.requestOutput.send(to: upstream)
    }
  }
}
