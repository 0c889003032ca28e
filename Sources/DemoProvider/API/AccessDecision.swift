// The sample API's rule: who gets in, and what exactly the others are told (RFC 6750 §3.1, RFC 9470 §3, Entra's claims
// challenges).

internal import Bytes
internal import Tokens

/// The API's decision about a request, before it does anything else.
enum AccessDecision {
  /// The token is good and holds the permission.
  case allowed(SignedJWT)
  case withoutToken
  /// There is one, and it is not believed.
  case invalidToken(reason: String)
  /// It is believed, and lacks the permission, which is to be asked for by `scope`.
  case insufficientScope(permission: String, scope: String)
  /// It is believed, and must be replaced by one with these claims: JSON text. Only capable applications are told
  /// which.
  case insufficientClaims(String, isCapable: Bool)
  /// It is older than the event since which tokens count. Only capable applications are told what would help.
  case overtaken(since: UnixTime, isCapable: Bool)
  /// The sign-in behind it must have been at this level, at most so long ago.
  case insufficientAuthentication(level: String, seconds: Int64)

  /// Judges the value of an `Authorization` field. There is a rule per issuer; the token says which it wants to be
  /// judged by, and the rule says whether it is right.
  init(
    authorization: String?, permission: (name: String, scope: String)?, assurance: RequiredAssurance,
    rules: [JWTValidation], now: UnixTime, countFrom: (_ object: String) -> UnixTime?,
    signature: (SignedJWT, JWTAlgorithm) -> SignatureVerdict
  ) {
    guard let authorization, authorization.lowercased().hasPrefix("bearer ") else {
      self = .withoutToken
      return
    }
    do throws(JWTRefusal) {
      let token = try SignedJWT(authorization.dropFirst("bearer ".count))
      guard let issuer = token.claims.issuer, let rule = rules.first(where: { $0.issuers.contains(issuer) }) else {
        throw .issuer(token.claims.issuer)
      }
      let claims = try rule.accept(token, now: now, signature: signature)
      let own = AssuranceClaims(token)
      if let since = claims.object.flatMap(countFrom), claims.notBefore.map({ $0 < since }) ?? true {
        self = .overtaken(since: since, isCapable: own.isCapable)
      } else if let permission, !claims.roles.contains(permission.name), !claims.scopes.contains(permission.name) {
        self = .insufficientScope(permission: permission.name, scope: permission.scope)
      } else {
        self = assurance.lack(own, authenticatedAt: claims.authenticatedAt, now: now) ?? .allowed(token)
      }
    } catch {
      self = .invalidToken(reason: Self.reason(error, now: now))
    }
  }

  private static func reason(_ rejection: JWTRefusal, now: UnixTime) -> String {
    switch rejection {
    case .parts, .tooLong, .base64url, .json: "the token is no signed JWT"
    case .algorithm, .criticalExtension: "the token is signed in a way that is not accepted"
    case .unknownKey: "the issuer has no such signing key"
    case .signature: "the signature is not the issuer's"
    case .issuer: "the issuer is another one"
    case .audience: "the token is for another audience"
    case .withoutExpiry: "the token has no expiry"
    case .expired(let at): "the token expired \(now - at) seconds ago"
    case .notYetValid(let from): "the token is valid in \(from - now) seconds only"
    case .absent, .nonce, .authorizedParty, .age, .headerType, .purpose, .idToken, .confirmation:
      "the token is of another kind"
    }
  }

  /// The status and the challenge for a request that is not allowed.
  func refusal(challengeParameters: String) -> (status: Int, challenge: String, error: String)? {
    switch self {
    case .allowed:
      nil
    case .withoutToken:
      // Nothing about an error if no credentials were sent (RFC 6750 §3.1).
      (401, "Bearer \(challengeParameters)", "a bearer token is needed")
    case .invalidToken(let reason):
      (
        401, "Bearer \(challengeParameters), error=\"invalid_token\", error_description=\"\(reason)\"",
        "invalid_token: \(reason)"
      )
    case .insufficientScope(let permission, let scope):
      (
        403, "Bearer \(challengeParameters), error=\"insufficient_scope\", scope=\"\(scope)\"",
        "insufficient_scope: \(permission) is needed"
      )
    case .overtaken(let since, isCapable: true):
      AccessDecision.insufficientClaims(
        #"{"access_token":{"nbf":{"essential":true,"value":"\#(since.seconds)"}}}"#, isCapable: true
      ).refusal(challengeParameters: challengeParameters)
    case .overtaken(_, isCapable: false):
      AccessDecision.invalidToken(reason: "the token was revoked").refusal(challengeParameters: challengeParameters)
    case .insufficientClaims(let claims, isCapable: true):
      (
        401,
        "Bearer \(challengeParameters), error=\"insufficient_claims\", claims=\"\(Base64.encode(Array(claims.utf8)))\"",
        "insufficient_claims: \(claims)"
      )
    case .insufficientClaims(_, isCapable: false):
      // There is nothing that such an application could do about it, so no 401 that asks it to try.
      (403, "Bearer \(challengeParameters), error=\"insufficient_claims\"", "the application has no capability cp1")
    case .insufficientAuthentication(let level, let seconds):
      (
        401,
        "Bearer \(challengeParameters), error=\"insufficient_user_authentication\", "
          + "error_description=\"a more recent or stronger sign-in is needed\", acr_values=\"\(level)\", "
          + "max_age=\"\(seconds)\"",
        "insufficient_user_authentication: \(level), at most \(seconds) seconds old"
      )
    }
  }
}

/// The sign-in that an endpoint requires beyond a permission.
enum RequiredAssurance {
  case any
  /// The token names this authentication context: Entra's way.
  case context(String)
  /// At this level, at most so long ago: RFC 9470's way.
  case recent(level: String, seconds: Int64)

  /// The decision about a token that lacks it; nil if it does not.
  func lack(_ claims: AssuranceClaims, authenticatedAt: UnixTime?, now: UnixTime) -> AccessDecision? {
    switch self {
    case .any: nil
    case .context(let context):
      claims.contexts.contains(context)
        ? nil
        : .insufficientClaims(
          #"{"access_token":{"acrs":{"essential":true,"value":"\#(context)"}}}"#, isCapable: claims.isCapable)
    case .recent(let level, let seconds):
      claims.level == level && authenticatedAt.map { now - $0 <= seconds } == true
        ? nil : .insufficientAuthentication(level: level, seconds: seconds)
    }
  }
}

/// Claims of a person's sign-in, and of the application's capabilities.
struct AssuranceClaims {
  /// `preferred_username`.
  let userName: String?
  /// `acr`.
  let level: String?
  /// `acrs`.
  let contexts: [String]
  /// True if the application understands a claims challenge (`xms_cc`).
  let isCapable: Bool

  /// The claims of a token that was accepted.
  init(_ token: SignedJWT) {
    let payload = token.signingInput.split(separator: UInt8(ascii: "."))[1]
    var members: [String: JSONValue] = [:]
    do throws(Base64URLError) {
      members = JSONValue(json: try Base64URL.decode(String(decoding: payload, as: UTF8.self)))?.members ?? [:]
    } catch {
      // An accepted token has claims that can be decoded.
    }
    func texts(_ name: String) -> [String] {
      if case .array(let values) = members[name] { values.compactMap(\.text) } else { [] }
    }
    userName = members["preferred_username"]?.text
    level = members["acr"]?.text
    contexts = texts("acrs")
    isCapable = texts("xms_cc").contains { $0.lowercased() == "cp1" }
  }
}
