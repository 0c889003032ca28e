// Owns the sample API's rule: who gets in, and what exactly the others are told (RFC 6750 §3.1).

internal import Tokens

/// What the API decides about a request before it does anything else.
enum AccessDecision {
  /// The token is good and holds the permission.
  case allowed(SignedJWT)
  /// There is no bearer token.
  case withoutToken
  /// There is one, and it is not believed.
  case invalidToken(reason: String)
  /// It is believed, and lacks the permission.
  case insufficientScope(permission: String)

  /// Judges the value of an `Authorization` field. There is a rule per issuer; the token says which it wants to be
  /// judged by, and the rule says whether it is right.
  init(
    authorization: String?, permission: String?, rules: [JWTValidation], now: UnixTime,
    signature: (SignedJWT, JWTAlgorithm) -> SignatureVerdict
  ) {
    guard let authorization, authorization.lowercased().hasPrefix("bearer ") else {
      self = .withoutToken
      return
    }
    let token: SignedJWT
    do throws(JWTFormatError) {
      token = try SignedJWT(authorization.dropFirst("bearer ".count))
    } catch {
      self = .invalidToken(reason: "the token is no signed JWT")
      return
    }
    guard let rule = rules.first(where: { $0.issuer == token.claims.issuer }) else {
      self = .invalidToken(reason: Self.reason(.issuer(token.claims.issuer), now: now))
      return
    }
    do throws(JWTRejection) {
      let claims = try rule.accept(token, now: now, signature: signature)
      if let permission, !claims.roles.contains(permission), !claims.scopes.contains(permission) {
        self = .insufficientScope(permission: permission)
      } else {
        self = .allowed(token)
      }
    } catch {
      self = .invalidToken(reason: Self.reason(error, now: now))
    }
  }

  private static func reason(_ rejection: JWTRejection, now: UnixTime) -> String {
    switch rejection {
    case .algorithm, .criticalExtension: "the token is signed in a way that is not accepted"
    case .unknownKey: "the issuer has no such signing key"
    case .signature: "the signature is not the issuer's"
    case .issuer: "the issuer is another one"
    case .audience: "the token is for another audience"
    case .withoutExpiry: "the token has no expiry"
    case .expired(let at): "the token expired \(now - at) seconds ago"
    case .notYetValid(let from): "the token is valid in \(from - now) seconds only"
    }
  }

  /// The status and the challenge for a request that is not allowed.
  func refusal(challengeParameters: String) -> (status: Int, challenge: String, error: String)? {
    switch self {
    case .allowed:
      nil
    case .withoutToken:
      // Nothing about an error where no credentials were sent (RFC 6750 §3.1).
      (401, "Bearer \(challengeParameters)", "a bearer token is needed")
    case .invalidToken(let reason):
      (
        401, "Bearer \(challengeParameters), error=\"invalid_token\", error_description=\"\(reason)\"",
        "invalid_token: \(reason)"
      )
    case .insufficientScope(let permission):
      (
        403, "Bearer \(challengeParameters), error=\"insufficient_scope\", scope=\"\(permission)\"",
        "insufficient_scope: \(permission) is needed"
      )
    }
  }
}
