// Reads the HTTP/1.1 bytes of a response, as the rest of the proxy writes them, for a stream: heads for HEADERS frames,
// content for DATA frames, trailer fields.

internal import Bytes
internal import HTTP

/// A response on its way to a stream.
final class StreamResponse {
  @exclusivity(unchecked) private var bytes = ByteBuffer(capacity: 2048)
  @exclusivity(unchecked) private var parser = ResponseHeadParser()
  @exclusivity(unchecked) private var head = ResponseHead(fieldCapacity: 32)
  @exclusivity(unchecked) private var trailers = TrailerParser()
  @exclusivity(unchecked) private var reader: ContentReader?
  private let limits: HeadLimits
  private let method: RequestMethod
  /// Bytes of the head that was read last.
  @exclusivity(unchecked) private var headCount = 0
  /// Bytes at the front of `bytes` that are content.
  @exclusivity(unchecked) private var approved = 0
  /// Bytes of content that were given to frames.
  @exclusivity(unchecked) private(set) var sentBytes: UInt64 = 0

  /// The fields that the proxy adds to a head which an upstream sent within the limits.
  private static let addedBytes = 16 * 1024
  private static let addedFields = 64

  init(isHead: Bool, limits: HeadLimits) {
    method = isHead ? .head : .get
    self.limits = HeadLimits(
      headBytes: limits.headBytes + Self.addedBytes, fieldCount: limits.fieldCount + Self.addedFields,
      targetBytes: limits.targetBytes)
  }

  /// Bytes that wait to be given to frames.
  var waitingCount: Int { bytes.count }
  /// True if the head of the final response was read.
  var hasHead: Bool { reader != nil }

  /// Appends bytes, at most until `limit` wait; a head that is not complete may exceed that. Returns their number.
  func append(_ source: UnsafeRawBufferPointer, limit: Int) -> Int {
    let room = (hasHead ? limit : limit + limits.headBytes) - bytes.count
    let count = min(source.count, room)
    if count <= 0 { return 0 }
    bytes.reserve(count)
    return bytes.withWritableBytes { space in
      guard let from = source.baseAddress, let to = space.baseAddress else { return 0 }
      to.copyMemory(from: from, byteCount: count)
      return count
    }
  }

  enum HeadStep {
    case needsMore
    case interim
    case final(endsStream: Bool)
    case invalid
  }

  /// Reads the next head, if it is complete. It stays until `dropHead`.
  func nextHead() -> HeadStep {
    if hasHead || bytes.isEmpty { return .needsMore }
    switch bytes.withBytes({ parser.parse($0, into: &head, limits: limits) }) {
    case .needsMore: return .needsMore
    case .invalid: return .invalid
    case .complete(let byteCount):
      headCount = byteCount
      if head.isInterim { return .interim }
      do throws(FramingError) {
        let framing = try bytes.withBytes { bytes throws(FramingError) in
          try BodyFraming.response(head, bytes, requestMethod: method)
        }
        reader = ContentReader(framing)
        return .final(endsStream: framing == .none || framing == .fixed(0))
      } catch {
        return .invalid
      }
    }
  }

  /// The status of the head that was read.
  var status: Int { head.status }

  /// Lends the lines of the head that are for the caller.
  func forEachLine(_ body: (FieldLine, Span<UInt8>) -> Void) {
    bytes.withBytes { bytes in
      for index in 0..<head.fields.count where HopByHop.forwards(head.fields[index], head.connection, in: bytes) {
        body(head.fields[index], bytes)
      }
    }
  }

  /// Drops the head that was read.
  func dropHead() {
    bytes.consume(headCount)
    headCount = 0
  }

  enum ContentStep {
    case moved(Int)
    /// The content is complete behind these bytes; `trailers` lends the trailer fields, if there are any.
    case ended(Int, hasTrailers: Bool)
    case invalid
  }

  /// Moves content into `space`.
  func read(into space: UnsafeMutableRawBufferPointer) -> ContentStep {
    guard var reader else { return .invalid }
    defer { self.reader = reader }
    var count = 0
    while true {
      if approved > 0 {
        if count == space.count { return .moved(count) }
        let moved = bytes.move(to: UnsafeMutableRawBufferPointer(rebasing: space[count...]), atMost: approved)
        (count, approved, sentBytes) = (count + moved, approved - moved, sentBytes + UInt64(moved))
        continue
      }
      switch bytes.withBytes({ reader.next($0, &trailers, limits) }) {
      case .needsMore(let consumed):
        bytes.consume(consumed)
        return .moved(count)
      case .data(let start, let length):
        bytes.consume(start)
        approved = length
      case .lastChunk(let consumed): bytes.consume(consumed)
      case .end: return .ended(count, hasTrailers: trailers.fields.count > 0)
      case .invalid: return .invalid
      }
    }
  }

  /// Lends the lines of the trailer section behind the content.
  func forEachTrailer(_ body: (FieldLine, Span<UInt8>) -> Void) {
    bytes.withBytes { bytes in
      for index in 0..<trailers.fields.count { body(trailers.fields[index], bytes) }
    }
  }
}
