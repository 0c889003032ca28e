// Owns one sign-in under way: what it is for, in which browser, and how far it got.

internal import Bytes
internal import Tokens

/// A sign-in between its first page and its last.
struct Interaction {
  /// What happens at its end.
  enum Purpose {
    /// The answer to an authorization request.
    case authorization(AuthorizationRequest)
    /// The device with this user code gets tokens.
    case device(userCode: String, scopes: [String])
  }

  /// Seconds that a person may take.
  static let lifetime: Int64 = 900

  var purpose: Purpose
  /// The tenant segment it began under.
  var segment: String
  /// The application's `client_id`.
  var client: String
  /// The name of the browser it began in: no other may continue it.
  var browser: String
  var expiresAt: UnixTime
  /// Who it is, by the `oid` at home, once they said so.
  var person: String?
  /// Whether the password was typed in this sign-in.
  var hasTypedPassword = false
  /// Whether another person than those signed in wants to.
  var wantsAnother = false
  /// Whether the consent page was accepted in this sign-in.
  var hasConsented = false

  /// The one-time code that its page waits for.
  var oneTimeCode: String?

  /// The words of `scope`.
  var scopes: [String] {
    switch purpose {
    case .authorization(let request): request.scopes
    case .device(_, let scopes): scopes
    }
  }

  /// The request, unless a device began it.
  var request: AuthorizationRequest? { if case .authorization(let request) = purpose { request } else { nil } }

  /// The code that a device shows.
  var userCode: String? { if case .device(let code, _) = purpose { code } else { nil } }

  /// What the application wants shown. For a device the person is asked who they are, and whether they mean it
  /// (RFC 8628 §5.4).
  var prompts: Set<Prompt> { request?.prompts ?? [.selectAccount, .consent] }
}
