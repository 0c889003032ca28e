// The client's side of an HTTP/2 connection: streams begin with a request to an upstream.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

/// The response on a stream, as far as it decides about the request.
package struct AnswerProgress {
  /// The end of a stream without a whole response.
  package enum Fault {
    /// The upstream has not processed the request: it says so, or the request has not left.
    case notProcessed
    /// The upstream wants the request with HTTP/1.1; it has not processed it.
    case demandsHTTP11
    /// The response breaks the rules of HTTP/2.
    case malformed
    /// The head of the response is larger than the limits.
    case headTooLarge
    /// The upstream has reset the stream.
    case reset
    /// The connection is lost.
    case lost
  }

  package internal(set) var fault: Fault?
  var interimHeads = 0
  /// Bytes of fields of the interim heads.
  var interimBytes = 0
  /// True if the head of the request has left.
  var isRequested = false
  /// True if nothing more can be sent: the response is complete, and the upstream takes no more of the request.
  var isClosed = false
}

/// An upstream's connection.
package final class UpstreamSession: Session {
  /// Streams at once that both sides accept; nil until the peer has announced its number.
  package private(set) var capacity: Int?
  /// True if the peer has announced that it takes an extended CONNECT (RFC 8441 §3).
  package private(set) var permitsTunnels = false
  /// True if the peer serves no further streams.
  package private(set) var isLeaving = false
  /// Interim heads, and bytes of their fields, that a response may have before its stream is reset. A relay accepts
  /// fewer.
  private static let interimLimit = 64
  private static let interimBytes = 64 * 1024

  package override init(_ limits: SessionLimits) {
    super.init(limits)
    begin(.client, [(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
  }

  /// True if streams can begin.
  package var takesStreams: Bool {
    handle.map { !isLeaving && nghttp2_session_check_request_allowed($0) != 0 } ?? false
  }

  /// Asks the peer for a sign of life; `pongCount` tells its answer.
  package func ping() { nghttp2_submit_ping(handle, 0, nil) }

  /// A stream for a request, whose head is given first.
  package func open() -> SessionStream { SessionStream(0, length: 0, StreamRequest(limits.head)) }

  /// True if nothing of a finished stream is left, so that it may be opened again.
  package func mayReopen(_ stream: SessionStream) -> Bool {
    stream.isFinished && streams[stream.id] == nil && stream.mayBeginAgain
  }

  /// Makes a stream for another request of one that is over.
  package func reopen(_ stream: SessionStream) { stream.begin(0, isHeadTooLarge: false, length: 0) }

  /// Ends a stream whose response is read, or whose owner gives it up; the peer is told so, unless both messages are
  /// complete.
  package func finish(_ stream: SessionStream) {
    if stream.isFinished { return }
    stream.isFinished = true
    dropIncoming(stream)
    // If only the end of the response is missing, it is on its way.
    guard streams[stream.id] != nil else { return }
    if stream.isTunnel, stream.isSent, stream.hasHead {
      // A reset could overtake our last frame on its way through the peer.
      linger(stream, NGHTTP2_CANCEL)
    } else if !stream.isSent || !stream.hasHead || !stream.incoming.isComplete {
      reset(stream, NGHTTP2_CANCEL)
    }
  }

  /// Resets the streams whose response did not end behind its content, so that they take no other's place.
  private func endLateStreams() {
    for stream in streams.values where stream.isFinished && !stream.isGivenUp { reset(stream, NGHTTP2_CANCEL) }
  }

  package override func breakAll() {
    isLeaving = true
    // The bytes that arrived, if any, are not HTTP/2.
    let fault = hasReceived && capacity == nil ? AnswerProgress.Fault.malformed : .lost
    for stream in streams.values { fail(stream, fault) }
    super.breakAll()
  }

  private func fail(_ stream: SessionStream, _ fault: AnswerProgress.Fault) {
    if stream.isBroken { return }
    stream.answer.fault = stream.answer.isRequested ? fault : .notProcessed
    breakOff(stream)
  }

  // MARK: Frames of the peer

  override func isForEndedStream(_ header: nghttp2_frame_hd) -> Bool { streams[header.stream_id] == nil }

  private func isTrailer(_ frame: nghttp2_frame) -> Bool { streams[frame.hd.stream_id]?.hasHead ?? false }

  override func add(_ name: Span<UInt8>, _ value: Span<UInt8>, of frame: nghttp2_frame) -> Bool {
    if isTrailer(frame) { return fields.addTrailer(name, value) }
    // RFC 8441 §5: the proof has no use here, and the head gets one of its own.
    if name.equalsIgnoringCase(WebSocketUpgrade.acceptanceName), streams[frame.hd.stream_id]?.isTunnel == true {
      return true
    }
    return fields.addOfResponse(name, value)
  }

  override func headArrived(_ frame: nghttp2_frame, endsStream: Bool) {
    guard let stream = streams[frame.hd.stream_id], !stream.isFinished, !stream.isBroken else { return }
    if stream.hasHead {
      // libnghttp2 accepts trailers only with the end.
      trailersArrived(stream)
      return
    }
    if fields.isInterim {
      stream.answer.interimHeads += 1
      stream.answer.interimBytes += fields.byteCount
      if endsStream || stream.answer.interimHeads > Self.interimLimit
        || stream.answer.interimBytes > Self.interimBytes
      {
        return refuse(stream, .malformed)
      }
      fields.writeResponseHead(isHead: false, hasContent: false, into: &stream.head)
    } else if let acceptance = (stream.outgoing as? StreamRequest)?.acceptance, fields.isSuccess {
      stream.incoming = StreamContent(length: nil, isTunnel: true)
      fields.writeSwitch(acceptance, into: &stream.head)
      stream.hasHead = true
      if endsStream { stream.incoming.end() }
    } else {
      // A request that might have become a WebSocket has no content.
      if stream.isTunnel { end(stream) }
      let isHead = (stream.outgoing as? StreamRequest)?.isHead == true
      // Otherwise only the end may follow.
      let hasContent = !endsStream && fields.mayHaveContent(isHead: isHead)
      stream.incoming.begin(length: hasContent ? fields.length : 0)
      fields.writeResponseHead(isHead: isHead, hasContent: hasContent, into: &stream.head)
      stream.hasHead = true
      if endsStream { stream.incoming.end() }
    }
    note(.readable, stream)
  }

  override func headIsMalformed(_ id: Int32) {
    if let stream = streams[id] { refuse(stream, fields.isTooLarge ? .headTooLarge : .malformed) }
  }

  private func refuse(_ stream: SessionStream, _ fault: AnswerProgress.Fault) {
    reset(stream, NGHTTP2_PROTOCOL_ERROR)
    fail(stream, fault)
  }

  override func otherFrameArrived(_ frame: nghttp2_frame) {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_SETTINGS.rawValue where UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue == 0:
      let limit = nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
      capacity = min(Int(limit), limits.streams)
      permitsTunnels =
        nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    case NGHTTP2_GOAWAY.rawValue: isLeaving = true
    default: break
    }
  }

  override func closed(_ stream: SessionStream, _ code: UInt32) {
    if stream.incoming.hasEnded {
      // RFC 9113 §8.1: a reset without an error behind a whole response says that the rest of the request is unneeded.
      stream.answer.isClosed = true
      note([.readable, .writable], stream)
      return
    }
    switch code {
    case NGHTTP2_REFUSED_STREAM.rawValue: fail(stream, .notProcessed)
    case NGHTTP2_HTTP_1_1_REQUIRED.rawValue: fail(stream, .demandsHTTP11)
    default: fail(stream, .reset)
    }
  }

  // MARK: Frames of ours

  override func otherFrameWasSent(_ frame: nghttp2_frame) {
    guard UInt32(frame.hd.type) == NGHTTP2_RST_STREAM.rawValue, let stream = streams[frame.hd.stream_id],
      !stream.isGivenUp
    else { return }
    meter.streamFailed(at: now)
    fail(stream, .malformed)
  }

  override func submitHead(_ step: StreamOutput.HeadStep, _ stream: SessionStream) -> Bool {
    guard let request = stream.outgoing as? StreamRequest, takesStreams else { return false }
    stream.isTunnel = request.acceptance != nil
    if stream.isTunnel, !permitsTunnels { return false }
    if streams.count >= capacity ?? 1 { endLateStreams() }
    guard case .final(let endsStream) = step else { return false }
    // The only field that libnghttp2 has to know.
    let id = stream.isTunnel ? submit("CONNECT", endsStream) : request.withMethod { submit($0, endsStream) }
    if id < 0 { return false }
    stream.id = id
    streams[id] = stream
    return true
  }

  private func submit(_ method: StaticString, _ endsStream: Bool) -> Int32 {
    submit(UnsafeBufferPointer(start: method.utf8Start, count: method.utf8CodeUnitCount).span, endsStream)
  }

  private func submit(_ method: Span<UInt8>, _ endsStream: Bool) -> Int32 {
    let name: StaticString = ":method"
    var source = SessionCallbacks.contentSource
    return method.withUnsafeBufferPointer { method in
      // libnghttp2 copies both.
      var field = nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start), value: UnsafeMutablePointer(mutating: method.baseAddress),
        namelen: name.utf8CodeUnitCount, valuelen: method.count, flags: 0)
      return withUnsafePointer(to: &source) {
        nghttp2_submit_request(handle, nil, &field, 1, endsStream ? nil : $0, nil)
      }
    }
  }
}
