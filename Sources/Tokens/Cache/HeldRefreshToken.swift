// Owns what a refresh token's entry says, and which of several is tried first.

package import Bytes

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
