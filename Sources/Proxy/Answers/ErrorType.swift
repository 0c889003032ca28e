// What went wrong as the attribute error.type says it: few words, and the same whatever the host.

internal import HTTP
internal import HTTPClient
internal import Platform
internal import Telemetry

extension ExchangeFailure {
  /// What kept an upstream from answering; other failures by the kind that their answer names.
  var errorType: String {
    upstreamFault.map { "\($0.word)" } ?? "\(ProblemDocument(self).type.word)"
  }
}

extension ExchangeState.Ending {
  /// What was wrong with an attempt; nil where its answer tells.
  var errorType: String? {
    switch self {
    case .completed, .goingAway: nil
    case .failed(let failure): failure.errorType
    case .interrupted(.timedOut(.some(let fault))), .interrupted(.upstreamBroke(.some(let fault))): "\(fault.word)"
    case .interrupted(.callerLeft): "aborted_by_downstream"
    case .interrupted(.timedOut), .interrupted(.callerTooSlow): "timed_out"
    case .interrupted(.contentRefused), .interrupted(.upstreamBroke): "broken_off"
    }
  }
}

extension DeliveryFailure {
  var errorType: String { ExchangeFailure.delivery(self).errorType }
}
