// Owns whose tokens a reply holds: client_info and ID token, in. Decodes only; believing the ID token is `JWTValidation`'s.

/// What a token reply says of the person.
public struct AccountIdentity: Sendable, Hashable {
  /// `uid.utid`, or the ID token's subject; nil where the reply tells neither.
  public var homeAccountID: String?
  /// The object id in the tenant signed in to, or the subject.
  public var localAccountID: String?
  /// The name a person knows; nil where the reply tells none.
  public var username: String?
  /// Who issued the ID token.
  public var issuer: String?

  /// The identity in a reply's `client_info` and `id_token` (msal-python's choice: both halves of `client_info`, or none).
  public init(clientInfo: String?, idToken: String?) {
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
    issuer = claims["iss"]?.text
  }

  private static func object(base64URL text: String) -> [String: JSONValue]? {
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(text.prefix { $0 != "=" }))?.members
    } catch {
      return nil  // An unreadable identity is none; the reply's tokens are then nobody's.
    }
  }
}
