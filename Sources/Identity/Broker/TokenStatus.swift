// Owns what is told about tokens to people and machines: readiness, log and metrics. Never the token.

public import Bytes
public import Tokens

/// How one key stands, for `/readyz` and `status`.
public struct TokenStatus: Sendable, Hashable {
  /// A failure that no success has followed.
  public struct Failure: Sendable, Hashable {
    /// The last attempt's.
    public var error: AcquisitionError
    /// When the first of the row happened.
    public var since: UnixTime
    /// Before when nothing is sent.
    public var retryAt: UnixTime
  }

  /// The application's name in the configuration.
  public var application: String
  /// On whose behalf.
  public var subject: TokenSubject
  /// What is asked for.
  public var scopes: ScopeSet
  /// Whose token is held, or would be asked for.
  public var account: CachedAccount?
  /// When the held token ends; nil where none was ever obtained.
  public var expiresAt: UnixTime?
  /// What is wrong, if something is. A held token may still serve.
  public var failure: Failure?
  /// Whether a request for a token is under way.
  public var isRefreshing = false
  /// Whether the held token was obtained with a credential that has been replaced since, and the new one has obtained none.
  public var isOfFormerCredential = false

  /// Whether requests are served: a token is held and not expired.
  public func isReady(at now: UnixTime) -> Bool {
    expiresAt.map { now < $0 } ?? false
  }
}

/// One acquisition that went to the provider, for log and metrics.
public struct TokenEvent: Sendable {
  /// How it ended.
  public enum Outcome: Sendable {
    /// A token arrived.
    case obtained(TokenLifetime, granted: ScopeSet)
    /// None did. `servedUntil` is the expiry of the held token, where one still serves.
    case failed(AcquisitionError, TokenErrorClass, servedUntil: UnixTime?)
  }

  /// The application's name in the configuration.
  public var application: String
  /// The provider.
  public var authority: Authority
  /// What was asked for.
  public var scopes: ScopeSet
  /// The `grant_type` of what was offered.
  public var grantType: String
  /// How long it took, discovery and repetition included.
  public var duration: Duration
  /// How it ended.
  public var outcome: Outcome
  /// Whether it was the first attempt, or one of the first, of a changed credential: the held token is the former one's.
  public var isOfChangedCredential = false
}
