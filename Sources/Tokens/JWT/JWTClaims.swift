// The claims by which tokens are judged and issued: RFC 7519's registered ones and Entra's. Other members are ignored
// on reading.

public import Bytes

/// The claims of an access or id token. Nothing is believed before `JWTValidation` accepted it.
public struct JWTClaims: Sendable, Hashable {
  /// `iss`: the issuer.
  public var issuer: String?
  /// `sub`: the subject, unique within the issuer.
  public var subject: String?
  /// `aud`: the audience; one or several.
  public var audiences: [String] = []
  /// `exp`: the first second in which it is no longer valid.
  public var expiresAt: UnixTime?
  /// `nbf`: the first second in which it is valid.
  public var notBefore: UnixTime?
  /// `iat`: the time of issue.
  public var issuedAt: UnixTime?
  /// `tid`: the Entra tenant.
  public var tenant: String?
  /// `oid`: the user's or service principal's object in that tenant.
  public var object: String?
  /// `azp`, or `appid` of version 1.0 tokens: the application that requested the token.
  public var application: String?
  /// `roles`: the rights of the application or user.
  public var roles: [String] = []
  /// `scp`: the delegated scopes, words between spaces, or a list (Okta); absent in tokens for an application itself.
  public var scopes: [String] = []
  /// `scope`: the scopes by RFC 9068 §2.2.3.
  public var standardScopes: [String] = []
  /// `idtyp`: `app` for a token that an application got for itself.
  public var identityType: String?
  /// `ver`: Entra's version of the token's shape.
  public var version: String?
  /// `uti`: this token's identifier.
  public var tokenIdentifier: String?
  /// `nonce`: the sign-in that an ID token was made for.
  public var nonce: String?
  /// `auth_time`: the time of the person's sign-in.
  public var authenticatedAt: UnixTime?
  /// `typ` among the claims (Keycloak), or `token_use` (Cognito): the purpose of the token.
  public var purpose: String?
  /// `cnf`: the key that the sender must prove to hold (RFC 7800).
  public var confirmation: Confirmation?
  /// The claims that are present and tell kinds of tokens apart, whatever their values.
  public var names: Set<Name> = []

  /// A claim whose presence tells the kind of a token.
  public enum Name: String, Sendable, CaseIterable {
    case scope, cid, events
    case clientID = "client_id"
    case accessTokenHash = "at_hash"
    case codeHash = "c_hash"
    case stateHash = "s_hash"
  }

  /// A sender's proof that a token is its own.
  public enum Confirmation: Sendable, Hashable {
    /// With a TLS certificate, by the base64url of its SHA-256 (RFC 8705 §3.1).
    case certificate(String)
    /// An unknown proof, or several.
    case other
  }

  package init() {}
}

extension JWTClaims: Codable {
  private enum Key: String, CodingKey {
    case iss, sub, aud, exp, nbf, iat, tid, oid, azp, appid, roles, scp, scope, idtyp, ver, uti, nonce, typ, cnf
    case tokenUse = "token_use"
    case authTime = "auth_time"
  }

  /// Reads the claims of a JSON object. A claim of another type than its definition's is an error, not an absence.
  public init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Key.self)
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
    scopes = try claims.decodeIfPresent(OneOrSeveral.self, forKey: .scp)?.words ?? []
    standardScopes = try claims.decodeIfPresent(OneOrSeveral.self, forKey: .scope)?.words ?? []
    identityType = try claims.decodeIfPresent(String.self, forKey: .idtyp)
    version = try claims.decodeIfPresent(String.self, forKey: .ver)
    tokenIdentifier = try claims.decodeIfPresent(String.self, forKey: .uti)
    nonce = try claims.decodeIfPresent(String.self, forKey: .nonce)
    authenticatedAt = try claims.decodeIfPresent(NumericDate.self, forKey: .authTime)?.time
    purpose = try claims.decodeIfPresent(String.self, forKey: .typ)
    if purpose == nil { purpose = try claims.decodeIfPresent(String.self, forKey: .tokenUse) }
    confirmation = try claims.decodeIfPresent(ConfirmationMembers.self, forKey: .cnf)?.confirmation
    let all = try decoder.container(keyedBy: AnyName.self)
    names = Set(Name.allCases.filter { all.contains(AnyName($0.rawValue)) })
  }

  /// Writes the claims that are present.
  public func encode(to encoder: any Encoder) throws {
    var claims = encoder.container(keyedBy: Key.self)
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
    if !standardScopes.isEmpty { try claims.encode(standardScopes.joined(separator: " "), forKey: .scope) }
    try claims.encodeIfPresent(identityType, forKey: .idtyp)
    try claims.encodeIfPresent(version, forKey: .ver)
    try claims.encodeIfPresent(tokenIdentifier, forKey: .uti)
    try claims.encodeIfPresent(nonce, forKey: .nonce)
    try claims.encodeIfPresent(authenticatedAt?.seconds, forKey: .authTime)
  }
}

private struct AnyName: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The members of `cnf`. An unknown one may demand something, so it is not ignored.
private struct ConfirmationMembers: Decodable {
  var confirmation: JWTClaims.Confirmation

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: AnyName.self)
    let thumbprint = AnyName("x5t#S256")
    if members.allKeys.count == 1, members.contains(thumbprint) {
      confirmation = .certificate(try members.decode(String.self, forKey: thumbprint))
    } else {
      confirmation = .other
    }
  }
}

/// A string, or an array of strings (RFC 7519 §4.1.3).
private struct OneOrSeveral: Decodable {
  var values: [String]
  /// The words of scopes, between spaces.
  var words: [String] { values.flatMap { $0.split(separator: " ").map(String.init) } }

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
