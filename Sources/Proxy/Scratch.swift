// Owns what one busy connection needs to read and write with. Idle connections have none of it: a loop keeps a stack of
// these and hands them out with the first byte of a request.

internal import HTTP

/// Buffers, parsers and tables for one exchange after the other. Confined to its loop.
final class Scratch {
  /// What the caller sent.
  var requestInput = ByteBuffer(capacity: 16 * 1024)
  /// What is to be sent upstream.
  var requestOutput = ByteBuffer(capacity: 8 * 1024)
  /// What the upstream sent.
  var responseInput = ByteBuffer(capacity: 16 * 1024)
  /// What is to be sent to the caller.
  var responseOutput = ByteBuffer(capacity: 8 * 1024)
  /// The normal path where it differs from the one sent, and small texts of one exchange.
  var path = ByteBuffer(capacity: 256)
  /// Request id, trace parent and trace id, one behind the other.
  var identity = ByteBuffer(capacity: 256)
  /// Method, host and path for the access record, copied before the head's bytes go.
  var recorded = ByteBuffer(capacity: 512)
  var requestParser: RequestHeadParser
  var responseParser: ResponseHeadParser
  var requestTrailers = TrailerParser()
  var responseTrailers = TrailerParser()

  init(fieldCount: Int) {
    requestParser = RequestHeadParser(fieldCapacity: fieldCount)
    responseParser = ResponseHeadParser(fieldCapacity: fieldCount)
  }

  /// Whether a body has made a buffer grow, so that keeping this one would keep much memory.
  var isGrown: Bool {
    requestInput.capacity + requestOutput.capacity + responseInput.capacity + responseOutput.capacity > 256 * 1024
  }

  /// Forgets everything, bearer values included.
  func reset() {
    requestInput.removeAll()
    requestOutput.removeAll()
    responseInput.removeAll()
    responseOutput.removeAll()
    path.removeAll()
    identity.removeAll()
    recorded.removeAll()
    requestParser.reset()
    responseParser.reset()
  }
}
