/// The last part of a problem document's `type` (RFC 9457 §3.1.1).
package enum ProblemType: String, Sendable, Hashable, CaseIterable {
  case badPath = "bad-path"
  case methodNotSupported = "method-not-supported"
  case badRequest = "bad-request"
  case misdirectedRequest = "misdirected-request"
  case expectationFailed = "expectation-failed"
  case unknownHost = "unknown-host"
  case crossSiteRequest = "cross-site-request"
  case speculativeRequest = "speculative-request"
  case serviceWorkerRefused = "service-worker-refused"
  case callerRefused = "caller-refused"
  case callerNotAuthenticated = "caller-not-authenticated"
  case callerScopeMissing = "caller-scope-missing"
  case callerIssuerUnavailable = "caller-issuer-unavailable"
  case loopDetected = "loop-detected"
  case authorizationRefused = "authorization-refused"
  case noRoute = "no-route"
  case methodNotAllowed = "method-not-allowed"
  case requestTimeout = "request-timeout"
  case contentTooLarge = "content-too-large"
  case upstreamTimeout = "upstream-timeout"
  case upstreamUnreachable = "upstream-unreachable"
  case upstreamClosed = "upstream-closed"
  case upstreamMalformed = "upstream-malformed"
  case exchangeTimeout = "exchange-timeout"
  case targetTooLong = "target-too-long"
  case headTooLarge = "head-too-large"
  case versionNotSupported = "version-not-supported"
  case identityProviderUnavailable = "identity-provider-unavailable"
  case tokenRequestRejected = "token-request-rejected"
  case authorityUnusable = "authority-unusable"
  case tokenCacheUnavailable = "token-cache-unavailable"
  case interactionRequired = "interaction-required"
  case callerClaimsRequired = "caller-claims-required"
  case callerConsentRequired = "caller-consent-required"
  case callerTokenRefused = "caller-token-refused"
  case callerDenied = "caller-denied"
  case choiceRefused = "choice-refused"
  case tokenRefused = "token-refused"
}

/// The outcome of a refusal of a token, or of a request for one.
package enum ChallengeOutcome: String, Sendable, Hashable, CaseIterable {
  /// Another token was obtained, and the request sent once more.
  case replayed
  /// Another token was requested for the next request: this one could not be repeated.
  case renewedBehind = "renewed_behind"
  /// The same rejection was answered a moment ago.
  case alreadyAnswered = "already_answered"
  /// Only a person can bring another token.
  case notObtained = "not_obtained"
  /// The request had been sent twice already.
  case refusedAgain = "refused_again"
  /// No action was possible.
  case passedOn = "passed_on"
  /// The proxy's own answer named the requirement.
  case answered
}

/// The reason why an upstream, or the provider, demanded another token.
package enum RecordedChallenge: String, Sendable, Hashable, CaseIterable {
  /// No challenge that concerns the token.
  case none
  case claims
  case invalidToken = "invalid_token"
  /// A 401 without a reason.
  case unexplained
  case insufficientScope = "insufficient_scope"
  /// `insufficient_user_authentication`.
  case stepUp = "step_up"
  /// Another error.
  case other
  /// A challenge that cannot be used.
  case unusable
  /// The provider demands a person.
  case interactionRequired = "interaction_required"
}
