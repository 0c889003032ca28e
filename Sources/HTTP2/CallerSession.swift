// A caller's HTTP/2 connection without its socket: bytes go in and come out, and streams change. libnghttp2 reads and
// writes the frames; what it does not limit is limited here.

package import Bytes
internal import CNGHTTP2
package import HTTP

/// The bounds of a session.
package struct SessionLimits: Sendable {
  package var head: HeadLimits
  /// Streams at once. One that was reset counts until its owner has finished it.
  package var streams: Int
  /// Bytes of content that a stream may send before any were taken, and bytes of a response that wait for their frames.
  package var window: Int
  /// True if the connection uses TLS.
  package var isSecure: Bool

  package init(head: HeadLimits = HeadLimits(), streams: Int = 100, window: Int = 64 * 1024, isSecure: Bool = false) {
    self.head = head
    self.streams = streams
    self.window = window
    self.isSecure = isSecure
  }
}

/// The server's side of an HTTP/2 connection. Confined to one loop, like its streams.
package final class CallerSession {
  let limits: SessionLimits
  var handle: OpaquePointer?
  private(set) var streams: [Int32: CallerStream] = [:]
  private var changed: [CallerStream] = []
  /// The header block that is being received.
  var fields: FieldBlock
  /// The fields of the frame that is being made. They point into the response.
  var lines: [nghttp2_nv] = []
  private var meter = AbuseMeter()
  private var now: UInt64 = 0
  /// Decoded bytes of a header block at which the session ends, as a multiple of the limit for a head.
  static let decodedFactor = 4
  /// Streams that count towards the limit: until their owner has finished them, or both sides have ended them in order.
  package private(set) var activeCount = 0
  /// True from the beginning of a header block to its end.
  package internal(set) var isInHead = false
  /// The last stream that has begun.
  var lastStream: Int32 = 0
  /// True if the stream that begins is refused.
  var isRefusing = false
  /// The stream of the header block that is being received, or was last.
  var headStream: Int32 = 0
  /// True if the header block that is being received is malformed.
  var isMalformed = false
  /// The number of answers to our PING that have arrived.
  package internal(set) var pongCount = 0
  /// The abuse for which the session was ended.
  package var abuse: SessionAbuse? { meter.found }

  package init(_ limits: SessionLimits) {
    self.limits = limits
    fields = FieldBlock(limit: limits.head.headBytes)
    handle = SessionCallbacks.makeServer(for: self)
    // Without priorities: no request waits for another because a peer says so.
    submitSettings([
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: limits.streams)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(clamping: limits.window)),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.head.headBytes)),
      (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ])
    // As much as all streams together, so that a slow one stops no other.
    let whole = max(limits.streams * limits.window, 65_535)
    nghttp2_session_set_local_window_size(handle, 0, 0, Int32(clamping: whole))
  }

  deinit {
    nghttp2_session_del(handle)
  }

  private func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(handle, 0, entries, entries.count)
  }

  // MARK: Bytes of the connection

  /// Reads bytes that have arrived at `now`, in nanoseconds. False: the connection is of no further use; the output has
  /// the reason.
  package func receive(_ bytes: Span<UInt8>, at now: UInt64) -> Bool {
    guard let handle else { return false }
    self.now = now
    let count = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count) }
    return count >= 0 && nghttp2_session_want_read(handle) != 0
  }

  /// Appends frames to `output`, until nothing is left or it has `limit` bytes. False: the connection is of no further
  /// use.
  package func write(to output: inout ByteBuffer, limit: Int) -> Bool {
    guard let handle else { return false }
    while output.count < limit {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(handle, &frame)
      if count < 0 { return false }
      guard let frame, count > 0 else { break }
      output.append(UnsafeBufferPointer(start: frame, count: count).span)
    }
    return true
  }

  /// True if nothing more will be read or written.
  package var isOver: Bool {
    guard let handle else { return true }
    return nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// True if frames wait to be written.
  package var hasOutput: Bool { handle.map { nghttp2_session_want_write($0) != 0 } ?? false }

  /// Appends the last frame of a connection that is ended for abuse. libnghttp2 is not asked: it stopped in the middle.
  package func writeCalm(to output: inout ByteBuffer) {
    let last = UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(handle))
    output.append([0, 0, 8, UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0])
    for word in [last, NGHTTP2_ENHANCE_YOUR_CALM.rawValue] {
      for shift: UInt32 in [24, 16, 8, 0] { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }

  // MARK: The end

  /// Tells the peer that the connection ends soon: a stream that is on its way is still served. A PING follows; when
  /// its answer is here, no such stream is on its way any more.
  package func announceEnd() { nghttp2_submit_shutdown_notice(handle) }

  /// Serves no stream beyond those that have begun.
  package func refuseMore() {
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
  package func takeChanges(_ body: (CallerStream, CallerStream.Changes) -> Void) {
    while !changed.isEmpty {
      let streams = changed
      changed.removeAll(keepingCapacity: true)
      for stream in streams {
        let changes = stream.changes
        stream.changes = []
        body(stream, changes)
      }
    }
  }

  func note(_ change: CallerStream.Changes, _ stream: CallerStream) {
    if stream.changes.isEmpty { changed.append(stream) }
    stream.changes.insert(change)
  }

  /// What an attempt to move bytes of a stream came to.
  package enum Move {
    case moved(Int)
    /// A change of the stream follows.
    case blocked
    /// The peer sends no more.
    case ended
    case broken
  }

  /// Moves bytes of the request into `space`, and permits the peer to send as many.
  package func take(from stream: CallerStream, into space: UnsafeMutableRawBufferPointer) -> Move {
    if stream.isBroken { return .broken }
    let (count, content) = stream.request.take(into: space)
    if content > 0 { nghttp2_session_consume(handle, stream.id, content) }
    if count > 0 { return .moved(count) }
    return stream.request.hasEnded ? .ended : .blocked
  }

  /// Takes bytes of the response, as far as there is room.
  package func give(_ bytes: UnsafeRawBufferPointer, to stream: CallerStream) -> Move {
    if stream.isBroken || stream.isFinished { return .broken }
    let count = stream.response.append(bytes, limit: limits.window)
    if count == 0 { return .blocked }
    advance(stream)
    return stream.isBroken ? .broken : .moved(count)
  }

  /// Ends a stream whose response is written, or whose owner gives it up: what was not sent is dropped, and the peer
  /// is told so.
  package func finish(_ stream: CallerStream) {
    if stream.isFinished { return }
    stream.isFinished = true
    countDown(stream)
    dropRequest(stream)
    if streams[stream.id] == nil { return }
    if !stream.isAnswered {
      reset(stream, NGHTTP2_INTERNAL_ERROR)
    } else if !stream.request.isComplete {
      // RFC 9113 §8.1: the response does not depend on the rest of the request.
      reset(stream, NGHTTP2_NO_ERROR)
    }
  }

  private func reset(_ stream: CallerStream, _ code: nghttp2_error_code) {
    stream.isGivenUp = true
    nghttp2_submit_rst_stream(handle, 0, stream.id, code.rawValue)
  }

  /// Refuses a stream that has just begun: nothing of it was processed.
  package func refuse(_ stream: CallerStream) { end(stream, NGHTTP2_REFUSED_STREAM) }

  /// Ends a stream whose request needs HTTP/1.1, as connections do that a caller authenticates.
  package func demandHTTP11(_ stream: CallerStream) { end(stream, NGHTTP2_HTTP_1_1_REQUIRED) }

  private func end(_ stream: CallerStream, _ code: nghttp2_error_code) {
    if stream.isFinished { return }
    stream.isFinished = true
    countDown(stream)
    dropRequest(stream)
    if streams[stream.id] != nil { reset(stream, code) }
  }

  // MARK: Events

  /// The head of a request is complete.
  func begin(_ id: Int32, endsStream: Bool) {
    if isRefusing { return }
    let stream = CallerStream(
      id, isHeadTooLarge: fields.isTooLarge, isHead: fields.isHead, length: endsStream ? 0 : fields.length,
      limits: limits.head)
    if !fields.isTooLarge,
      !fields.writeHead(hasContent: !endsStream, isSecure: limits.isSecure, into: &stream.head)
    {
      nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_PROTOCOL_ERROR.rawValue)
      return
    }
    if endsStream { stream.request.end() }
    streams[id] = stream
    activeCount += 1
    note(.began, stream)
  }

  func streamClosed(_ id: Int32) {
    if id == headStream { isInHead = false }
    guard let stream = streams.removeValue(forKey: id) else { return }
    if !stream.isAnswered || !stream.request.hasEnded {
      breakOff(stream)
    } else if stream.request.isEmpty {
      // The peer may open another one at once.
      countDown(stream)
    }
  }

  private func countDown(_ stream: CallerStream) {
    if !stream.isCounted { return }
    stream.isCounted = false
    activeCount -= 1
  }

  /// Ends a stream whose response cannot be sent.
  func fail(_ stream: CallerStream) {
    breakOff(stream)
    reset(stream, NGHTTP2_INTERNAL_ERROR)
  }

  func contentWasWritten(_ stream: CallerStream) {
    meter.contentMoved()
    note(.writable, stream)
  }

  func countContent() { meter.contentMoved() }
  func countReset() { meter.streamWasReset(at: now) }
  func countStreamError() { meter.streamFailed(at: now) }
  func countIdleFrame() { meter.frameWasIdle(at: now) }
  func countLargeHeaders() { meter.headersAreTooLarge() }

  private func dropRequest(_ stream: CallerStream) {
    let dropped = stream.request.drop()
    if dropped > 0 { nghttp2_session_consume(handle, stream.id, dropped) }
  }

  private func breakOff(_ stream: CallerStream) {
    if stream.isBroken { return }
    stream.isBroken = true
    dropRequest(stream)
    note(.broken, stream)
  }
}
