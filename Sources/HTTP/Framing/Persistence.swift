// Owns the question whether a connection can carry another message after this one (RFC 9112 §9.3).

/// What becomes of a connection after a message, as far as that message decides.
public enum Persistence: UInt8, Sendable, Hashable {
  /// Another exchange can follow.
  case keepAlive
  /// The connection is closed.
  case close

  /// What the request asks of the downstream connection.
  public static func after(request head: borrowing RequestHead) -> Persistence {
    decide(head.version, head.connection)
  }

  /// What the response means for the upstream connection, once its content has been read to the end. A 101 is treated
  /// as the end of HTTP on it.
  public static func after(response head: borrowing ResponseHead, framing: BodyFraming) -> Persistence {
    if framing == .untilClose || head.status == 101 { return .close }
    return decide(head.version, head.connection)
  }

  private static func decide(_ version: HTTPVersion, _ options: ConnectionOptions) -> Persistence {
    if options.close { return .close }
    return version == .http11 || options.keepAlive ? .keepAlive : .close
  }
}
