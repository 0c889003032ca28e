// Owns the labels under which refusals are counted.

internal import Routing
internal import Tokens

/// What became of a refusal.
enum ChallengeOutcome: Int, CaseIterable {
  /// Another token was obtained, and the request sent once more.
  case replayed
  /// Another token was asked for, for the next request: this one could not be sent again.
  case renewedBehind
  /// The same complaint was answered a moment ago.
  case alreadyAnswered
  /// Silence brought no other token.
  case notObtained
  /// The request had been sent twice already.
  case refusedAgain
  /// Nothing was to be done about it.
  case passedOn
  /// The proxy's own answer said what is needed.
  case answered

  var label: String {
    switch self {
    case .replayed: "replayed"
    case .renewedBehind: "renewed_behind"
    case .alreadyAnswered: "already_answered"
    case .notObtained: "not_obtained"
    case .refusedAgain: "refused_again"
    case .passedOn: "passed_on"
    case .answered: "answered"
    }
  }
}

/// The label values of `bearer_proxy_challenges_total`, by position.
enum ChallengeRecord {
  /// The kinds of upstreams' refusals, and the provider's.
  static let kinds = ChallengeKind.allCases.map(\.rawValue) + ["interaction_required"]
  static let outcomes = ChallengeOutcome.allCases.map(\.label)

  /// The position of a kind; nil is the provider's.
  static func row(_ kind: ChallengeKind?) -> Int {
    kind.flatMap { ChallengeKind.allCases.firstIndex(of: $0) } ?? ChallengeKind.allCases.count
  }
}
