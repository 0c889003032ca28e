// Owns what this provider reads in a `claims` parameter (OpenID Connect Core 1.0 §5.5, with Entra's claims). Members
// that it does not know are no error: asking for a claim is no right to it.

internal import Bytes
internal import Tokens

/// The claims of the access token that a request asks for.
struct ClaimsAsked: Hashable {
  /// `xms_cc`: what the application says it can do with a challenge.
  var capabilities: [String] = []
  /// `nbf`: the first second in which the token may have been issued.
  var notBefore: UnixTime?
  /// `acrs`: the authentication contexts that the token must name.
  var contexts: [String] = []

  /// Nothing is asked for where there is no parameter.
  init(_ text: String?) throws(ProviderError) {
    guard let text else { return }
    guard let members = JSONValue(json: Array(text.utf8))?.members else { throw .unsupportedParameter("claims") }
    let claims = members["access_token"]?.members ?? [:]
    capabilities = Self.values(claims["xms_cc"])
    contexts = Self.values(claims["acrs"])
    if let value = claims["nbf"]?.members?["value"] {
      guard let seconds = value.seconds else { throw .unsupportedParameter("claims") }
      notBefore = UnixTime(seconds)
    }
    // A sign-in that cannot be satisfied would only be repeated.
    guard contexts.allSatisfy(Authentication.contexts.contains) else { throw .unsupportedParameter("claims") }
  }

  /// From when the token counts: now, or the moment asked for where that is at most a minute ahead.
  func start(now: UnixTime) -> UnixTime {
    guard let notBefore, now < notBefore, notBefore - now <= 60 else { return now }
    return notBefore
  }

  private static func values(_ claim: JSONValue?) -> [String] {
    guard let members = claim?.members else { return [] }
    if let value = members["value"]?.text { return [value] }
    guard case .array(let values) = members["values"] else { return [] }
    return values.compactMap(\.text)
  }
}
