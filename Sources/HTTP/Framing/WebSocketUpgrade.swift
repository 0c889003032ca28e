/// The upgrade to the WebSocket protocol (RFC 6455 §4, RFC 9110 §7.8).
public enum WebSocketUpgrade {
  /// True if a request asks for it, for nothing else, and may: a GET of HTTP/1.1 without content.
  public static func isAsked(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, framing: BodyFraming) -> Bool {
    head.method == .get && head.version.hasUpgrades && (framing == .none || framing == .fixed(0))
      && isNamed(head.fields, head.connection, bytes)
  }

  /// True if an answer switches to it, and to nothing else.
  public static func isAgreed(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>) -> Bool {
    head.status == 101 && head.version.hasUpgrades && isNamed(head.fields, head.connection, bytes)
  }

  /// True if `Upgrade` is one line that names the one protocol, and is about this connection.
  private static func isNamed(
    _ fields: borrowing FieldTable, _ connection: borrowing ConnectionOptions, _ bytes: Span<UInt8>
  ) -> Bool {
    guard connection.upgrade, fields.count(of: .upgrade) == 1, let line = fields.first(.upgrade) else { return false }
    return bytes.extracting(line.value).equalsIgnoringCase("websocket")
  }
}
