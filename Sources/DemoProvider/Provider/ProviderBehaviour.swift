internal import Bytes

/// The provider's settings, which may change while it runs.
package struct ProviderBehaviour: Sendable {
  /// Seconds for which an access token is valid.
  package var accessTokenLifetime: Int64 = 3600
  /// Seconds after which an access token should be renewed, if the provider says so.
  var refreshIn: Int64?
  /// True if a refresh token that has been replaced is refused and ends its family. Entra tolerates it.
  package var refusesReplacedTokens = false
  /// Seconds between two polls of a device.
  package var deviceInterval: Int64 = 5
  /// Seconds for which a device code is valid.
  var deviceCodeLifetime: Int64 = 900
  /// User names of people who must type a one-time code, whatever they sign in to.
  var secondFactorUsers: Set<String> = []
  /// The next answers of the token endpoint.
  private var failure: (refusal: Refusal, times: Int64)?

  package init() {}

  /// Each member that the document leaves out has its usual value.
  init(_ members: [String: JSONValue]) {
    accessTokenLifetime = members["access_token_lifetime"]?.seconds ?? accessTokenLifetime
    refreshIn = members["refresh_in"]?.seconds
    refusesReplacedTokens = members["refuse_replaced"] == .bool(true)
    deviceInterval = members["device_interval"]?.seconds ?? deviceInterval
    deviceCodeLifetime = members["device_code_lifetime"]?.seconds ?? deviceCodeLifetime
    secondFactorUsers = Set((members["second_factor"]?.texts ?? []).map { $0.lowercased() })
    guard let fail = members["fail"]?.members else { return }
    failure = (
      Refusal(
        Int(fail["code"]?.seconds ?? 0), "This failure was ordered.", error: fail["error"]?.text ?? "",
        status: Int(fail["status"]?.seconds ?? 400), suberror: fail["suberror"]?.text, claims: fail["claims"]?.text),
      fail["times"]?.seconds ?? 1
    )
  }

  /// Throws the failure that was ordered for this request.
  mutating func fail() throws(Refusal) {
    guard let ordered = failure, ordered.times > 0 else { return }
    failure?.times -= 1
    throw ordered.refusal
  }
}
