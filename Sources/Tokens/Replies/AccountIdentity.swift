// Whose tokens a reply holds: client_info and ID token, in. Decodes only; believing the ID token is `JWTValidation`'s.

package import Bytes

/// What a token reply says of the person.
package struct AccountIdentity: Sendable, Hashable {
  /// `uid.utid`, or the ID token's subject; nil where the reply tells neither.
  package var homeAccountID: String?
  /// The object id in the tenant signed in to, or the subject.
  package var localAccountID: String?
  /// The name a person knows; nil where the reply tells none.
  package var username: String?
  /// What to call the person where there is no user name: an e-mail address or a name; nil where the reply tells none.
  package var displayName: String?
  /// Who issued the ID token.
  package var issuer: String?
  /// When the ID token was issued, by the provider's clock.
  package var issuedAt: UnixTime?

  /// The identity in a reply's `client_info` and `id_token` (msal-python's choice: both halves of `client_info`, or
  /// none).
  package init(clientInfo: String?, idToken: String?) {
    let info = clientInfo.flatMap { Self.object(base64URL: $0) } ?? [:]
    let parts = idToken?.split(separator: ".", omittingEmptySubsequences: false) ?? []
    let claims = parts.count == 3 ? Self.object(base64URL: String(parts[1])) ?? [:] : [:]
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

  /// The claim that tells a person best who is meant (OpenID Connect Core 1.0 §5.1), user names aside.
  private static func displayName(_ claims: [String: JSONValue]) -> String? {
    func text(_ claim: String) -> String? { claims[claim]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    let parts = [text("given_name"), text("family_name")].compactMap { $0 }.joined(separator: " ")
    return text("email") ?? text("unique_name") ?? text("name") ?? text("nickname") ?? (parts.isEmpty ? nil : parts)
  }

  private static func object(base64URL text: String) -> [String: JSONValue]? {
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(text.prefix { $0 != "=" }))?.members
    } catch {
      return nil  // An unreadable identity counts as absent.
    }
  }
}
