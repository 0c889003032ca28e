import Bytes

/// The upgrade to the WebSocket protocol (RFC 6455 §4, RFC 9110 §7.8).
public enum WebSocketUpgrade {
  /// True if a request asks for it, for nothing else, and may: a GET without content, with one key. HTTP/2 asks with
  /// an extended CONNECT (RFC 8441), which becomes the same head.
  public static func isAsked(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, framing: BodyFraming) -> Bool {
    head.method == .get && head.version.hasUpgrades && (framing == .none || framing == .fixed(0))
      && isNamed(head.fields, head.connection, bytes) && only(keyName, head.fields, bytes) != nil
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

  // MARK: Proof

  private static let keyName: StaticString = "sec-websocket-key"
  package static let acceptanceName: StaticString = "sec-websocket-accept"

  /// The proof that the handshake of this request was read, which only a server of WebSockets gives (RFC 6455 §4.2.2
  /// item 5.4); nil without a key.
  package static func acceptance(of head: borrowing RequestHead, _ bytes: Span<UInt8>) -> [UInt8]? {
    guard let key = only(keyName, head.fields, bytes) else { return nil }
    let text = bytes.extracting(key)
    let proof = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    return Array(Base64.encode(SHA1.digest(text.indices.map { text[$0] } + proof)).utf8)
  }

  /// True if an answer has this proof.
  package static func proves(_ acceptance: [UInt8], _ head: borrowing ResponseHead, _ bytes: Span<UInt8>) -> Bool {
    guard let value = only(acceptanceName, head.fields, bytes) else { return false }
    let text = bytes.extracting(value)
    return text.indices.map { text[$0] } == acceptance
  }

  /// The value of a field that occurs once and is not empty.
  private static func only(_ name: StaticString, _ fields: borrowing FieldTable, _ bytes: Span<UInt8>) -> ByteRange? {
    let (value, count) = fields.values(named: name, in: bytes)
    return count == 1 && !value.isEmpty ? value : nil
  }
}
