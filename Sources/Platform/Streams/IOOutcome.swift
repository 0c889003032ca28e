// Owns what one attempt to move bytes can come to. Would-block is a value, not an error.

/// The outcome of one non-blocking attempt to receive or send.
public enum IOOutcome {
  /// So many bytes, at least one.
  case moved(Int)
  /// Nothing now: watch the stream and try again.
  case wouldBlock
  /// The peer has ended its direction in good order.
  case endOfStream
  /// The stream is broken.
  case failed(StreamError)
}

/// Why a stream is broken.
public enum StreamError: Error, Sendable, Hashable {
  /// The peer reset the connection, or closed it while we were sending.
  case reset
  /// TLS: the peer ended the connection without saying so (no close_notify), so what came before may be cut short.
  case truncated
  /// TLS: an alert, a record that does not verify, a handshake that failed.
  case tls(TLSFailure)
  /// Anything else the kernel reports.
  case system(SystemError)

  init(errno number: Int32, call: StaticString) {
    self = number == ECONNRESET || number == EPIPE ? .reset : .system(SystemError(call, number))
  }
}

internal import Glibc
