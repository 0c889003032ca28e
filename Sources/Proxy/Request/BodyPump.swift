// Moves one message's content from one stream to another without keeping it: decodes the sender's framing, encodes the
// receiver's, and holds back when the receiver does. One pump serves one direction of one exchange; it never waits, it
// says what it waits for.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing

struct BodyPump {
  /// The event that the pump needs to go on.
  enum Step {
    /// Bytes from the source: watch it for receiving.
    case needsSource
    /// Room at the sink: watch it for sending.
    case needsSink
    /// Nothing: both sides are faster than this. Let the loop's other tasks run, then go on.
    case tookItsTurn
    /// Everything, trailers included, has been handed to the sink.
    case finished
    case failed(Failure)
  }

  /// The reason why content could not be moved.
  enum Failure {
    case sourceEnded
    case source(StreamError)
    case sink(StreamError)
    case content(ContentError)
    case tooLarge
  }

  private var reader: ContentReader
  private let writesChunks: Bool
  private let limit: UInt64
  private let forwardedTrailers: ForwardedTrailers
  // Bytes at the front of the input that are content and not yet with the sink.
  private var approved = 0
  private var filledInput = false
  /// The ends of frames in one direction of a WebSocket.
  private var frames: WebSocketFrames?
  /// True if any byte of the content or its framing has arrived.
  private(set) var hasBegun = false
  private(set) var contentBytes: UInt64 = 0
  /// Bytes handed to the present sink so far, heads and framing included.
  private(set) var sentBytes: UInt64 = 0
  /// True if the present sink, when it was full, may have taken bytes that `sentBytes` does not count yet: TLS records.
  private var wasBlocked = false
  /// Bytes of content up to which everything is kept for a second sink; nil if nothing is kept, or it was too much.
  private(set) var keepLimit: UInt64?

  /// True if what the present sink was sent of the content, if any, can be sent to another one.
  var canRewind: Bool { !hasBegun || keepLimit != nil }

  /// True if not a byte of the message has reached the present sink.
  var isUnsent: Bool { sentBytes == 0 && !wasBlocked }

  /// Content up to this size is copied behind a head that waits to be sent, so that both leave in one call.
  private var gatherLimit: Int { min(16 * 1024, bufferSize) }
  /// The input buffer's size for content that did not come with the head.
  private let bufferSize: Int

  /// The buffer for content, with so many connections to callers: less if there are many, because each of them may
  /// read slowly, and all of them have to fit in the process's memory.
  static func bufferSize(connections: Int) -> Int {
    switch connections {
    case ...256: 64 * 1024
    case ...2048: 16 * 1024
    default: 4 * 1024
    }
  }

  /// Bytes received in one turn at most, so that one large body between two fast peers leaves time for all others.
  private static let turn = 1024 * 1024

  /// A pump for content of `framing`; `writesChunks` if the receiver gets the chunked coding, and `trailers` of
  /// it.
  init(
    _ framing: BodyFraming, writesChunks: Bool, limit: UInt64 = .max, keepLimit: UInt64? = nil,
    space: ChunkedDecoder.SpaceBehindSize = .refused, trailers: ForwardedTrailers = ForwardedTrailers(),
    bufferSize: Int = Self.bufferSize(connections: 1)
  ) {
    reader = ContentReader(framing, space)
    self.writesChunks = writesChunks
    self.limit = limit
    forwardedTrailers = trailers
    self.keepLimit = keepLimit
    self.bufferSize = bufferSize
  }

  /// A pump for a message without content.
  static var empty: BodyPump { BodyPump(.none, writesChunks: false) }

  /// A pump for one direction of a WebSocket.
  static func webSocket(bufferSize: Int) -> BodyPump {
    var pump = BodyPump(.untilClose, writesChunks: false, bufferSize: bufferSize)
    pump.frames = WebSocketFrames()
    return pump
  }

  /// True if a frame of ours can be put behind what the sink was sent: it has whole frames, and none that closes.
  var takesFrame: Bool { approved == 0 && (frames.map { $0.isBetweenFrames && !$0.hasClosed } ?? false) }

  /// Moves what can be moved now. `input` holds what was received behind the head, `output` what is to be sent first:
  /// the head, and then this pump's own framing. `kept` gets what a second sink would be sent.
  mutating func step(
    from source: ByteStream, _ input: inout ByteBuffer, to sink: ByteStream, _ output: inout ByteBuffer,
    _ trailers: inout TrailerParser, _ limits: HeadLimits, keeping kept: inout ByteBuffer
  ) -> Step {
    var turn = Self.turn
    while true {
      if let failure = approve(&input, &output, &trailers, limits, &kept) { return .failed(failure) }
      gather(&input, &output)
      let isContent = output.isEmpty
      if !isContent || approved > 0 {
        switch isContent ? input.send(to: sink, first: approved) : output.send(to: sink) {
        case .moved(let count):
          if isContent { approved -= count }
          sentBytes &+= UInt64(count)
          continue
        case .wouldBlock:
          wasBlocked = true
          return .needsSink
        case .endOfStream: return .failed(.sink(.reset))
        case .failed(let error): return .failed(.sink(error))
        }
      }
      if reader.isAtEnd { return .finished }
      if turn <= 0 { return .tookItsTurn }
      makeRoom(&input)
      switch input.receive(from: source) {
      case .moved(let count):
        turn -= count
        filledInput = input.writableCount == 0
      case .wouldBlock: return .needsSource
      case .failed(let error):
        // A WebSocket ends with its closing frame, however its connection ends behind that (RFC 6455 §7.1.4).
        guard let frames, frames.hasClosed, frames.isBetweenFrames, reader.senderEnded() else {
          return .failed(.source(error))
        }
      case .endOfStream:
        guard reader.senderEnded() else { return .failed(.sourceEnded) }
        if writesChunks {
          HeadWriter.lastChunk(into: &output)
          HeadWriter.end(into: &output)
        }
      }
    }
  }

