// The record of one request, without the texts, which stay in the buffer in which they were received.

/// The source of a request's token.
public enum TokenSource: UInt8, Sendable, Hashable, CaseIterable {
  /// The route has none, or the request did not get that far.
  case none
  /// Memory.
  case cache
  /// The request waited for a look into the shared cache. Another process had put it there.
  case sharedCache
  /// The request waited for the identity provider.
  case identityProvider

  package var word: String {
    switch self {
    case .none: "none"
    case .cache: "cache"
    case .sharedCache: "shared_cache"
    case .identityProvider: "identity_provider"
    }
  }
}

/// The owner of the credential that a request carried to its upstream.
package enum SentCredential: String, Sendable, Hashable {
  case none
  /// The application's own.
  case application
  /// A signed-in person's.
  case account
  /// The token for which the caller's own was exchanged.
  case caller
  /// An agent's, or that of its user account.
  case agent
  /// The `Authorization` that the caller sent.
  case kept
  /// A fixed credential of the route's.
  case fixed
}

/// The form of people's names in access records: accounts, and the subjects of callers' tokens.
package enum RecordedIdentities: String, Sendable, Hashable, CaseIterable {
  /// They are left out.
  case none
  /// By the SHA-256 of the name in hexadecimal digits. It hides a name only from readers who cannot guess it.
  case hashed
  /// By their names.
  case plain
}

/// The end of a request.
public enum RequestOutcome: String, Sendable, Hashable {
  /// The upstream's answer was delivered whole.
  case completed
  /// The proxy answered by itself: no route, no token, over a limit.
  case answeredByProxy = "answered_by_proxy"
  /// The caller disconnected first.
  case abortedByDownstream = "aborted_by_downstream"
  /// The upstream could not be reached, or broke off.
  case upstreamFailed = "upstream_failed"
  /// A time limit ran out.
  case timedOut = "timed_out"
}

/// The numbers of one request.
public struct AccessRecord: Sendable, Hashable {
  /// The route's position in the configuration; `nil` if none matched.
  public var route: Int?
  /// The status sent to the caller; 0 if none was.
  public var status: UInt16 = 0
  /// Bytes of the request's body.
  public var bytesIn: UInt64 = 0
  /// Bytes of the response's body.
  public var bytesOut: UInt64 = 0
  /// From the first byte of the request's head to the last of the response, in nanoseconds.
  public var total: UInt64 = 0
  /// Time spent waiting for a token, in nanoseconds; `nil` if none was requested.
  public var token: UInt64?
  /// From choosing an upstream connection to the end of the response's head, in nanoseconds; `nil` if none was chosen.
  public var upstream: UInt64?
  /// The source of the token.
  public var tokenSource: TokenSource = .none
  package var credential: SentCredential = .none
  /// The end of the request.
  public var outcome: RequestOutcome = .completed
  /// The upstream's fault; `nil` if there was none.
  public var fault: UpstreamFault?

  /// The type of the proxy's own answer; `nil` if the answer was the upstream's, or none.
  package var problem: ProblemType?
  /// The reason and outcome of the last challenge; `nil` if there was none.
  package var challenge: RecordedChallenge?
  package var challengeOutcome: ChallengeOutcome?

  /// True if the request came by HTTP/2.
  package var isHTTP2 = false
  /// True if it left by HTTP/2.
  package var upstreamIsHTTP2 = false

  /// An empty record.
  public init() {}
}
