// Owns the words for what went wrong, as the attribute error.type has them: few, and the same whatever the host.

internal import HTTP
internal import HTTPClient
internal import Network
internal import Telemetry

extension ExchangeFailure {
  /// What kept an upstream from answering; other failures by the kind that their answer names.
  var errorType: String {
    upstreamFault.map { "\($0.word)" } ?? ProblemDocument(self).kind
  }
}

extension Relay.End {
  /// What was wrong with an attempt; nil where its answer tells.
  var errorType: String? {
    switch self {
    case .completed, .refused: nil
    case .unanswered(let failure, _): failure.errorType
    case .aborted(_, .some(let fault)): "\(fault.word)"
    case .aborted(.abortedByDownstream, _): "aborted_by_downstream"
    case .aborted(.timedOut, _): "timed_out"
    case .aborted: "broken_off"
    }
  }
}