  /// Reads the framing at the front of the input until content is found or more is needed.
  private mutating func approve(
    _ input: inout ByteBuffer, _ output: inout ByteBuffer, _ trailers: inout TrailerParser, _ limits: HeadLimits,
    _ kept: inout ByteBuffer
  ) -> Failure? {
    if !input.isEmpty { hasBegun = true }
    while approved == 0, !input.isEmpty, !reader.isAtEnd {
      switch reader.next(input.bytes, &trailers, limits) {
      case .needsMore(let consumed):
        input.consume(consumed)
        return nil
      case .data(let start, let count):
        input.consume(start)
        approved = count
        contentBytes += UInt64(count)
        frames?.advance(over: input.bytes)
        if contentBytes > limit { return .tooLarge }
        if keepLimit != nil { keep(input.bytes.extracting(first: count), &kept) }
      case .lastChunk(let consumed): input.consume(consumed)
      case .end(let consumed):
        if writesChunks { writeEnd(trailers.fields, input.bytes, &output) }
        if writesChunks, keepLimit != nil { writeEnd(trailers.fields, input.bytes, &kept) }
        input.consume(consumed)
      case .invalid(let error): return .content(error)
      }
    }
    return nil
  }

  /// Keeps content in the form in which it is sent, or none any more if it is too much.
  @inline(never)
  private mutating func keep(_ content: Span<UInt8>, _ kept: inout ByteBuffer) {
    guard let keepLimit, contentBytes <= keepLimit else {
      keepLimit = nil
      kept.removeAll()
      return
    }
    if writesChunks { HeadWriter.chunk(content, into: &kept) } else { kept.append(content) }
  }

  /// Turns to a second sink: appends what was kept, which is everything up to here, behind the head in `output`, and
  /// goes on from there with the next step.
  mutating func rewind(_ input: inout ByteBuffer, _ output: inout ByteBuffer, kept: borrowing ByteBuffer) {
    // The rest that the first sink has not taken is kept, too.
    input.consume(approved)
    approved = 0
    sentBytes = 0
    wasBlocked = false
    output.append(kept.bytes)
  }

  private func writeEnd(
    _ fields: borrowing FieldTable, _ bytes: Span<UInt8>, _ output: inout ByteBuffer
  ) {
    HeadWriter.lastChunk(into: &output)
    for index in 0..<fields.count where forwardedTrailers.forwards(fields[index], in: bytes) {
      HeadWriter.field(fields[index], from: bytes, into: &output)
    }
    HeadWriter.end(into: &output)
  }

  /// Puts content behind the head that waits in `output`, or into a chunk.
  private mutating func gather(_ input: inout ByteBuffer, _ output: inout ByteBuffer) {
    guard approved > 0 else { return }
    if writesChunks {
      // Content waits in the input until what was written before has left: that is the backpressure.
      guard output.count < gatherLimit else { return }
      HeadWriter.chunk(input.bytes.extracting(first: approved), into: &output)
    } else {
      guard !output.isEmpty, output.count + approved <= gatherLimit else { return }
      output.append(input.bytes.extracting(first: approved))
    }
    input.consume(approved)
    approved = 0
  }

  /// Gives a body that is longer than what came with its head a larger buffer.
  private func makeRoom(_ input: inout ByteBuffer) {
    if let remaining = reader.remaining, remaining > UInt64(input.capacity) {
      input.reserve(Int(min(remaining, UInt64(bufferSize))))
    } else {
      // The rest of the last piece is the beginning of a chunk's head.
      input.reserve(filledInput ? max(bufferSize - input.count, 1) : 1)
    }
  }
}

extension ContentReader {
  /// Bytes received at most of content that is dropped.
  private static var dropLimit: Int { 64 * 1024 }

  /// Drops content that is not passed on, so that its connection can be used again: whether it ended within what has
  /// arrived. It does not wait, because content that has not arrived is not worth a connection. `input` begins with
  /// the first byte of the content, and is left at what follows it.
  mutating func drop(
    _ input: inout ByteBuffer, from stream: ByteStream, _ trailers: inout TrailerParser, _ limits: HeadLimits
  ) -> Bool {
    var left = Self.dropLimit
    while true {
      switch next(input.bytes, &trailers, limits) {
      case .needsMore(let consumed):
        input.consume(consumed)
        guard left > 0 else { return false }
        input.reserve(4096)
        guard case .moved(let count) = input.receive(from: stream) else { return false }
        left -= count
      case .data(let start, let count): input.consume(start + count)
      case .lastChunk(let consumed): input.consume(consumed)
      case .end(let consumed):
        input.consume(consumed)
        return true
      case .invalid: return false
      }
    }
  }
}

/// The fields that one message's trailer section must not carry on. Fields that end here in a head end here in
/// trailers, too: many upstreams read both alike.
struct ForwardedTrailers {
  /// Names that the head nominated to end here.
  var nominations: Nominations?
  /// The tokens that were sent to the upstream; for an answer.
  var credential = RequestCredential.none
  /// The listener's rules, whose proofs are not forwarded; for a request.
  var callers: CallerCheck?
  /// The route, whose own fields are not forwarded; for a request.
  var route: Route?

  func forwards(_ line: FieldLine, in bytes: Span<UInt8>) -> Bool {
    TrailerRule.forwards(line, nominations, in: bytes) && !credential.isRepeated(by: line, bytes)
      && callers?.rules.consumes(line, bytes) != true && route?.consumes(line, bytes) != true
  }
}
