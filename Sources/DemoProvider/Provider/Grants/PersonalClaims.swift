// Owns what tokens about a person say beyond the claims of every token.

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
  /// When the password was typed. ID tokens only.
  var auth_time: Int64?

  private enum Name: String, CodingKey {
    case preferred_username, name, nonce, email, auth_time
  }

  func encode(to encoder: any Encoder) throws {
    try claims.encode(to: encoder)
    var members = encoder.container(keyedBy: Name.self)
    try members.encode(preferred_username, forKey: .preferred_username)
    try members.encode(name, forKey: .name)
    try members.encodeIfPresent(nonce, forKey: .nonce)
    try members.encodeIfPresent(email, forKey: .email)
    try members.encodeIfPresent(auth_time, forKey: .auth_time)
  }
}
