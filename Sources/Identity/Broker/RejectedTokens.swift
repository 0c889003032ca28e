internal import Bytes
internal import Tokens

/// The rejections that were answered recently, and the newest token for each, beside the subscription's own: parts of
/// one API may require different claims, which no single token has.
struct RejectedTokens {
  private var backoff = RejectionBackoff()
  private var answers: [(rejection: TokenRejection, value: BearerValue)] = []

  /// True if a rejection is to be answered now, which is then remembered.
  mutating func admits(_ rejection: TokenRejection, now: UnixTime) -> Bool { backoff.admits(rejection, now: now) }

  /// Keeps a token for the next requests with the same rejection. Of too many the oldest goes.
  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    answers.removeAll { $0.rejection == rejection || !$0.value.isUsable(at: now) }
    if answers.count >= RejectionBackoff.limit { answers.removeFirst() }
    answers.append((rejection, value))
  }

  /// The token that the same rejection brought a moment ago, if it is not the one that is refused now.
  func answer(to rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    guard backoff.knows(rejection, now: now), let value = answers.first(where: { $0.rejection == rejection })?.value
    else { return nil }
    return value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
  }

  func isAnswer(_ value: BearerValue, to rejection: TokenRejection) -> Bool {
    answers.contains { $0.rejection == rejection && $0.value.token == value.token }
  }

  /// Forgets a token that the API no longer accepts for any request.
  mutating func forget(_ refused: BearerValue) { answers.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens of other accounts.
  mutating func withdraw(notOf homeAccountID: String?) {
    for answer in answers where answer.value.origin.account?.homeAccountID != homeAccountID { answer.value.withdraw() }
    answers.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
