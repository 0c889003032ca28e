// What the sample API tells about whom it saw: facts of the token and the request, never the token.

internal import Bytes
internal import Tokens

/// The API's account of one request.
struct CallerReport: Codable, Hashable {
  struct Caller: Codable, Hashable {
    /// `application`, or `user` where the token is delegated.
    var kind: String
    /// The user's name, where there is one.
    var user: String?
    var application: String?
    var object: String?
    var tenant: String?
    /// Absent where there are none.
    var roles: [String]?
    var scopes: [String]?
  }

  struct Token: Codable, Hashable {
    var issuer: String?
    var audience: [String]
    /// The token's identifier: the same one twice means the same token twice.
    var identifier: String?
    var expires_in: Int64?
  }

  struct Request: Codable, Hashable {
    var method: String
    var path: String
    var query: String?
    var fields: [String: String]
  }

  var caller: Caller
  var token: Token
  var request: Request

  /// What `jwt`, which was accepted, and the request tell.
  init(_ jwt: SignedJWT, _ request: DemoRequest, now: UnixTime) {
    let claims = jwt.claims
    caller = Caller(
      kind: claims.scopes.isEmpty ? "application" : "user", user: AssuranceClaims(jwt).userName,
      application: claims.application,
      object: claims.object,
      tenant: claims.tenant, roles: claims.roles.isEmpty ? nil : claims.roles,
      scopes: claims.scopes.isEmpty ? nil : claims.scopes)
    token = Token(
      issuer: claims.issuer, audience: claims.audiences, identifier: claims.tokenIdentifier,
      expires_in: claims.expiresAt.map { $0 - now })
    var fields: [String: String] = [:]
    for (name, value) in request.fields where name != "authorization" && name != "cookie" {
      fields[name] = fields[name].map { "\($0), \(value)" } ?? value
    }
    self.request = Request(
      method: request.method, path: request.path, query: request.query.isEmpty ? nil : request.query, fields: fields)
  }
}
