// Owns the shape of a granted token request's answer (RFC 6749 §5.1 with Entra's members).

internal import Bytes
internal import Tokens

/// Granted tokens.
struct TokenDocument: Encodable {
  var token_type = "Bearer"
  var expires_in: Int64
  var ext_expires_in: Int64
  /// Seconds after which the token should be renewed, where the provider says so.
  var refresh_in: Int64?
  /// The scopes granted; absent for an application's own token.
  var scope: String?
  var access_token: String
  var refresh_token: String?
  var id_token: String?
  /// Who the account is, in base64url.
  var client_info: String?

  init(_ token: Secret, lifetime: Int64, refreshIn: Int64?) {
    expires_in = lifetime
    ext_expires_in = lifetime
    refresh_in = refreshIn
    access_token = token.revealed()
  }
}
