// An HTTP/2 connection without its socket: bytes go in and come out, and streams change. libnghttp2 reads and writes
// the frames; what it does not limit is limited here. The two sides are CallerSession and UpstreamSession.

package import Bytes
internal import CNGHTTP2
package import HTTP

/// The bounds of a session.
package struct SessionLimits: Sendable {
  package var head: HeadLimits
  /// Streams at once. One that was reset counts until its owner has finished it.
  package var streams: Int
  /// Bytes of content that a stream may bring before any were taken, and bytes of a message that wait for their frames.
  package var window: Int
  /// True if the connection uses TLS.
  package var isSecure: Bool
  /// True if callers may ask for WebSockets.
  package var permitsTunnels: Bool

  package init(
    head: HeadLimits = HeadLimits(), streams: Int = 100, window: Int = 64 * 1024, isSecure: Bool = false,
    permitsTunnels: Bool = false
  ) {
    self.head = head
    self.streams = streams
    self.window = window
    self.isSecure = isSecure
    self.permitsTunnels = permitsTunnels
  }
}

/// One side of an HTTP/2 connection. Confined to one loop, like its streams.
package class Session {
  package final let limits: SessionLimits
  final var handle: OpaquePointer?
  final var streams: [Int32: SessionStream] = [:]
  private final var changed: [SessionStream] = []
  private final var taken: [SessionStream] = []
  /// The header block that is being received.
  final var fields: FieldBlock
  /// The buffer that gets the frames, and its bytes at which no further frame is made; nil while none are made.
  final var output: UnsafeMutablePointer<ByteBuffer>?
  final var outputLimit = 0
  /// True if no more frames can be made.
  final var hasFailed = false
  /// The stream whose HEADERS frame is made, and lacks its fields.
  final var leavingHead: SessionStream?
  final var meter = AbuseMeter()
  /// The time of the last bytes, in nanoseconds.
  private(set) final var now: UInt64 = 0
  /// Decoded bytes of a header block at which the session ends, as a multiple of the limit for a head.
  static let decodedFactor = 4
  /// True from the beginning of a header block to its end.
  package internal(set) final var isInHead = false
  /// The stream of the header block that is being received, or was last.
  final var headStream: Int32 = 0
  /// True if the header block that is being received is malformed.
  final var isMalformed = false
  /// The number of answers to our PING that have arrived.
  package internal(set) final var pongCount = 0
  /// The number of frames that have arrived.
  package private(set) final var frameCount = 0
  /// True if the peer has yet to end a stream, or to read that one has ended.
  package final var hasStreams: Bool { !streams.isEmpty }
  /// True if any bytes of the peer have arrived.
  private(set) final var hasReceived = false
  /// The abuse for which the session was ended.
  package final var abuse: SessionAbuse? { meter.found }

  init(_ limits: SessionLimits) {
    self.limits = limits
    fields = FieldBlock(limit: limits.head.headBytes)
  }

  deinit {
    nghttp2_session_del(handle)
  }

  /// Begins the session: our settings, and a window for all streams together, so that a slow one stops no other.
  final func begin(_ side: SessionCallbacks.Side, _ settings: [(nghttp2_settings_id, UInt32)]) {
    handle = SessionCallbacks.makeHandle(side, for: self)
    var all = settings
    all += [
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(clamping: limits.window)),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.head.headBytes)),
      // No message waits for another because a peer says so.
      (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ]
    let entries = all.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(handle, 0, entries, entries.count)
    let whole = max(limits.streams * limits.window, 65_535)
    nghttp2_session_set_local_window_size(handle, 0, 0, Int32(clamping: whole))
  }

  // MARK: Bytes of the connection

  /// Reads bytes that have arrived at `now`, in nanoseconds. False: no more can be read, because of abuse or a lack of
  /// memory. After any other error the output has the reason, and the session is over when that is written.
  package final func receive(_ bytes: Span<UInt8>, at now: UInt64) -> Bool {
    guard let handle else { return false }
    self.now = now
    if !bytes.isEmpty { hasReceived = true }
    let count = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count) }
    return count >= 0
  }

  /// Appends frames to `output`, until nothing is left or it has `limit` bytes. False: the connection is of no further
  /// use.
  package final func write(to output: inout ByteBuffer, limit: Int) -> Bool {
    withUnsafeMutablePointer(to: &output) { writeFrames(to: $0, limit: limit) }
  }

  /// True if nothing more will be read or written.
  package final var isOver: Bool {
    guard let handle else { return true }
    return nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// True if frames wait to be written.
  package final var hasOutput: Bool { handle.map { nghttp2_session_want_write($0) != 0 } ?? false }

  /// Appends the last frame of a connection that is ended for abuse. libnghttp2 is not asked: it stopped in the middle.
  package final func writeCalm(to output: inout ByteBuffer) {
    let last = UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(handle))
    output.append([0, 0, 8, UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0])
    for word in [last, NGHTTP2_ENHANCE_YOUR_CALM.rawValue] {
      for shift: UInt32 in [24, 16, 8, 0] { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }

  /// Says that no stream of the peer is served beyond those that have begun.
  package final func refuseMore() {
    nghttp2_submit_goaway(
      handle, 0, nghttp2_session_get_last_proc_stream_id(handle), NGHTTP2_NO_ERROR.rawValue, nil, 0)
  }

  /// Breaks all streams: the connection is lost.
  package func breakAll() {
    for stream in streams.values { breakOff(stream) }
    streams.removeAll()
  }

  // MARK: Streams

  /// Lends the streams that have changed since, each with its changes.
  package final func takeChanges(_ body: (SessionStream, SessionStream.Changes) -> Void) {
    while !changed.isEmpty {
      // Of two arrays one is read and the other one filled: neither is copied.
      swap(&changed, &taken)
      defer { taken.removeAll(keepingCapacity: true) }
      for stream in taken {
        let changes = stream.changes
        stream.changes = []
        body(stream, changes)
      }
    }
  }

  final func note(_ change: SessionStream.Changes, _ stream: SessionStream) {
    if stream.changes.isEmpty { changed.append(stream) }
    stream.changes.insert(change)
  }

  /// The result of an attempt to move bytes of a stream.
  package enum Move {
    case moved(Int)
    /// A change of the stream follows.
    case blocked
    /// The peer sends no more.
    case ended
    case broken
  }

  /// Moves bytes of the incoming message into `space`, and permits the peer to send as many.
  package final func take(from stream: SessionStream, into space: UnsafeMutableRawBufferPointer) -> Move {
    // A peer may reset a tunnel right behind its last bytes.
    if stream.isBroken, !stream.isTunnel || stream.incoming.isEmpty { return .broken }
    if !stream.head.isEmpty { return .moved(stream.head.move(to: space, atMost: .max)) }
    let (count, content) = stream.incoming.take(into: space)
    if content > 0 { nghttp2_session_consume(handle, stream.id, content) }
    if count > 0 { return .moved(count) }
    return stream.incoming.hasEnded ? .ended : .blocked
  }

  /// Takes bytes of the outgoing message, as far as there is room.
  package final func give(_ bytes: UnsafeRawBufferPointer, to stream: SessionStream) -> Move {
    if stream.isBroken || stream.isFinished || stream.answer.isClosed { return .broken }
    let count = stream.outgoing.append(bytes, limit: limits.window)
    if count == 0 { return .blocked }
    advance(stream)
    return stream.isBroken ? .broken : .moved(count)
  }

  /// Records that the outgoing bytes of a stream have ended. A message with an end of its own does not need it.
  package final func end(_ stream: SessionStream) {
    if stream.isBroken || stream.isFinished { return }
    stream.outgoing.end()
    advance(stream)
  }

  final func reset(_ stream: SessionStream, _ code: nghttp2_error_code) {
    stream.isGivenUp = true
    nghttp2_submit_rst_stream(handle, 0, stream.id, code.rawValue)
  }

  final func contentWasWritten(_ stream: SessionStream, isProgress: Bool) {
    if isProgress { meter.contentMoved() }
    note(.writable, stream)
  }

  final func dropIncoming(_ stream: SessionStream) {
    stream.head.removeAll()
    let dropped = stream.incoming.drop()
    if dropped > 0 { nghttp2_session_consume(handle, stream.id, dropped) }
  }

  final func breakOff(_ stream: SessionStream) {
    if stream.isBroken { return }
    stream.isBroken = true
    if !stream.isTunnel { dropIncoming(stream) }
    note(.broken, stream)
  }

  // MARK: Frames

  /// Counts a frame that begins, if it may be one of a flood. False: the session ends.
  final func frameBegins(_ header: nghttp2_frame_hd) -> Bool {
    frameCount += 1
    switch UInt32(header.type) {
    case NGHTTP2_DATA.rawValue:
      // A frame of padding alone is empty, too; content pays this back.
      let isPadded = UInt32(header.flags) & NGHTTP2_FLAG_PADDED.rawValue != 0
      let isEmpty = (header.length == 0 || isPadded) && UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue == 0
      if isEmpty || streams[header.stream_id] == nil { meter.frameWasIdle(at: now) }
    case NGHTTP2_HEADERS.rawValue: if isForEndedStream(header) { meter.frameWasIdle(at: now) }
    case NGHTTP2_RST_STREAM.rawValue, NGHTTP2_CONTINUATION.rawValue: break
    case NGHTTP2_PRIORITY.rawValue where header.stream_id == 0:
      // libnghttp2 reads no priorities any more, not even that.
      nghttp2_session_terminate_session(handle, NGHTTP2_PROTOCOL_ERROR.rawValue)
    default: meter.frameWasIdle(at: now)
    }
    return abuse == nil
  }

  /// A field of a header block. The result is libnghttp2's.
  final func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, of frame: nghttp2_frame)
    -> Int32
  {
    let isFine = add(name.span, value.span, of: frame)
    // Some KiB of a header table can be named again and again, with one byte each.
    if fields.byteCount > Self.decodedFactor * limits.head.headBytes {
      meter.headersAreTooLarge()
      return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }
    if !isFine { isMalformed = true }
    return 0
  }

  /// A whole frame has arrived. False: the session ends.
  final func frameArrived(_ frame: nghttp2_frame) -> Bool {
    let endsStream = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue:
      isInHead = false
      if isMalformed {
        headIsMalformed(frame.hd.stream_id)
      } else {
        headArrived(frame, endsStream: endsStream)
      }
    case NGHTTP2_DATA.rawValue:
      if endsStream, let stream = streams[frame.hd.stream_id] {
        stream.incoming.end()
        note(.readable, stream)
      }
    case NGHTTP2_PING.rawValue:
      if UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 { pongCount += 1 }
    default: otherFrameArrived(frame)
    }
    return abuse == nil
  }

  final func contentArrived(_ bytes: UnsafeBufferPointer<UInt8>, _ id: Int32) {
    meter.contentMoved()
    if let stream = streams[id], !stream.isFinished, !stream.isBroken {
      stream.incoming.append(bytes.span)
      note(.readable, stream)
    } else {
      // No stream takes it, but all streams share the connection's window.
      nghttp2_session_consume(handle, id, bytes.count)
      if let stream = streams[id] { contentIsDropped(bytes.count, of: stream) }
    }
  }

  /// The limits within which a peer's further content is dropped: bytes, and nanoseconds. Then its stream is reset.
  static let lingeringBytes = 64 * 1024 * 1024
  private static let lingeringTime: UInt64 = 300_000_000_000

  /// Drops what a peer still sends on a stream for a while, and resets that then.
  final func linger(_ stream: SessionStream, _ code: nghttp2_error_code) {
    stream.lingering = (Self.lingeringBytes, now + Self.lingeringTime, code.rawValue)
  }

  private func contentIsDropped(_ count: Int, of stream: SessionStream) {
    guard let (left, end, code) = stream.lingering else { return }
    stream.lingering = (left - count, end, code)
    if left > count, now < end { return }
    stream.lingering = nil
    reset(stream, nghttp2_error_code(code))
  }

  final func streamClosed(_ id: Int32, _ code: UInt32) {
    if id == headStream { isInHead = false }
    if let stream = streams.removeValue(forKey: id) { closed(stream, code) }
  }

  final func trailersArrived(_ stream: SessionStream) {
    stream.incoming.end(trailers: fields)
    note(.readable, stream)
  }

  // MARK: Differences of the sides

  func isForEndedStream(_ header: nghttp2_frame_hd) -> Bool { preconditionFailure(Self.sides) }
  func headBegins(_ frame: nghttp2_frame) {
    fields.reset()
    (isInHead, isMalformed) = (true, false)
    headStream = frame.hd.stream_id
  }
  /// Adds a field. False: it is malformed.
  func add(_ name: Span<UInt8>, _ value: Span<UInt8>, of frame: nghttp2_frame) -> Bool {
    preconditionFailure(Self.sides)
  }
  func headIsMalformed(_ id: Int32) {
    nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_PROTOCOL_ERROR.rawValue)
  }
  func headArrived(_ frame: nghttp2_frame, endsStream: Bool) { preconditionFailure(Self.sides) }
  func otherFrameArrived(_ frame: nghttp2_frame) { preconditionFailure(Self.sides) }
  /// A frame was made that is none of a message.
  func otherFrameWasSent(_ frame: nghttp2_frame) { preconditionFailure(Self.sides) }
  func closed(_ stream: SessionStream, _ code: UInt32) { preconditionFailure(Self.sides) }
  /// Makes a frame of a head of the outgoing message. False: it cannot be sent.
  func submitHead(_ step: StreamOutput.HeadStep, _ stream: SessionStream) -> Bool { preconditionFailure(Self.sides) }

  private static let sides = "a session is one of its two sides"
}
