// Owns what an endpoint asks of the sign-in behind a token, beyond its permission.

internal import Bytes
internal import Tokens

/// How a person must have signed in.
enum RequiredAssurance {
  /// Any sign-in will do.
  case any
  /// The token must name this authentication context: Entra's way.
  case context(String)
  /// At this level, at most so long ago: RFC 9470's way.
  case recent(level: String, seconds: Int64)

  /// What a token lacks; nil: nothing.
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
