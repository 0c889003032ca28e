// Reads the HTTP/1.1 bytes of a message, as the rest of the proxy writes them, for a stream: heads for HEADERS frames,
// content for DATA frames, trailer fields.

internal import Bytes
internal import HTTP

/// A message on its way to a stream.
class StreamOutput {
  final var bytes = ByteBuffer(capacity: 2048)
  private final var trailers = TrailerParser()
  final var reader: ContentReader?
  final let limits: HeadLimits
  /// Bytes of the head that was read, and waits at the front for its frame; 0 if none does.
  final var headCount = 0
  /// Bytes at the front of `bytes` that are content.
  private final var approved = 0
  /// Bytes of content that were given to frames.
  private(set) final var sentBytes: UInt64 = 0
  /// True if no more bytes are appended, which is the end of a tunnel.
  private final var hasEnded = false

  /// The fields that the proxy adds to a head which its sender sent within the limits.
  private static let addedBytes = 16 * 1024
  private static let addedFields = 64

  init(_ limits: HeadLimits) {
    self.limits = Self.widened(limits)
  }

  /// True if it has the limits that another one for these has.
  final func isMade(for limits: HeadLimits) -> Bool { self.limits == Self.widened(limits) }

  private static func widened(_ limits: HeadLimits) -> HeadLimits {
    HeadLimits(
      headBytes: limits.headBytes + addedBytes, fieldCount: limits.fieldCount + addedFields,
      targetBytes: limits.targetBytes + addedBytes)
  }

  /// Forgets the message before.
  func begin() {
    bytes.removeAll()
    trailers.reset()
    reader = nil
    (headCount, approved, sentBytes, hasEnded) = (0, 0, 0, false)
  }

  /// Bytes of memory in its buffers.
  final var capacity: Int { bytes.capacity }

  /// Bytes that wait to be given to frames.
  final var waitingCount: Int { bytes.count }
  /// True if the head of the message was read; for a response the final one.
  final var hasHead: Bool { reader != nil }
  /// True if a head waits for its frame.
  final var headIsLeaving: Bool { headCount > 0 }
  /// True if there is more behind a head that waits.
  final var waitsBehindHead: Bool { headIsLeaving && waitingCount > headCount }

  /// Appends bytes, at most until `limit` wait; a head that is not complete may exceed that. Returns their number.
  final func append(_ source: UnsafeRawBufferPointer, limit: Int) -> Int {
    let room = limit + (hasHead ? headCount : limits.headBytes) - bytes.count
    let count = min(source.count, room)
    if count <= 0 { return 0 }
    bytes.reserve(count)
    return bytes.withWritableBytes { space in
      guard let from = source.baseAddress, let to = space.baseAddress else { return 0 }
      to.copyMemory(from: from, byteCount: count)
      return count
    }
  }

  /// Records that nothing more is appended. Messages with an end of their own do not need it.
  final func end() { hasEnded = true }

  // MARK: Head

  enum HeadStep {
    case needsMore
    case interim
    case final(endsStream: Bool)
    case invalid
  }

  /// Reads the next head, if it is complete. It waits for its frame then.
  func nextHead() -> HeadStep { preconditionFailure("every message has a head of its own") }

  /// Appends the fields of the head that waits.
  func writeHead(isSecure: Bool, into block: inout ByteBuffer) {
    preconditionFailure("every message has a head of its own")
  }

  /// Appends the fields of the frame that is made: of the head that waits, which is dropped, or of the trailer section.
  final func writeFields(isSecure: Bool, into block: inout ByteBuffer) {
    if headIsLeaving {
      writeHead(isSecure: isSecure, into: &block)
      bytes.consume(headCount)
      headCount = 0
    } else {
      writeTrailers(into: &block)
    }
  }

  /// The step for a final head, whose content has this framing.
  final func finalStep(_ framing: (Span<UInt8>) throws(FramingError) -> BodyFraming) -> HeadStep {
    do throws(FramingError) {
      let framing = try bytes.withBytes(framing)
      reader = ContentReader(framing)
      return .final(endsStream: framing == .none || framing == .fixed(0))
    } catch {
      return .invalid
    }
  }

  /// The step for a head behind which the bytes of another protocol begin.
  final func tunnelStep() -> HeadStep {
    reader = ContentReader(.untilClose)
    return .final(endsStream: false)
  }

  // MARK: Content

  enum ContentStep {
    case moved(Int)
    /// The content is complete behind these bytes; `trailers` lends the trailer fields, if there are any.
    case ended(Int, hasTrailers: Bool)
    case invalid
  }

