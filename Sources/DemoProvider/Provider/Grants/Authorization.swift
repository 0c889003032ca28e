// Owns what a finished sign-in came to. Codes, device codes and refresh tokens all stand for one.

internal import Tokens

/// What a person authorised an application to do.
struct Authorization: Hashable {
  /// The person's `oid` at home.
  var person: String
  /// The GUID of the tenant signed in to.
  var tenant: String
  /// The application's `client_id`.
  var client: String
  /// The words of `scope` that were asked for.
  var scopes: [String]
  /// For the ID token.
  var nonce: String?
  /// How the person proved who they are.
  var authentication: Authentication
}
