// Owns the claims that tokens are judged and issued by: RFC 7519's registered ones and Entra's. Members beyond these
// are ignored on reading.

/// The claims of an access or id token. Nothing is believed before `JWTValidation` accepted it.
public struct JWTClaims: Sendable, Hashable {
  /// `iss`: who issued the token.
  public var issuer: String?
  /// `sub`: whom it is about, unique within the issuer.
  public var subject: String?
  /// `aud`: for whom it is meant; one or several.
  public var audiences: [String] = []
  /// `exp`: the first second in which it is no longer valid.
  public var expiresAt: UnixTime?
  /// `nbf`: the first second in which it is valid.
  public var notBefore: UnixTime?
  /// `iat`: when it was issued.
  public var issuedAt: UnixTime?
  /// `tid`: the Entra tenant.
  public var tenant: String?
  /// `oid`: the user's or service principal's object in that tenant.
  public var object: String?
  /// `azp`, or `appid` of version 1.0 tokens: the application that asked for the token.
  public var application: String?
  /// `roles`: what the application or user may do.
  public var roles: [String] = []
  /// `scp`: the delegated scopes, words between spaces; absent in tokens for an application itself.
  public var scopes: [String] = []
  /// `idtyp`: `app` for a token that an application got for itself.
  public var identityType: String?
  /// `ver`: Entra's version of the token's shape.
  public var version: String?
  /// `uti`: this token's identifier.
  public var tokenIdentifier: String?
  /// `nonce`: the sign-in that an ID token was made for.
  public var nonce: String?
  /// `auth_time`: when the person signed in.
  public var authenticatedAt: UnixTime?

  /// No claims.
  public init() {}
}

extension JWTClaims: Codable {
  private enum Name: String, CodingKey {
    case iss, sub, aud, exp, nbf, iat, tid, oid, azp, appid, roles, scp, idtyp, ver, uti, nonce
    case authTime = "auth_time"
  }

  /// Reads the claims of a JSON object. A claim of another type than its definition's is an error, not an absence.
  public init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Name.self)
    issuer = try claims.decodeIfPresent(String.self, forKey: .iss)
    subject = try claims.decodeIfPresent(String.self, forKey: .sub)
    audiences = try claims.decodeIfPresent(OneOrSeveral.self, forKey: .aud)?.values ?? []
    expiresAt = try claims.decodeIfPresent(NumericDate.self, forKey: .exp)?.time
    notBefore = try claims.decodeIfPresent(NumericDate.self, forKey: .nbf)?.time
    issuedAt = try claims.decodeIfPresent(NumericDate.self, forKey: .iat)?.time
    tenant = try claims.decodeIfPresent(String.self, forKey: .tid)
    object = try claims.decodeIfPresent(String.self, forKey: .oid)
    application = try claims.decodeIfPresent(String.self, forKey: .azp)
    if application == nil { application = try claims.decodeIfPresent(String.self, forKey: .appid) }
    roles = try claims.decodeIfPresent(OneOrSeveral.self, forKey: .roles)?.values ?? []
    scopes = try claims.decodeIfPresent(String.self, forKey: .scp)?.split(separator: " ").map(String.init) ?? []
    identityType = try claims.decodeIfPresent(String.self, forKey: .idtyp)
    version = try claims.decodeIfPresent(String.self, forKey: .ver)
    tokenIdentifier = try claims.decodeIfPresent(String.self, forKey: .uti)
    nonce = try claims.decodeIfPresent(String.self, forKey: .nonce)
    authenticatedAt = try claims.decodeIfPresent(NumericDate.self, forKey: .authTime)?.time
  }

  /// Writes the claims that are there.
  public func encode(to encoder: any Encoder) throws {
    var claims = encoder.container(keyedBy: Name.self)
    try claims.encodeIfPresent(issuer, forKey: .iss)
    try claims.encodeIfPresent(subject, forKey: .sub)
    if audiences.count == 1 {
      try claims.encode(audiences[0], forKey: .aud)
    } else if !audiences.isEmpty {
      try claims.encode(audiences, forKey: .aud)
    }
    try claims.encodeIfPresent(expiresAt?.seconds, forKey: .exp)
    try claims.encodeIfPresent(notBefore?.seconds, forKey: .nbf)
    try claims.encodeIfPresent(issuedAt?.seconds, forKey: .iat)
    try claims.encodeIfPresent(tenant, forKey: .tid)
    try claims.encodeIfPresent(object, forKey: .oid)
    try claims.encodeIfPresent(application, forKey: .azp)
    if !roles.isEmpty { try claims.encode(roles, forKey: .roles) }
    if !scopes.isEmpty { try claims.encode(scopes.joined(separator: " "), forKey: .scp) }
    try claims.encodeIfPresent(identityType, forKey: .idtyp)
    try claims.encodeIfPresent(version, forKey: .ver)
    try claims.encodeIfPresent(tokenIdentifier, forKey: .uti)
    try claims.encodeIfPresent(nonce, forKey: .nonce)
    try claims.encodeIfPresent(authenticatedAt?.seconds, forKey: .authTime)
  }
}

/// A string, or an array of strings (RFC 7519 §4.1.3).
private struct OneOrSeveral: Decodable {
  var values: [String]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      values = [try container.decode(String.self)]
    } catch DecodingError.typeMismatch {
      values = try container.decode([String].self)
    }
  }
}

/// Seconds since 1970, perhaps with a fraction, which is cut off (RFC 7519 §2).
private struct NumericDate: Decodable {
  var time: UnixTime

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let seconds = try container.decode(Double.self)
    // Beyond 2^53 a double no longer counts seconds.
    guard seconds.isFinite, seconds.magnitude < 9_007_199_254_740_992 else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date")
    }
    time = UnixTime(Int64(seconds.rounded(.down)))
  }
}
