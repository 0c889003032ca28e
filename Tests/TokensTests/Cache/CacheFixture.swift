import Bytes
import Testing
import Tokens

/// Names and short ways of one application with one person.
enum CacheFixture {
  static let now = UnixTime(1_700_000_000)
  static let host = "login.microsoftonline.com"
  static let realm = "11111111-aaaa-4aaa-8aaa-111111111111"
  static let client = "33333333-cccc-4ccc-8ccc-333333333333"
  static let home = "uid-a.\(realm)"

  static func query(
    _ home: String? = home, realm: String = realm, environments: [String] = [host], client: String = client,
    isolation: String? = nil
  ) -> CacheQuery {
    CacheQuery(environments: environments, realm: realm, clientID: client, homeAccountID: home, isolation: isolation)
  }

  /// A reply for the person (or, without `uid`, for no person).
  static func issued(
    _ token: String, scopes: String, uid: String? = "uid-a", expiresIn: Int64 = 3600, refreshToken: String? = nil,
    extra: String = "", client: String = client, host: String = host, realm: String = realm,
    grantType: String = "authorization_code", isolation: String? = nil, isSignIn: Bool = true
  ) throws -> IssuedTokens {
    let identity = uid.map { uid in
      let info = Base64URL.encode(Array(#"{"uid":"\#(uid)","utid":"\#(CacheFixture.realm)"}"#.utf8))
      return #", "client_info": "\#(info)""#
    }
    let refresh = refreshToken.map { #", "refresh_token": "\#($0)""# } ?? ""
    let body = #"{"access_token": "\#(token)", "expires_in": \#(expiresIn)\#(refresh)\#(identity ?? "")\#(extra)}"#
    let reply = try TokenReply(ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: now)
    return IssuedTokens(
      reply, clientID: client, environment: host, realm: realm, grantType: grantType,
      requested: try ScopeSet(parameter: scopes), isolation: isolation, isSignIn: isSignIn)
  }

  /// A document of entries written by hand.
  static func document(_ json: String) throws -> CacheDocument {
    try CacheDocument(text: Array(json.utf8))
  }

  /// An access token's entry as msal-python writes it, with other members over it.
  static func accessTokenEntry(_ secret: String, target: String, _ members: [String: JSONValue] = [:]) -> JSONValue {
    .object(
      [
        "credential_type": .string("AccessToken"), "secret": .string(secret), "home_account_id": .string(home),
        "environment": .string(host), "client_id": .string(client), "target": .string(target), "realm": .string(realm),
        "token_type": .string("Bearer"), "cached_at": .string("1699999000"), "expires_on": .string("1700003600"),
      ].merging(members) { $1 })
  }

  /// A document of access tokens, under keys that mean nothing.
  static func document(accessTokens: [JSONValue]) throws -> CacheDocument {
    let entries = Dictionary(uniqueKeysWithValues: accessTokens.enumerated().map { ("KEY-\($0)", $1) })
    return try document(JSONValue.object(["AccessToken": .object(entries)]).canonicalText())
  }
}

extension CacheDocument {
  /// The document as a value.
  var value: JSONValue { JSONValue(json: text()) ?? .null }

  /// The secret of the token that a lookup finds.
  func found(_ query: CacheQuery, _ scopes: String, now: UnixTime = CacheFixture.now) throws -> String? {
    accessToken(query, scopes: try ScopeSet(parameter: scopes), now: now)?.secret.revealed()
  }
}
