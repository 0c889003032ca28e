// Owns what tokens about a person say beyond the claims of every token.

internal import Bytes
internal import Tokens

/// The claims of an ID token, or of an access token that a person's consent entitles to.
struct PersonalClaims: Encodable {
  /// What every token says.
  var claims: JWTClaims
  var preferred_username: String
  var name: String
  /// ID tokens only.
  var nonce: String?
  /// ID tokens only, where it was asked for.
  var email: String?
  /// `auth_time`, `acr`, `amr`.
  var authentication: Authentication
  /// Authentication contexts. Access tokens only.
  var acrs: [String] = []
  /// What the application can do with a challenge. Access tokens only.
  var xms_cc: [String] = []

  private enum Name: String, CodingKey {
    case preferred_username, name, nonce, email, auth_time, acr, amr, acrs, xms_cc
  }

  func encode(to encoder: any Encoder) throws {
    try claims.encode(to: encoder)
    var members = encoder.container(keyedBy: Name.self)
    try members.encode(preferred_username, forKey: .preferred_username)
    try members.encode(name, forKey: .name)
    try members.encodeIfPresent(nonce, forKey: .nonce)
    try members.encodeIfPresent(email, forKey: .email)
    try members.encode(authentication.at.seconds, forKey: .auth_time)
    try members.encode(authentication.level, forKey: .acr)
    try members.encode(authentication.methods, forKey: .amr)
    if !acrs.isEmpty { try members.encode(acrs, forKey: .acrs) }
    if !xms_cc.isEmpty { try members.encode(xms_cc, forKey: .xms_cc) }
  }
}

/// The claims of a token that an application got for itself.
struct ApplicationClaims: Encodable {
  /// What every token says.
  var claims: JWTClaims
  /// What the application can do with a challenge.
  var xms_cc: [String]

  private enum Name: String, CodingKey { case xms_cc }

  func encode(to encoder: any Encoder) throws {
    try claims.encode(to: encoder)
    var members = encoder.container(keyedBy: Name.self)
    if !xms_cc.isEmpty { try members.encode(xms_cc, forKey: .xms_cc) }
  }
}
