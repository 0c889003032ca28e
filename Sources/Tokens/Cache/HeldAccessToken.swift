// Owns what an access token's entry says, read with doubt: any library may have written it, and badly.

/// An access token in a cache.
public struct HeldAccessToken: Sendable {
  /// The key it stands under.
  public let key: String
  /// The token.
  public let secret: Secret
  /// The host it belongs to.
  public let environment: String
  /// The tenant it belongs to.
  public let realm: String
  /// What it is for, letter case as written.
  public let scopes: [String]
  /// `ext_cache_key`; nil for a plain token.
  public let isolation: String?
  /// Whether it can be sent as it is to whoever wants a bearer token: no key, no claims, no other token type, nobody else's
  /// assertion behind it.
  public let isPlainBearer: Bool
  /// When it was filed, is to be renewed (where the provider said so), and ends.
  let cachedAt: UnixTime?
  let refreshOn: UnixTime?
  let expiresOn: UnixTime

  /// Reads an entry; nil where it holds no token, no expiry or no scopes.
  init?(key: String, entry: CacheEntry?) {
    guard let entry, let secret = entry.secret, !secret.isEmpty, secret != Self.tombstone,
      let expiresOn = entry.time("expires_on"), let target = entry["target"]
    else { return nil }
    self.key = key
    self.secret = secret
    self.expiresOn = expiresOn
    environment = entry["environment"]?.lowercased() ?? ""
    realm = entry["realm"] ?? ""
    scopes = target.split { $0 == " " || $0 == "\t" || $0 == "\n" }.map(String.init)
    isolation = entry["ext_cache_key"]
    cachedAt = entry.time("cached_at")
    refreshOn = entry.time("refresh_on")
    let marks = ["ext", "key_id", "keyid", "kid", "requested_claims", "user_assertion_hash"]
    let isMarked = marks.contains { entry.members[$0] != nil && entry.members[$0] != .null && entry[$0] != "" }
    let type = entry["token_type"] ?? ""
    isPlainBearer = !isMarked && (type.isEmpty || type.lowercased() == "bearer")
  }

  /// What it is for as a set; nil where somebody wrote what is no scope.
  public var scopeSet: ScopeSet? {
    do throws(ScopeSetError) {
      return try ScopeSet(scopes)
    } catch {
      return nil
    }
  }

  /// What Microsoft's libraries for Apple leave in the place of a deleted token.
  static let tombstone = Secret("<tombstone>")

  /// Its instants. The buffer before the expiry is the one a new token would have got. A token of which nobody wrote down when it
  /// was filed has been there for ever: any later instant could be one that has not come yet.
  /// - Parameter jitter: 0 up to 1.
  public func lifetime(jitter: Double) -> TokenLifetime {
    let obtained = cachedAt ?? UnixTime(0)
    return TokenLifetime(
      expiresIn: max(expiresOn - obtained, 0), refreshIn: refreshOn.map { $0 - obtained }, now: obtained, jitter: jitter
    )
  }
}
