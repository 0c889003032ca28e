package import Bytes

/// The person in a token reply, not verified.
package struct AccountIdentity: Sendable, Hashable {
  /// `uid.utid`, or the ID token's subject; nil if the reply has neither.
  package var homeAccountID: String?
  /// The object id in the tenant signed in to, or the subject.
  package var localAccountID: String?
  /// The name a person knows; nil if the reply has none.
  package var username: String?
  /// A label for a person without a user name: an e-mail address or a name; nil if the reply has none.
  package var displayName: String?
  /// The issuer of the ID token.
  package var issuer: String?
  /// The time of the ID token's issue, by the provider's clock.
  package var issuedAt: UnixTime?

  /// The identity in a reply (msal-python's choice: both halves of `client_info`, or none).
  package init(clientInfo: String?, idToken: String?) {
    // An unreadable identity counts as absent.
    let info = [String: JSONValue](base64URL: clientInfo ?? "")
    let claims = [String: JSONValue](claimsOf: idToken ?? "")
    let subject = claims["sub"]?.text
    if let uid = info["uid"]?.text, let tenant = info["utid"]?.text, !uid.isEmpty, !tenant.isEmpty {
      homeAccountID = "\(uid).\(tenant)"
    } else {
      homeAccountID = subject
    }
    localAccountID = claims["oid"]?.text ?? subject
    username = claims["preferred_username"]?.text ?? claims["upn"]?.text
    displayName = Self.displayName(claims)
    issuer = claims["iss"]?.text
    issuedAt = claims["iat"]?.seconds.map { UnixTime($0) }
  }

  /// The claim that best identifies a person (OpenID Connect Core 1.0 §5.1), user names aside.
  private static func displayName(_ claims: [String: JSONValue]) -> String? {
    func text(_ claim: String) -> String? { claims[claim]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    let parts = [text("given_name"), text("family_name")].compactMap { $0 }.joined(separator: " ")
    return text("email") ?? text("unique_name") ?? text("name") ?? text("nickname") ?? (parts.isEmpty ? nil : parts)
  }
}
