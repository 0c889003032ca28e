// What is recorded of one request, apart from the texts, which stay where they were received.

/// Where a request's token came from.
public enum TokenSource: UInt8, Sendable, Hashable {
  /// The route has none, or the request did not get that far.
  case none
  /// It was there already.
  case cache
  /// The request waited for a look into the shared cache, where another process had put it.
  case sharedCache
  /// The request waited for the identity provider.
  case identityProvider

  var word: StaticString {
    switch self {
    case .none: "none"
    case .cache: "cache"
    case .sharedCache: "shared_cache"
    case .identityProvider: "identity_provider"
    }
  }
}

/// Whose token a request carried to its upstream.
package enum SentCredential: UInt8, Sendable, Hashable {
  case none
  /// The application's own.
  case application
  /// A signed-in person's.
  case account
  /// The one that the caller's own was exchanged for.
  case caller
  /// An agent's, or that of its user account.
  case agent
  /// The `Authorization` that the caller sent.
  case kept

  var word: StaticString {
    switch self {
    case .none: "none"
    case .application: "application"
    case .account: "account"
    case .caller: "caller"
    case .agent: "agent"
    case .kept: "kept"
    }
  }
}

/// How access records name people: accounts, and the subjects of callers' tokens.
public enum RecordedIdentities: String, Sendable, Hashable, CaseIterable {
  /// They are left out.
  case none
  /// By the SHA-256 of the name in hexadecimal digits. It hides a name only from readers who cannot guess it.
  case hashed
  /// By their names.
  case plain
}

/// How a request ended.
public enum RequestOutcome: UInt8, Sendable, Hashable {
  /// The upstream's answer was delivered whole.
  case completed
  /// The proxy answered by itself: no route, no token, over a limit.
  case answeredByProxy
  /// The caller went away first.
  case abortedByDownstream
  /// The upstream could not be reached, or broke off.
  case upstreamFailed
  /// A time limit ran out.
  case timedOut

  var word: StaticString {
    switch self {
    case .completed: "completed"
    case .answeredByProxy: "answered_by_proxy"
    case .abortedByDownstream: "aborted_by_downstream"
    case .upstreamFailed: "upstream_failed"
    case .timedOut: "timed_out"
    }
  }
}

/// The numbers of one request.
public struct AccessRecord: Sendable, Hashable {
  /// The route's position in the configuration; `nil` where none matched.
  public var route: Int?
  /// The status sent to the caller; 0 where none was.
  public var status: UInt16 = 0
  /// Bytes of the request's body.
  public var bytesIn: UInt64 = 0
  /// Bytes of the response's body.
  public var bytesOut: UInt64 = 0
  /// From the first byte of the request's head to the last of the response, in nanoseconds.
  public var total: UInt64 = 0
  /// Time spent waiting for a token, in nanoseconds; `nil` where none was asked for.
  public var token: UInt64?
  /// From choosing an upstream connection to the end of the response's head, in nanoseconds; `nil` where none was
  /// chosen.
  public var upstream: UInt64?
  /// Where the token came from.
  public var tokenSource: TokenSource = .none
  /// Whose token was sent.
  package var credential: SentCredential = .none
  /// How the request ended.
  public var outcome: RequestOutcome = .completed
  /// What the upstream did wrong; `nil` where it did nothing wrong.
  public var fault: UpstreamFault?

  /// What the proxy answered itself; `nil` where the answer was the upstream's, or none.
  package var problem: ProblemType?
  /// Why another token was demanded the last time, and what became of that; `nil` where none was.
  package var challenge: RecordedChallenge?
  package var challengeOutcome: ChallengeOutcome?

  /// A record of nothing yet.
  public init() {}
}
