/// A member of an entry that this library understands.
enum CacheMember: String {
  case secret
  case clientID = "client_id"
  case homeAccountID = "home_account_id"
  case environment
  case realm
  case target
  case username
  case localAccountID = "local_account_id"
  case familyID = "family_id"
  case tokenType = "token_type"
  case cachedAt = "cached_at"
  case expiresOn = "expires_on"
  case refreshOn = "refresh_on"
  case modifiedAt = "last_modification_time"
  case isolation = "ext_cache_key"
  case ext
  case keyID = "key_id"
  case keyid
  case kid
  case claims = "requested_claims"
  case assertion = "user_assertion_hash"
  case name
  case copiedFrom = "copied_from"

  /// Members of tokens that are not plain (`HeldAccessToken.isPlainBearer`).
  static let marks: [CacheMember] = [.ext, .keyID, .keyid, .kid, .claims, .assertion]

  /// A number of its own, from 0.
  @inline(__always)
  var index: Int {
    switch self {
    case .secret: 0
    case .clientID: 1
    case .homeAccountID: 2
    case .environment: 3
    case .realm: 4
    case .target: 5
    case .username: 6
    case .localAccountID: 7
    case .familyID: 8
    case .tokenType: 9
    case .cachedAt: 10
    case .expiresOn: 11
    case .refreshOn: 12
    case .modifiedAt: 13
    case .isolation: 14
    case .ext: 15
    case .keyID: 16
    case .keyid: 17
    case .kid: 18
    case .claims: 19
    case .assertion: 20
    case .name: 21
    case .copiedFrom: 22
    }
  }

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
