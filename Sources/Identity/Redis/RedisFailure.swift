// Owns why a Redis server could not be used, in words an operator can act on. What the server said beyond the first word is never repeated:
// Redis quotes what it was sent.

public import HTTPClient
public import Tokens

/// What stands between a process and its cache's server.
public enum RedisFailure: Error, Sendable, Hashable {
  /// No connection.
  case unreachable(UpstreamError)
  /// The connection ended in the middle.
  case closed
  /// No answer within the time limit.
  case timedOut
  /// What answers does not speak Redis's protocol.
  case malformed
  /// User or password are wrong, or there are none and the server wants some.
  case credentials(code: String)
  /// The server refuses a command: the word it gives for why (`NOPERM`, `READONLY`, `LOADING`, `OOM`, …).
  case refused(command: String, code: String)
  /// A shard is no cache. It is neither overwritten nor deleted; somebody has to look at it.
  case damaged(shard: String, CacheDocumentError)
  /// Others changed the same entries again and again, faster than we could.
  case contended
}

extension RedisFailure {
  /// Every word of `reason`.
  static let reasons = ["unreachable", "credentials", "refused", "damaged", "changing"]

  /// A word for metrics.
  var reason: String {
    switch self {
    case .unreachable, .closed, .timedOut, .malformed: "unreachable"
    case .credentials: "credentials"
    case .refused: "refused"
    case .damaged: "damaged"
    case .contended: "changing"
    }
  }
}

extension RedisFailure: CustomStringConvertible {
  /// A sentence's end, after the server's name.
  public var description: String {
    switch self {
    case .unreachable(let error): error.reason
    case .closed: "the connection was closed"
    case .timedOut: "no answer within the time limit"
    case .malformed: "the answer is not Redis's protocol"
    case .credentials("NOAUTH"): "the server wants a password (NOAUTH)"
    case .credentials(let code): "user or password are wrong (\(code))"
    case .refused(let command, "NOPERM"): "the user may not use \(command) on these keys (NOPERM)"
    case .refused(let command, let code): "the server refuses \(command) (\(code))"
    case .damaged(let shard, _): "\(shard) is no token cache"
    case .contended: "others change the same entries without end"
    }
  }
}
