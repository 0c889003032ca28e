// The words for faults of upstreams in records, metrics, traces and `status`: few, and never a text that an upstream
// sends.

/// The reason why a request got no answer of its upstream, or not a whole one.
public enum UpstreamFault: String, Sendable, Hashable, CaseIterable {
  /// Its name has no address.
  case unresolved
  /// Its name leads to an address that no upstream may have.
  case forbiddenAddress = "forbidden_address"
  /// It accepts no connection.
  case connectionRefused = "connection_refused"
  /// It did not accept a connection in time.
  case connectTimedOut = "connect_timed_out"
  /// TLS failed, at the start or later.
  case tls
  /// The proxy on the way to it makes no tunnel.
  case proxy
  /// It closed the connection before it had answered.
  case closed
  /// It did not answer in time.
  case timedOut = "timed_out"
  case statusLine = "status_line"
  /// An HTTP of another major version than 1.
  case version
  case fieldLine = "field_line"
  /// The head is larger than the limits.
  case headTooLarge = "head_too_large"
  /// `Connection` is not a list of options, or nominates too many fields.
  case connectionOptions = "connection_options"
  /// `Content-Length` is repeated, or no number.
  case contentLength = "content_length"
  /// `Transfer-Encoding` is not `chunked`, or is beside a length or in HTTP/1.0.
  case transferEncoding = "transfer_encoding"
  /// It switched to a protocol that was not asked for.
  case unaskedSwitch = "unasked_switch"
  /// It makes no WebSocket: it announces none, agrees with an answer that is none, or does not prove the switch.
  case webSocket = "websocket"
  /// It sent one interim answer after the other.
  case interimAnswers = "interim_answers"
  /// Its content ended before it was complete.
  case cutShort = "cut_short"
  /// It reset the connection in the middle of its content.
  case reset
  /// The chunked coding of its content is broken.
  case chunkedCoding = "chunked_coding"
  /// The trailer section of its content is broken.
  case trailers
  /// It stopped sending in the middle of its content.
  case stalled
  /// It broke the rules of HTTP/2, or does not speak it.
  case http2
}
