internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry

/// The reason why the proxy itself answers a request.
enum ExchangeFailure: Error {
  /// The request head is not acceptable HTTP.
  case head(RequestHeadError)
  /// The caller did not finish its request head in time.
  case headStalled
  case framing(FramingError)
  case path(PathError)
  /// CONNECT or TRACE.
  case methodRefused
  /// An extended CONNECT (RFC 8441) for another protocol than WebSocket, or to a route without WebSockets.
  case tunnelRefused
  /// A target that is not for a gateway: `*`.
  case targetRefused
  /// An `https:` target on a connection without TLS (RFC 9110 §7.4).
  case schemeRefused
  /// An expectation other than `100-continue` (RFC 9110 §10.1.1).
  case expectation
  /// `Max-Forwards` of an OPTIONS request is repeated or no number, so that it cannot be counted down (RFC 9110
  /// §7.6.2).
  case maxForwards
  /// `grpc-timeout` of a gRPC call is repeated or has another form.
  case callTimeout
  case caller(CallerRefusal)
  /// The keys of callers' tokens cannot be fetched.
  case callerIssuerUnavailable
  /// The caller sent an `Authorization` of its own to a route that rejects it.
  case authorizationRefused
  /// The field by which the route lets callers pick a token has a value that the route does not list.
  case choiceRefused
  /// The request has passed this process before (RFC 9110 §7.6.3, RFC 8586).
  case loop
  /// The request names no hop and nothing else, and so do as many others in progress as a loop would produce.
  case suspectedLoop
  case noRoute
  case methodNotAllowed
  case token(AcquisitionError)
  /// A request for a token that is not acceptable.
  case handOut(HandOutRefusal)
  /// A program's request for a token that is not answered with one.
  case program(ProgramRefusal)
  /// The upstream has refused a token that was handed out, with this status, and no other one can be had silently.
  case refusedToken(status: Int)
  /// No connection to the upstream.
  case unreachable(UpstreamError)
  case delivery(DeliveryFailure)
}

extension ExchangeFailure {
  var outcome: RequestOutcome {
    switch self {
    case .headStalled, .unreachable(.timedOut), .delivery(.contentStalled), .delivery(.contentTooSlow),
      .delivery(.upstreamStalled), .delivery(.exchangeTimedOut):
      .timedOut
    case .unreachable, .delivery(.upstreamClosed), .delivery(.upstreamMalformed): .upstreamFailed
    default: .answeredByProxy
    }
  }

  /// True if the caller's next request on the connection can be trusted.
  var leavesConnectionUsable: Bool {
    switch self {
    case .tunnelRefused, .schemeRefused, .loop, .suspectedLoop, .noRoute, .methodNotAllowed, .authorizationRefused,
      .choiceRefused, .token, .handOut, .program, .refusedToken, .unreachable,
      .delivery(.upstreamClosed), .delivery(.upstreamMalformed), .delivery(.upstreamStalled),
      .delivery(.exchangeTimedOut):
      true
    default: false
    }
  }
}

/// The reason why a request or its answer was not delivered.
enum DeliveryFailure: Equatable {
  case tooLarge
  /// The content's chunked coding or trailer section is broken.
  case content
  /// The caller ended its direction before the content was complete.
  case contentCut
  /// The caller stopped sending in the middle of the content.
  case contentStalled
  /// The caller sends its content below the rate limit.
  case contentTooSlow
  /// The upstream closed or reset the connection before it had answered.
  case upstreamClosed
  /// The upstream's answer is not acceptable HTTP, or switches to a protocol that was not asked for.
  case upstreamMalformed(UpstreamFault)
  /// The upstream did not answer, or did not read, in time.
  case upstreamStalled
  case exchangeTimedOut
}

extension ExchangeFailure {
  /// The upstream's fault; for other failures the type of their answer.
  var errorType: String {
    upstreamFault?.rawValue ?? ProblemDocument(self).type.rawValue
  }
}
