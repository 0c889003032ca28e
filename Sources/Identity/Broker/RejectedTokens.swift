internal import Bytes
internal import Tokens

/// The rejections that were answered recently, and the tokens that answered them.
struct RejectedTokens {
  private var backoff = RejectionBackoff()
  private var replacements = ReplacementTokens()

  /// True if a rejection is to be answered now, which is then remembered.
  mutating func admits(_ rejection: TokenRejection, now: UnixTime) -> Bool { backoff.admits(rejection, now: now) }

  /// True if a rejection was answered so recently that it may be of a token from before.
  func knows(_ rejection: TokenRejection, now: UnixTime) -> Bool { backoff.knows(rejection, now: now) }

  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    replacements.keep(value, for: rejection, now: now)
  }

  /// The token that the same rejection brought a moment ago, if it is not the one that is refused now.
  func answer(to rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    knows(rejection, now: now) ? replacements.token(for: rejection, besides: refused, now: now) : nil
  }

  /// True if a token is the one that a rejection brought.
  func isAnswer(_ value: BearerValue, to rejection: TokenRejection) -> Bool {
    replacements.isAnswer(value, to: rejection)
  }

  mutating func forget(_ refused: BearerValue) { replacements.forget(refused) }

  mutating func withdraw(notOf homeAccountID: String?) { replacements.withdraw(notOf: homeAccountID) }
}

/// The newest token for each rejection, beside the subscription's own: parts of one API may require different claims,
/// which no single token has. `RejectionBackoff` decides when a rejection is answered again.
struct ReplacementTokens {
  private var entries: [(rejection: TokenRejection, value: BearerValue)] = []

  var count: Int { entries.count }

  /// Keeps a token for the next requests with the same rejection. Of more than `RejectionBackoff.limit` the oldest
  /// goes.
  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    entries.removeAll { $0.rejection == rejection || !$0.value.isUsable(at: now) }
    if entries.count >= RejectionBackoff.limit { entries.removeFirst() }
    entries.append((rejection, value))
  }

  /// The token that answered a rejection, if it is not the one that is refused now.
  func token(for rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    entries.first { $0.rejection == rejection }.map(\.value).flatMap { value in
      value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
    }
  }

  func isAnswer(_ value: BearerValue, to rejection: TokenRejection) -> Bool {
    entries.contains { $0.rejection == rejection && $0.value.token == value.token }
  }

  /// Forgets a token that the API no longer accepts for any request.
  mutating func forget(_ refused: BearerValue) { entries.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens of other accounts.
  mutating func withdraw(notOf homeAccountID: String?) {
    for entry in entries where entry.value.origin.account?.homeAccountID != homeAccountID { entry.value.withdraw() }
    entries.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
