// Owns what one busy connection needs to read and write with. Idle connections have none of it: a loop keeps a stack of
// these and hands them out with the first byte of a request.

internal import HTTP

/// Buffers, parsers and tables for one exchange after the other. Confined to its loop.
///
/// `@exclusivity(unchecked)`: one task uses a scratch at a time, and the compiler has checked each function; the run-time
/// check of every access would be a tenth of the user time of a request.
final class Scratch {
  /// What the caller sent.
  @exclusivity(unchecked) var requestInput = ByteBuffer(capacity: 16 * 1024)
  /// What is to be sent upstream.
  @exclusivity(unchecked) var requestOutput = ByteBuffer(capacity: 8 * 1024)
  /// What the upstream sent.
  @exclusivity(unchecked) var responseInput = ByteBuffer(capacity: 16 * 1024)
  /// What is to be sent to the caller.
  @exclusivity(unchecked) var responseOutput = ByteBuffer(capacity: 8 * 1024)
  /// The normal path where it differs from the one sent, and small texts of one exchange.
  @exclusivity(unchecked) var path = ByteBuffer(capacity: 256)
  /// The origin of the other site whose page may read the answer; empty where there is none.
  @exclusivity(unchecked) var reader = ByteBuffer(capacity: 64)
  /// The caller's `Host` where the upstream is sent it; empty for most.
  @exclusivity(unchecked) var callerHost = ByteBuffer(capacity: 1)
  /// Request id, trace parent and trace id, one behind the other.
  @exclusivity(unchecked) var identity = ByteBuffer(capacity: 256)
  /// Method, host and path for the access record, copied before the head's bytes go.
  @exclusivity(unchecked) var recorded = ByteBuffer(capacity: 512)
  /// The caller's head and the content sent so far, of a request that may be sent once more. Empty for most: it grows when it is
  /// needed first.
  @exclusivity(unchecked) var keptHead = ByteBuffer(capacity: 1)
  @exclusivity(unchecked) var keptContent = ByteBuffer(capacity: 1)
  /// How far the content of a request had been sent that is about to be sent once more.
  @exclusivity(unchecked) var replayed: BodyPump?
  @exclusivity(unchecked) var requestParser: RequestHeadParser
  @exclusivity(unchecked) var responseParser: ResponseHeadParser
  @exclusivity(unchecked) var requestTrailers = TrailerParser()
  @exclusivity(unchecked) var responseTrailers = TrailerParser()

  init(fieldCount: Int) {
    requestParser = RequestHeadParser(fieldCapacity: fieldCount)
    responseParser = ResponseHeadParser(fieldCapacity: fieldCount)
  }

  /// Whether a body has made a buffer grow, so that keeping this one would keep much memory.
  var isGrown: Bool {
    requestInput.capacity + requestOutput.capacity + responseInput.capacity + responseOutput.capacity
      + keptContent.capacity > 256 * 1024
  }

  /// Forgets everything, bearer values included.
  func reset() {
    requestInput.removeAll()
    requestOutput.removeAll()
    responseInput.removeAll()
    responseOutput.removeAll()
    path.removeAll()
    reader.removeAll()
    callerHost.removeAll()
    identity.removeAll()
    recorded.removeAll()
    keptHead.removeAll()
    keptContent.removeAll()
    replayed = nil
    requestParser.reset()
    responseParser.reset()
  }
}
