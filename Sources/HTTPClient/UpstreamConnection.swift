// Owns one connection to an upstream between exchanges: its stream and how long it has been idle.

public import Network

/// A connection to an upstream. Confined to its loop.
public final class UpstreamConnection {
  /// The bytes.
  public let stream: ByteStream
  /// Whether an exchange has been completed on it before: only then can the peer have closed it in the meantime.
  @exclusivity(unchecked) public internal(set) var isReused = false
  /// Whether a caller may have authenticated it: it then belongs to that caller, and goes to no pool.
  @exclusivity(unchecked) public var isBound = false
  @exclusivity(unchecked) var idleSince = MonotonicTime.distantFuture

  init(_ stream: ByteStream) {
    self.stream = stream
  }

  /// Closes it; it goes to no pool.
  public func close() {
    stream.close()
  }
}
