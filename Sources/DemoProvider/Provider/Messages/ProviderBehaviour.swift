// Settings of the provider that may change while it runs: lifetimes, rotation, failures to order.

internal import Bytes
internal import Tokens

/// The provider's behaviour. Each member that a JSON document leaves out has its usual value.
package struct ProviderBehaviour: Sendable, Hashable {
  /// An answer of the token endpoint, instead of what it would say.
  package struct Failure: Sendable, Hashable, Codable {
    /// The number of requests that are answered so.
    package var times: Int
    package var status: Int
    package var error: String
    /// The number after `AADSTS`.
    package var code: Int
    /// Entra's second word.
    package var suberror: String?
    /// The claims that a sign-in would have to bring: JSON text.
    package var claims: String?
    /// Seconds in `Retry-After`.
    package var retry_after: Int?
  }

  /// Seconds for which an access token is valid.
  package var accessTokenLifetime: Int64 = 3600
  /// Seconds after which an access token should be renewed, if the provider shall say so.
  package var refreshIn: Int64?
  /// Seconds for which a refresh token lives unused.
  package var refreshTokenLifetime: Int64 = 90 * 86_400
  /// True if each use of a refresh token brings a new one.
  package var rotatesRefreshTokens = true
  /// True if a refresh token that has been replaced is refused and ends its family. Entra tolerates it.
  package var refusesReplacedTokens = false
  /// Seconds between two polls of a device.
  package var deviceInterval: Int64 = 5
  /// Seconds for which a device code is valid.
  package var deviceCodeLifetime: Int64 = 900
  /// User names of those who must type a one-time code, whatever they sign in to.
  package var secondFactorUsers: [String] = []
  /// The next answer of the token endpoint.
  package var failure: Failure?

  package init() {}

  /// The failure of this request, counted.
  mutating func takeFailure() -> Failure? {
    guard let failure, failure.times > 0 else { return nil }
    self.failure?.times -= 1
    return failure
  }
}

extension ProviderBehaviour: Decodable {
  private enum Name: String, CodingKey {
    case access_token_lifetime, refresh_in, refresh_token_lifetime, refresh_rotation, refuse_replaced, device_interval
    case device_code_lifetime, second_factor, fail
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Name.self)
    func read<Value: Decodable>(_ name: Name, _ value: inout Value) throws {
      if let told = try members.decodeIfPresent(Value.self, forKey: name) { value = told }
    }
    try read(.access_token_lifetime, &accessTokenLifetime)
    refreshIn = try members.decodeIfPresent(Int64.self, forKey: .refresh_in)
    try read(.refresh_token_lifetime, &refreshTokenLifetime)
    try read(.refresh_rotation, &rotatesRefreshTokens)
    try read(.refuse_replaced, &refusesReplacedTokens)
    try read(.device_interval, &deviceInterval)
    try read(.device_code_lifetime, &deviceCodeLifetime)
    try read(.second_factor, &secondFactorUsers)
    failure = try members.decodeIfPresent(Failure.self, forKey: .fail)
  }
}

/// Granted tokens.
struct TokenDocument: Encodable {
  var token_type = "Bearer"
  var expires_in: Int64
  var ext_expires_in: Int64
  /// Seconds after which the token should be renewed, if the provider says so.
  var refresh_in: Int64?
  /// The scopes granted; absent for an application's own token.
  var scope: String?
  var access_token: String
  /// The result of an exchange (RFC 8693 §2.2.1).
  var issued_token_type: String?
  var refresh_token: String?
  var id_token: String?
  /// The account's ids, in base64url.
  var client_info: String?

  init(_ token: Secret, lifetime: Int64, refreshIn: Int64?) {
    expires_in = lifetime
    ext_expires_in = lifetime
    refresh_in = refreshIn
    access_token = token.revealed()
  }
}
