// The server's side of an HTTP/2 connection: streams begin with a caller's request.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

/// A caller's connection.
package final class CallerSession: Session {
  /// Streams that count towards the limit: until their owner has finished them, or both sides have ended them in order.
  package private(set) var activeCount = 0
  /// The last stream that has begun.
  private var lastStream: Int32 = 0
  /// True if the stream that begins is refused.
  private var isRefusing = false
  private let spare: SpareStreams

  /// A session whose streams take the place of others in `spare`, and go there.
  package init(_ limits: SessionLimits, _ spare: SpareStreams = SpareStreams()) {
    self.spare = spare
    super.init(limits)
    var settings = [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: limits.streams))]
    if limits.permitsTunnels { settings.append((NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1)) }
    begin(.server, settings)
  }

  /// Tells the peer that the connection ends soon: a stream that is on its way is still served. A PING follows; when
  /// its answer is here, no such stream is on its way any more.
  package func announceEnd() { nghttp2_submit_shutdown_notice(handle) }

  // MARK: Streams

  /// Ends a stream whose response is written, or whose owner gives it up: what was not sent is dropped, and the peer
  /// is told so.
  package func finish(_ stream: SessionStream) {
    if stream.isFinished { return }
    stream.isFinished = true
    countDown(stream)
    dropIncoming(stream)
    if streams[stream.id] == nil { return spare.giveBack(stream) }
    if !stream.isSent {
      // RFC 8441 §5.
      reset(stream, stream.isTunnel ? NGHTTP2_CANCEL : NGHTTP2_INTERNAL_ERROR)
    } else if !stream.incoming.isComplete {
      // RFC 9113 §8.1: the response does not depend on the rest of the request. Some callers forget a response when
      // their content is refused while they send it.
      if stream.isTunnel { reset(stream, NGHTTP2_NO_ERROR) } else { linger(stream, NGHTTP2_NO_ERROR) }
    }
  }

  /// Refuses a stream that has just begun: nothing of it was processed.
  package func refuse(_ stream: SessionStream) { end(stream, NGHTTP2_REFUSED_STREAM) }

  /// Ends a stream whose request needs HTTP/1.1, as connections do that a caller authenticates.
  package func demandHTTP11(_ stream: SessionStream) { end(stream, NGHTTP2_HTTP_1_1_REQUIRED) }

  private func end(_ stream: SessionStream, _ code: nghttp2_error_code) {
    if stream.isFinished { return }
    stream.isFinished = true
    countDown(stream)
    dropIncoming(stream)
    if streams[stream.id] != nil { reset(stream, code) }
  }

  private func countDown(_ stream: SessionStream) {
    if !stream.isCounted { return }
    stream.isCounted = false
    activeCount -= 1
  }

  // MARK: Frames of the peer

  override func isForEndedStream(_ header: nghttp2_frame_hd) -> Bool {
    header.stream_id <= lastStream && streams[header.stream_id] == nil
  }

  override func headBegins(_ frame: nghttp2_frame) {
    super.headBegins(frame)
    isRefusing = false
    lastStream = max(lastStream, frame.hd.stream_id)
    if frame.headers.cat == NGHTTP2_HCAT_REQUEST, activeCount >= limits.streams {
      nghttp2_submit_rst_stream(handle, 0, frame.hd.stream_id, NGHTTP2_REFUSED_STREAM.rawValue)
      // libnghttp2 does not tell the end of a head whose stream is closing.
      (isRefusing, isInHead) = (true, false)
    }
  }

  override func add(_ name: Span<UInt8>, _ value: Span<UInt8>, of frame: nghttp2_frame) -> Bool {
    frame.headers.cat == NGHTTP2_HCAT_REQUEST ? fields.add(name, value) : fields.addTrailer(name, value)
  }

  override func headArrived(_ frame: nghttp2_frame, endsStream: Bool) {
    if frame.headers.cat == NGHTTP2_HCAT_REQUEST {
      begin(frame.hd.stream_id, endsStream: endsStream)
    } else if endsStream, let stream = streams[frame.hd.stream_id] {
      trailersArrived(stream)
    }
  }

  /// The head of a request is complete.
  private func begin(_ id: Int32, endsStream: Bool) {
    if isRefusing { return }
    let isTunnel = fields.asksForTunnel
    let stream = spare.take(id, fields, length: endsStream && !isTunnel ? 0 : fields.length, limits.head)
    if !fields.isTooLarge,
      !fields.writeHead(
        hasContent: !endsStream, isSecure: limits.isSecure, key: isTunnel ? Self.makeKey() : [], into: &stream.head)
    {
      nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_PROTOCOL_ERROR.rawValue)
      return
    }
    if endsStream { stream.incoming.end() }
    streams[id] = stream
    activeCount += 1
    note(.began, stream)
  }

  /// The key of a WebSocket's handshake: 16 random bytes (RFC 6455 §4.1 item 7).
  private static func makeKey() -> [UInt8] {
    Array(Base64.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }).utf8)
  }

  override func otherFrameArrived(_ frame: nghttp2_frame) {
    guard UInt32(frame.hd.type) == NGHTTP2_RST_STREAM.rawValue else { return }
    // The reset of a stream that has ended meanwhile costs nothing, but its frame.
    guard let stream = streams[frame.hd.stream_id] else { return meter.frameWasIdle(at: now) }
    if !stream.mayBeReset { meter.streamWasReset(at: now) }
  }

  override func closed(_ stream: SessionStream, _ code: UInt32) {
    if !stream.isSent || !stream.incoming.hasEnded {
      breakOff(stream)
    } else if stream.incoming.isEmpty {
      // The peer may open another one at once.
      countDown(stream)
    }
  }

  // MARK: Frames of ours

  override func otherFrameWasSent(_ frame: nghttp2_frame) {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_RST_STREAM.rawValue:
      if streams[frame.hd.stream_id]?.isGivenUp == true { break }
      // A refusal is no error of the peer's, which may not know the limit yet; what it resets itself is counted when it
      // does. Resets that no owner has asked for are errors of the peer's (CVE-2025-8671).
      if frame.rst_stream.error_code != NGHTTP2_REFUSED_STREAM.rawValue { meter.streamFailed(at: now) }
    case NGHTTP2_GOAWAY.rawValue:
      // Behind the first one: its answer tells that the peer has read that.
      if frame.goaway.last_stream_id == Int32.max { nghttp2_submit_ping(handle, 0, nil) }
    default: break
    }
  }

  override func submitHead(_ step: StreamOutput.HeadStep, _ stream: SessionStream) -> Bool {
    switch step {
    case .needsMore, .invalid: return false
    case .interim: return nghttp2_submit_headers(handle, 0, stream.id, nil, nil, 0, nil) == 0
    case .final(endsStream: true): return nghttp2_submit_response(handle, stream.id, nil, 0, nil) == 0
    case .final(endsStream: false):
      var source = SessionCallbacks.contentSource
      return nghttp2_submit_response(handle, stream.id, nil, 0, &source) == 0
    }
  }
}
