public import Bytes

/// The claims of an access or ID token. They are unverified until `JWTValidation` has accepted the token.
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

  init(_ members: JWTMembers) throws(JWTRefusal) {
    issuer = try members.text("iss")
    subject = try members.text("sub")
    audiences = try members.oneOrSeveral("aud")
    expiresAt = try members.time("exp")
    notBefore = try members.time("nbf")
    issuedAt = try members.time("iat")
    tenant = try members.text("tid")
    object = try members.text("oid")
    application = try members.text("azp", or: "appid")
    roles = try members.oneOrSeveral("roles")
    scopes = try members.words("scp")
    standardScopes = try members.words("scope")
    identityType = try members.text("idtyp")
    version = try members.text("ver")
    tokenIdentifier = try members.text("uti")
    nonce = try members.text("nonce")
    authenticatedAt = try members.time("auth_time")
    purpose = try members.text("typ", or: "token_use")
    if let proofs = try members.object("cnf") {
      // An unknown member may demand something, so it is not ignored.
      let thumbprint = proofs.count == 1 ? try proofs.text("x5t#S256") : nil
      confirmation = thumbprint.map { .certificate($0) } ?? .other
    }
    names = Set(Name.allCases.filter { members.contains($0.rawValue) })
  }
}