  /// Moves content into `space`.
  final func read(into space: UnsafeMutableRawBufferPointer) -> ContentStep {
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
        if hasEnded, bytes.isEmpty, reader.senderEnded() { continue }
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

  /// Appends the fields of the trailer section behind the content.
  private func writeTrailers(into block: inout ByteBuffer) {
    for index in 0..<trailers.fields.count {
      let line = trailers.fields[index]
      bytes.withBytes { HeaderBlock.field(line, of: $0, into: &block) }
    }
  }
}

/// A response on its way to a caller's stream.
final class StreamResponse: StreamOutput {
  private var parser = ResponseHeadParser()
  private var head = ResponseHead(fieldCapacity: 32)
  /// True if the request's method is HEAD.
  var isForHead: Bool
  private let asksForTunnel: Bool
  /// True if the caller has sent a key, and wants the proof for it.
  private let hasKey: Bool

  init(isHead: Bool, asksForTunnel: Bool, hasKey: Bool, limits: HeadLimits) {
    isForHead = isHead
    self.asksForTunnel = asksForTunnel
    self.hasKey = hasKey
    super.init(limits)
  }

  override func begin() {
    super.begin()
    parser = ResponseHeadParser()
    head.reset()
  }

  override func nextHead() -> HeadStep {
    if hasHead || bytes.isEmpty { return .needsMore }
    switch bytes.withBytes({ parser.parse($0, into: &head, limits: limits) }) {
    case .needsMore: return .needsMore
    case .invalid: return .invalid
    case .complete(let byteCount):
      headCount = byteCount
      if head.isInterim { return .interim }
      if head.status == 101 { return asksForTunnel ? tunnelStep() : .invalid }
      // To the caller a success would be the beginning of the tunnel (RFC 9113 §8.5).
      if asksForTunnel, 200..<300 ~= head.status { return .invalid }
      return finalStep { bytes throws(FramingError) in
        try BodyFraming.response(head, bytes, requestMethod: isForHead ? .head : .get)
      }
    }
  }

  override func writeHead(isSecure: Bool, into block: inout ByteBuffer) {
    // The 101 that makes a tunnel of an exchange with HTTP/1.1 is a success here (RFC 8441 §5).
    HeaderBlock.status(head.status == 101 ? 200 : head.status, into: &block)
    Self.write(
      head, bytes, dropping: asksForTunnel && !hasKey ? WebSocketUpgrade.acceptanceName : nil, into: &block)
  }

  private static func write(
    _ head: borrowing ResponseHead, _ input: borrowing ByteBuffer, dropping unused: StaticString?,
    into block: inout ByteBuffer
  ) {
    let bytes = input.bytes
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      guard HopByHop.forwards(line, head.connection, in: bytes) else { continue }
      // RFC 8441 §5: the proof has no use here.
      if let unused, bytes.extracting(line.name).equalsIgnoringCase(unused) { continue }
      HeaderBlock.field(line, of: bytes, into: &block)
    }
  }
}

/// A request on its way to an upstream's stream.
final class StreamRequest: StreamOutput {
  private var parser = RequestHeadParser()
  private var head = RequestHead(fieldCapacity: 32)

  override init(_ limits: HeadLimits) { super.init(limits) }

  /// True if the method is HEAD.
  var isHead: Bool { head.method == .head }
  /// The proof of the WebSocket that the request asks for; nil if it asks for none.
  private(set) var acceptance: [UInt8]?
  /// True if the sender accepts trailer fields, which a field says that is about the connection in HTTP/1.1.
  private var acceptsTrailers: Bool { bytes.withBytes { HopByHop.acceptsTrailers(head.fields, in: $0) } }

  override func nextHead() -> HeadStep {
    if hasHead || bytes.isEmpty { return .needsMore }
    switch bytes.withBytes({ parser.parse($0, into: &head, limits: limits) }) {
    case .needsMore: return .needsMore
    case .invalid: return .invalid
    case .complete(let byteCount):
      headCount = byteCount
      if head.connection.upgrade { acceptance = bytes.withBytes { WebSocketUpgrade.acceptance(of: head, $0) } }
      if acceptance != nil { return tunnelStep() }
      return finalStep { bytes throws(FramingError) in try BodyFraming.request(head, bytes) }
    }
  }

  override func begin() {
    super.begin()
    parser = RequestHeadParser()
    head.reset()
    acceptance = nil
  }

  /// Lends the method.
  func withMethod<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    bytes.withBytes { body($0.extracting(head.methodName)) }
  }

  override func writeHead(isSecure: Bool, into block: inout ByteBuffer) {
    if acceptance != nil { HeaderBlock.field(":protocol", "websocket", into: &block) }
    HeaderBlock.scheme(isSecure: isSecure, into: &block)
    Self.write(head, bytes, into: &block)
    if acceptsTrailers { HeaderBlock.field("te", "trailers", into: &block) }
  }

  private static func write(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, into block: inout ByteBuffer
  ) {
    let bytes = input.bytes
    HeaderBlock.authority(bytes.extracting(head.authority), into: &block)
    HeaderBlock.path(bytes.extracting(head.target.whole), into: &block)
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      guard line.known != .host, HopByHop.forwards(line, head.connection, in: bytes) else { continue }
      HeaderBlock.field(line, of: bytes, into: &block)
    }
  }
}
