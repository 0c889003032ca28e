// Access and refresh tokens of a cache, read with doubt: any library may have written them, and badly.

package import Bytes

package struct HeldAccessToken: Sendable {
  package let key: String
  package let secret: Secret
  package let environment: String
  package let realm: String
  /// Its scopes, letter case as written.
  package let scopes: [String]
  /// `ext_cache_key`; nil for a plain token.
  package let isolation: String?
  /// True if it is a plain bearer token: not bound, and not obtained with claims or an assertion.
  package let isPlainBearer: Bool
  /// The times of storing, of renewal (if the provider named one), and of its end.
  let cachedAt: UnixTime?
  let refreshOn: UnixTime?
  let expiresOn: UnixTime

  /// Reads an entry; nil if it holds no token, no expiry or no scopes.
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

  /// Its scopes as a set; nil if the text is not a scope set.
  package var scopeSet: ScopeSet? {
    ScopeSet(ifValid: scopes)
  }

  /// The value that Microsoft's libraries for Apple leave in place of a deleted token.
  static let tombstone = Secret("<tombstone>")

  /// Its instants. The buffer before the expiry is that of a new token. A token without a time of storing counts as
  /// stored at 0: any later instant could be in the future.
  package func lifetime(jitter: Double) -> TokenLifetime {
    let obtained = cachedAt ?? UnixTime(0)
    return TokenLifetime(
      expiresIn: max(expiresOn - obtained, 0), refreshIn: refreshOn.map { $0 - obtained }, now: obtained, jitter: jitter
    )
  }
}

package struct HeldRefreshToken: Sendable {
  /// The key of its entry; other libraries may make keys differently.
  package let key: String
  package let secret: Secret
  /// The host that redeems it.
  package let environment: String
  /// The application that it was issued to.
  package let clientID: String?
  /// The scopes granted at its sign-in; nil if its library does not store them.
  package let granted: ScopeSet?
  /// Its issuer, if several share a host (`ext_cache_key`); nil if its library does not store it.
  package let isolation: String?
  /// The key of the entry that this one is a copy of (`CacheDocument.adopt`).
  let copiedFrom: String?
  /// The time of its writing; 0 if its library does not store it.
  package let modifiedAt: UnixTime

  /// Reads an entry; nil if it holds no token.
  init?(key: String, entry: CacheEntry?) {
    guard let entry, let secret = entry.secret, !secret.isEmpty, secret != HeldAccessToken.tombstone else { return nil }
    let fields = entry.fields
    self.key = key
    self.secret = secret
    environment = fields.lowercased(.environment) ?? ""
    clientID = fields[.clientID]
    granted = ScopeSet(named: fields[.target])
    isolation = fields[.isolation]
    copiedFrom = fields[.copiedFrom]
    modifiedAt = fields.time(.modifiedAt) ?? UnixTime(0)
  }

  /// Orders the newest first; keys decide between equals, so that every process tries them in one order.
  static func isTriedBefore(_ left: HeldRefreshToken, _ right: HeldRefreshToken) -> Bool {
    left.modifiedAt != right.modifiedAt ? left.modifiedAt > right.modifiedAt : left.key < right.key
  }
}
