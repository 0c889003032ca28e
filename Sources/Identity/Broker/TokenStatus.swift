// What is told about tokens to people and machines: readiness, log and metrics. Never the token.

package import Bytes
package import Tokens

/// How one key stands, for `/readyz` and `status`.
package struct TokenStatus: Sendable, Hashable {
  /// A failure that no success has followed.
  package struct Failure: Sendable, Hashable {
    /// The last attempt's.
    package var error: AcquisitionError
    /// When the first of the row happened.
    package var since: UnixTime
    /// Before when nothing is sent.
    package var retryAt: UnixTime
  }

  /// The application's name in the configuration.
  package var application: String
  /// On whose behalf.
  package var subject: TokenSubject
  /// The client id of the agent identity that stands in the application's place.
  package var agent: String?
  /// What is asked for.
  package var scopes: ScopeSet
  /// Whose token is held, or would be asked for.
  package var account: CachedAccount?
  /// When the held token ends; nil where none was ever obtained.
  package var expiresAt: UnixTime?
  /// What is wrong, if something is. A held token may still serve.
  package var failure: Failure?
  /// Whether a request for a token is under way.
  package var isRefreshing = false
  /// Whether the held token was obtained with a credential that has been replaced since, and the new one has obtained
  /// none.
  package var isOfFormerCredential = false

  /// Whether requests are served: a token is held and not expired.
  package func isReady(at now: UnixTime) -> Bool {
    expiresAt.map { now < $0 } ?? false
  }
}

/// One acquisition that went to the provider, for log and metrics.
package struct TokenEvent: Sendable {
  /// How it ended.
  package enum Outcome: Sendable {
    /// A token arrived.
    case obtained(TokenLifetime, granted: ScopeSet)
    /// None did. `servedUntil` is the expiry of the held token, where one still serves.
    case failed(AcquisitionError, TokenErrorClass, servedUntil: UnixTime?)
  }

  /// What the token is shared by.
  package var key: AcquisitionKey
  /// The application's name in the configuration.
  package var application: String
  /// The provider.
  package var authority: Authority
  /// What was asked for.
  package var scopes: ScopeSet
  /// The `grant_type` of what was offered.
  package var grantType: String
  /// How long it took, discovery and repetition included.
  package var duration: Duration
  /// How it ended.
  package var outcome: Outcome
  /// Whether it was the first attempt, or one of the first, of a changed credential: the held token is the former
  /// one's.
  package var isOfChangedCredential = false
}
