// Owns how a refusal is counted and recorded.

internal import Routing
internal import Telemetry
internal import Tokens

extension RecordedChallenge {
  /// The word for a kind.
  init(_ kind: ChallengeKind) {
    self =
      switch kind {
      case .none: .none
      case .claims: .claims
      case .invalidToken: .invalidToken
      case .unexplained: .unexplained
      case .insufficientScope: .insufficientScope
      case .stepUp: .stepUp
      case .other: .other
      case .unusable: .unusable
      }
  }
}

extension Exchange {
  /// Counts and records a refusal and what became of it.
  mutating func note(_ challenge: RecordedChallenge, _ outcome: ChallengeOutcome) {
    state.metrics.add(state.service.metrics.challenges[Int(challenge.rawValue), Int(outcome.rawValue)])
    record.challenge = challenge
    record.challengeOutcome = outcome
  }
}
