internal import Bytes
internal import Tokens

/// The newest token for each rejection, beside the subscription's own: parts of one API may require different claims,
/// which no single token has. When a rejection is answered again is `RejectionBackoff`'s.
struct ReplacementTokens {
  private var entries: [(rejection: TokenRejection, value: BearerValue)] = []

  /// How many there are.
  var count: Int { entries.count }

  /// Keeps a token for the next requests with the same rejection. Of more than `RejectionBackoff.limit` the oldest
  /// goes.
  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    entries.removeAll { $0.rejection == rejection || !$0.value.isUsable(at: now) }
    if entries.count >= RejectionBackoff.limit { entries.removeFirst() }
    entries.append((rejection, value))
  }

  /// The token that answered a rejection, where it is not the one that is refused now.
  func token(for rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    entries.first { $0.rejection == rejection }.map(\.value).flatMap { value in
      value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
    }
  }

  /// Forgets a token that the API does not accept any more for any request.
  mutating func forget(_ refused: BearerValue) { entries.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens that are not of this account.
  mutating func withdraw(notOf homeAccountID: String?) {
    for entry in entries where entry.value.origin.account?.homeAccountID != homeAccountID { entry.value.withdraw() }
    entries.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
