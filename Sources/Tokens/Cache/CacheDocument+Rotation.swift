// What happens to a refresh token after it was redeemed: it is replaced in its place, or dropped where the provider
// rejected it. Neither happens where another process was faster.

package import Bytes

extension CacheDocument {
  /// Replaces a redeemed refresh token under the key where it was found, and under every other key that holds the same
  /// one.
  ///
  /// An entry that holds another token by now was rotated by another process. It is left alone unless it says that it
  /// was written before this token arrived. An entry that is gone was signed out, and stays gone.
  /// - Parameters:
  ///   - obtainedAt: when the reply arrived, which may be long before it is filed.
  ///   - issuer: where several issuers may share a host, which one it was. An entry that does not say whose it is, or
  ///     says that it is another's, may have been written by a sign-in elsewhere.
  package mutating func rotate(
    _ redeemed: HeldRefreshToken, to token: Secret, obtainedAt: UnixTime, of issuer: String? = nil
  ) {
    for (key, entry) in self[.refreshToken] where key == redeemed.key || entry.holds(redeemed.secret) {
      guard let held = HeldRefreshToken(key: key, entry: entry) else { continue }
      let isOlder =
        held.modifiedAt > UnixTime(0) && held.modifiedAt < obtainedAt
        && (issuer == nil || held.isolation == issuer)
      guard held.secret == redeemed.secret || (key == redeemed.key && isOlder) else { continue }
      var rotated = entry
      rotated.secret = token
      rotated.members["last_modification_time"] = .time(max(held.modifiedAt, obtainedAt))
      set(.refreshToken, key, rotated)
    }
  }

  /// Drops a refresh token that the provider condemned (`bad_token`), wherever a copy of it stands. What has taken its
  /// place meanwhile stays.
  package mutating func drop(_ condemned: HeldRefreshToken) {
    for (key, entry) in self[.refreshToken] where entry.holds(condemned.secret) { remove(.refreshToken, key) }
  }
}
