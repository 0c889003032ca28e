// Owns how an attempt on an upstream connection can end.

internal import Telemetry

extension Relay {
  /// How an attempt ended.
  enum End {
    /// The response was delivered.
    case completed(reusesUpstream: Bool, keepsDownstream: Bool)
    /// Something broke after the caller had got part of the answer, or the caller went away. The fault is the upstream's, where there
    /// is one.
    case aborted(RequestOutcome, UpstreamFault? = nil)
    /// No part of an answer has reached the caller. `mayRepeat`: no part of one has arrived either.
    case unanswered(ExchangeFailure, mayRepeat: Bool)
    /// The upstream refuses the token, and nothing of its answer has reached the caller. The head is held: `run` passes it on.
    case refused
  }
}
