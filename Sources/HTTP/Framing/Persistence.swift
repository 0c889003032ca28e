/// The rule for a connection after a message (RFC 9112 §9.3), as far as that message decides.
public enum Persistence: UInt8, Sendable, Hashable {
  /// Another exchange can follow.
  case keepAlive
  /// The connection is closed.
  case close

  /// The request's choice for the downstream connection.
  public static func after(request head: borrowing RequestHead) -> Persistence {
    decide(head.version, head.connection)
  }

  /// The response's choice for the upstream connection, once its content has been read to the end. A 101 is treated as
  /// the end of HTTP on it.
  public static func after(response head: borrowing ResponseHead, framing: BodyFraming) -> Persistence {
    if framing == .untilClose || head.status == 101 { return .close }
    return decide(head.version, head.connection)
  }

  /// The downstream connection after an answer, however it came about. It goes on if the request allows it, all of the
  /// request has been read, the answer's end can be told from the connection's, and the proxy does not end it.
  public static func afterAnswer(
    to request: Persistence, isRead: Bool, answerHasEnd: Bool = true, isEnding: Bool
  ) -> Persistence {
    request == .keepAlive && isRead && answerHasEnd && !isEnding ? .keepAlive : .close
  }

  private static func decide(_ version: HTTPVersion, _ options: ConnectionOptions) -> Persistence {
    if options.close { return .close }
    return version.keepsConnections || options.keepAlive ? .keepAlive : .close
  }
}

/// A request's expectation before it sends its content.
public enum ExpectContinue: UInt8, Sendable, Hashable {
  /// None, or an expectation in an HTTP/1.0 request, which is ignored.
  case none
  /// A 100 (Continue) before the content.
  case continue100
  /// An expectation that no standard defines: 417 (Expectation Failed).
  case unknown

  /// The expectation of a request.
  public static func of(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> ExpectContinue {
    if !head.fields.contains(.expect) || !head.version.hasInterimResponses { return .none }
    var expectation = ExpectContinue.none
    for index in 0..<head.fields.count where head.fields[index].known == .expect {
      var elements = ListElements(bytes, head.fields[index].value)
      while let element = elements.next() {
        if !bytes.extracting(element).equalsIgnoringCase("100-continue") { return .unknown }
        expectation = .continue100
      }
    }
    return expectation
  }
}
