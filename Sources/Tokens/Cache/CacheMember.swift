/// A member of an entry that this library understands. Its raw value is its place in tables.
enum CacheMember: Int {
  case secret, clientID, homeAccountID, environment, realm, target, username, localAccountID, familyID, tokenType
  case cachedAt, expiresOn, refreshOn, modifiedAt, isolation, ext, keyID, keyid, kid, claims, assertion, name
  case copiedFrom

  private static let names = [
    "secret", "client_id", "home_account_id", "environment", "realm", "target", "username", "local_account_id",
    "family_id", "token_type", "cached_at", "expires_on", "refresh_on", "last_modification_time", "ext_cache_key",
    "ext", "key_id", "keyid", "kid", "requested_claims", "user_assertion_hash", "name", "copied_from",
  ]

  /// Its name in an entry.
  var text: String { Self.names[rawValue] }

  /// Members of tokens that are not plain (`HeldAccessToken.isPlainBearer`).
  static let marks: [CacheMember] = [.ext, .keyID, .keyid, .kid, .claims, .assertion]

  /// The member of a name in a text; nil for one that is not read.
  @inline(__always)
  init?(_ bytes: Span<UInt8>, _ name: Range<Int>) {
    func reads(_ text: StaticString) -> Bool {
      for index in 0..<name.count {
        guard unsafe bytes[name.lowerBound + index] == text.utf8Start[index] else { return false }
      }
      return true
    }
    // The number of bytes separates most names.
    switch name.count {
    case 3 where reads("ext"): self = .ext
    case 3 where reads("kid"): self = .kid
    case 4 where reads("name"): self = .name
    case 5 where reads("realm"): self = .realm
    case 5 where reads("keyid"): self = .keyid
    case 6 where reads("secret"): self = .secret
    case 6 where reads("target"): self = .target
    case 6 where reads("key_id"): self = .keyID
    case 8 where reads("username"): self = .username
    case 9 where reads("client_id"): self = .clientID
    case 9 where reads("family_id"): self = .familyID
    case 9 where reads("cached_at"): self = .cachedAt
    case 10 where reads("token_type"): self = .tokenType
    case 10 where reads("expires_on"): self = .expiresOn
    case 10 where reads("refresh_on"): self = .refreshOn
    case 11 where reads("environment"): self = .environment
    case 11 where reads("copied_from"): self = .copiedFrom
    case 13 where reads("ext_cache_key"): self = .isolation
    case 15 where reads("home_account_id"): self = .homeAccountID
    case 16 where reads("local_account_id"): self = .localAccountID
    case 16 where reads("requested_claims"): self = .claims
    case 19 where reads("user_assertion_hash"): self = .assertion
    case 22 where reads("last_modification_time"): self = .modifiedAt
    default: return nil
    }
  }
}
