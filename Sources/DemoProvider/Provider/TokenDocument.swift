// Owns the shape of a granted token request's answer (RFC 6749 §5.1 with Entra's members).

internal import Tokens

/// A granted token.
struct TokenDocument: Encodable {
  var token_type = "Bearer"
  var expires_in: Int64
  var ext_expires_in: Int64
  var access_token: String

  init(_ token: Secret, lifetime: Int64) {
    expires_in = lifetime
    ext_expires_in = lifetime
    access_token = token.revealed()
  }
}
