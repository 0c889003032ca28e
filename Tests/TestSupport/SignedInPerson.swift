// A person whose tokens a test files in a cache, and what comes of renewing them.

package import Bytes
package import Tokens

/// A person who is signed in with the tests' application.
package struct SignedInPerson: Sendable {
  package static let tenant = "c0a7050d-0000-4000-8000-000000000001"
  package static let client = "c0a7050d-0000-4000-8000-0000000000a3"
  package static let environment = "login.microsoftonline.com"
  /// The `uid` of the reply.
  package let uid: String

  package init(_ uid: String) { self.uid = uid }

  package var home: String { "\(uid).\(Self.tenant)" }

  /// A token reply and its circumstances; `generation` tells the tokens of one from those of the next, and `padding`
  /// makes them as long as real ones.
  package func issued(
    generation: Int, scopes: String = "User.Read", isSignIn: Bool = true, padding: Int = 0, now: UnixTime
  ) throws -> IssuedTokens {
    let info = Base64URL.encode(Array(#"{"uid":"\#(uid)","utid":"\#(Self.tenant)"}"#.utf8))
    let tail = String(repeating: "x", count: padding)
    let claims = Base64URL.encode(
      Array(#"{"sub":"\#(uid)","oid":"\#(uid)","preferred_username":"\#(uid)@contoso.example","iss":"i"}"#.utf8))
    let body = """
      {"token_type": "Bearer", "access_token": "at-\(uid)-\(generation)-\(tail)", "expires_in": 3600,
       "refresh_token": "\(refreshToken(generation))-\(tail)", "id_token": "e30.\(claims).\(tail)", "client_info": \
      "\(info)"}
      """
    let reply = try TokenReply(ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: now)
    return IssuedTokens(
      reply, clientID: Self.client, environment: Self.environment, realm: Self.tenant,
      grantType: isSignIn ? "authorization_code" : "refresh_token", requested: try ScopeSet(parameter: scopes),
      isSignIn: isSignIn)
  }

  /// The refresh token of a generation, without padding.
  package func refreshToken(_ generation: Int) -> String { "rt-\(uid)-\(generation)" }

  /// A query for the person's tokens.
  package var query: CacheQuery {
    CacheQuery(
      environments: [Self.environment], realm: Self.tenant, clientID: Self.client, homeAccountID: home)
  }

  /// The generation of the refresh token in a cache; nil if it has none.
  package func generation(in document: CacheDocument) -> Int? {
    document.refreshTokens(query).first.flatMap { token in
      token.secret.revealed().split(separator: "-").dropFirst(2).first.flatMap { Int($0) }
    }
  }
}
