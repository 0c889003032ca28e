// What an access token's entry says, read with doubt: any library may have written it, and badly.

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

/// A refresh token in a cache.
package struct HeldRefreshToken: Sendable {
  /// The key of its entry; other libraries may make keys differently.
  package let key: String
  /// The token.
  package let secret: Secret
  /// The host it belongs to, and is redeemed at.
  package let environment: String
  /// The application that it was issued to.
  package let clientID: String?
  /// The family of applications that may redeem it.
  package let familyID: String?
  /// What its sign-in was granted; nil where its library does not say.
  package let granted: ScopeSet?
  /// The issuer it came from, where several share a host (`ext_cache_key`); nil where its library does not say.
  package let isolation: String?
  /// The key of the entry that this one is a copy of (`CacheDocument.adopt`).
  let copiedFrom: String?
  /// When it was written; 0 where its library does not say.
  package let modifiedAt: UnixTime

  /// Reads an entry; nil where it holds no token.
  init?(key: String, entry: CacheEntry?) {
    guard let entry, let secret = entry.secret, !secret.isEmpty, secret != HeldAccessToken.tombstone else { return nil }
    let fields = entry.fields
    self.key = key
    self.secret = secret
    environment = fields.lowercased(.environment) ?? ""
    clientID = fields[.clientID]
    familyID = fields[.familyID].flatMap { $0.isEmpty ? nil : $0 }
    granted = Self.scopes(fields[.target])
    isolation = fields[.isolation]
    copiedFrom = fields[.copiedFrom]
    modifiedAt = fields.time(.modifiedAt) ?? UnixTime(0)
  }

  private static func scopes(_ target: String?) -> ScopeSet? {
    guard let target else { return nil }
    do throws(ScopeSetError) {
      let scopes = try ScopeSet(parameter: target)
      return scopes.isEmpty ? nil : scopes
    } catch {
      return nil
    }
  }

  /// The newest first; keys decide between equals, so that every process tries them in one order.
  static func isTriedBefore(_ left: HeldRefreshToken, _ right: HeldRefreshToken) -> Bool {
    left.modifiedAt != right.modifiedAt ? left.modifiedAt > right.modifiedAt : left.key < right.key
  }
}
