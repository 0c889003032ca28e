package import Bytes
package import Tokens

/// The status of one key, for `/readyz` and `status`. It has no token.
package struct TokenStatus: Sendable, Hashable {
  /// A failure that no success has followed.
  package struct Failure: Sendable, Hashable {
    package var error: AcquisitionError
    /// The time of the first of the failures in a row.
    package var since: UnixTime
    /// The time of the next attempt at the earliest.
    package var retryAt: UnixTime
  }

  /// The application's name in the configuration.
  package var application: String
  package var subject: TokenSubject
  /// The client id of the agent identity that acts as the application.
  package var agent: String?
  package var scopes: ScopeSet
  /// The account of the held token, or of the next.
  package var account: CachedAccount?
  /// The end of the held token; nil if none was ever obtained.
  package var expiresAt: UnixTime?
  /// The present failure, if there is one. A held token may still serve.
  package var failure: Failure?
  /// True if a request for a token is under way.
  package var isRefreshing = false
  /// True if the held token is of a replaced credential, and the new one has obtained none.
  package var isOfFormerCredential = false

  /// True if requests are served: a token is held and not expired.
  package func isReady(at now: UnixTime) -> Bool {
    expiresAt.map { now < $0 } ?? false
  }
}

/// One acquisition that went to the provider, for log and metrics.
package struct TokenEvent: Sendable {
  /// The end of an acquisition.
  package enum Outcome: Sendable {
    case obtained(TokenLifetime, granted: ScopeSet)
    /// None arrived. `servedUntil` is the expiry of the held token, if it still serves.
    case failed(AcquisitionError, TokenErrorClass, servedUntil: UnixTime?)
  }

  package var key: AcquisitionKey
  /// The application's name in the configuration.
  package var application: String
  package var authority: Authority
  package var scopes: ScopeSet
  package var grantType: String
  /// The duration, discovery and repetition included.
  package var duration: Duration
  package var outcome: Outcome
  /// True if the held token was that of a former credential.
  package var isOfChangedCredential = false
}
