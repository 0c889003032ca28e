internal import Bytes
internal import Tokens

/// The newest token that an API's complaint was answered with, beside the subscription's own: parts of one API may ask
/// for different proofs, which no single token has. When a complaint is answered anew is `ComplaintMemory`'s.
struct ReplacementTokens {
  private var entries: [(complaint: Complaint, value: BearerValue)] = []

  /// How many there are.
  var count: Int { entries.count }

  /// Keeps a token for the next requests with the same complaint. Of more than `ComplaintMemory.limit` the oldest goes.
  mutating func keep(_ value: BearerValue, for complaint: Complaint, now: UnixTime) {
    entries.removeAll { $0.complaint == complaint || !$0.value.isUsable(at: now) }
    if entries.count >= ComplaintMemory.limit { entries.removeFirst() }
    entries.append((complaint, value))
  }

  /// The token that answered a complaint, where it is not the one that is complained of now.
  func token(for complaint: Complaint, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    entries.first { $0.complaint == complaint }.map(\.value).flatMap { value in
      value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
    }
  }

  /// Forgets a token that the API takes no longer, whatever it is asked to prove.
  mutating func forget(_ refused: BearerValue) { entries.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens that are not of this account.
  mutating func withdraw(notOf homeAccountID: String?) {
    for entry in entries where entry.value.origin.account?.homeAccountID != homeAccountID { entry.value.withdraw() }
    entries.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
