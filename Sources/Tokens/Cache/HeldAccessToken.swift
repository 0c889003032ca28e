// Owns what an access token's entry says, read with doubt: any library may have written it, and badly.

package import Bytes

/// An access token in a cache.
package struct HeldAccessToken: Sendable {
  /// The key it stands under.
  package let key: String
  /// The token.
  package let secret: Secret
  /// The host it belongs to.
  package let environment: String
  /// The tenant it belongs to.
  package let realm: String
  /// What it is for, letter case as written.
  package let scopes: [String]
  /// `ext_cache_key`; nil for a plain token.
  package let isolation: String?
  /// Whether it is a plain bearer token: bound to no key, requested without claims, of no other token type, and not
  /// obtained with a person's assertion.
  package let isPlainBearer: Bool
  /// When it was filed, is to be renewed (where the provider said so), and ends.
  let cachedAt: UnixTime?
  let refreshOn: UnixTime?
  let expiresOn: UnixTime

  /// Reads an entry; nil where it holds no token, no expiry or no scopes.
  init?(key: String, entry: CacheEntry?) {
    guard let entry else { return nil }
    let fields = entry.fields
    guard let expiresOn = fields.time(.expiresOn), let target = fields[.target],
      let secret = entry.secret, !secret.isEmpty, secret != Self.tombstone
    else { return nil }
    self.key = key
    self.secret = secret
    self.expiresOn = expiresOn
    environment = fields.lowercased(.environment) ?? ""
    realm = fields[.realm] ?? ""
    scopes = target.split { $0 == " " || $0 == "\t" || $0 == "\n" }.map(String.init)
    isolation = fields[.isolation]
    cachedAt = fields.time(.cachedAt)
    refreshOn = fields.time(.refreshOn)
    let type = fields[.tokenType] ?? ""
    isPlainBearer =
      !CacheMember.marks.contains(where: fields.saysAnything) && (type.isEmpty || type.lowercased() == "bearer")
  }

  /// What it is for as a set; nil where the text is not a scope set.
  package var scopeSet: ScopeSet? {
    do throws(ScopeSetError) {
      return try ScopeSet(scopes)
    } catch {
      return nil
    }
  }

  /// What Microsoft's libraries for Apple leave in the place of a deleted token.
  static let tombstone = Secret("<tombstone>")

  /// Its instants. The buffer before the expiry is the one a new token would have got. A token without the time of its
  /// filing counts as filed at 0: any later instant could lie in the future.
  /// - Parameter jitter: 0 up to 1.
  package func lifetime(jitter: Double) -> TokenLifetime {
    let obtained = cachedAt ?? UnixTime(0)
    return TokenLifetime(
      expiresIn: max(expiresOn - obtained, 0), refreshIn: refreshOn.map { $0 - obtained }, now: obtained, jitter: jitter
    )
  }
}
