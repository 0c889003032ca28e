// Owns when a request is sent a second time.

internal import HTTP

/// The rule for requests that met a dead connection.
enum RetryRule {
  /// Whether a request that failed before any answer arrived is sent again on a fresh connection (RFC 9110 §9.2.2, RFC
  /// 9112 §9.3.1): the connection had been used before, so the upstream may have closed it while it was idle, and doing
  /// the request twice is like doing it once. Content that has been streamed is gone, so only requests without any are
  /// repeated.
  static func permits(
    method: RequestMethod, framing: BodyFraming, connectionWasReused: Bool, isFirstAttempt: Bool
  ) -> Bool {
    isFirstAttempt && connectionWasReused && survivesRepetition(method: method, framing: framing)
  }

  /// Whether a connection that may turn out to be dead is good enough for a request.
  static func survivesRepetition(method: RequestMethod, framing: BodyFraming) -> Bool {
    let hasNoContent = framing == .none || framing == .fixed(0)
    return hasNoContent && method.isIdempotent
  }
}
