// Messages on their way from HTTP/1.1 bytes to frames. libnghttp2 decides which frame is next. The fields of a HEADERS
// frame and the content of a DATA frame go from the message into the output without a place between.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

extension Session {
  /// Makes frames of what is there of a message.
  final func advance(_ stream: SessionStream) {
    // One head after the other: the others wait in the bounded buffer.
    while !stream.outgoing.hasHead, !stream.outgoing.headIsLeaving {
      let step = stream.outgoing.nextHead()
      if case .needsMore = step { return }
      guard submitHead(step, stream) else { return failToSend(stream) }
    }
    if stream.isDeferred {
      stream.isDeferred = false
      nghttp2_session_resume_data(handle, stream.id)
    }
  }

  /// Ends a stream whose message cannot be sent.
  private func failToSend(_ stream: SessionStream) {
    breakOff(stream)
    if stream.id != 0 { reset(stream, NGHTTP2_INTERNAL_ERROR) }
  }

  /// Appends frames to `output` until nothing is left or it has `limit` bytes. False: the connection is of no further
  /// use.
  final func writeFrames(to output: UnsafeMutablePointer<ByteBuffer>, limit: Int) -> Bool {
    guard let handle, !hasFailed else { return false }
    if !hasOutput { return true }
    (self.output, outputLimit) = (output, limit)
    defer { self.output = nil }
    while output.pointee.count < limit {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(handle, &frame)
      if count < 0 {
        hasFailed = true
        return false
      }
      guard let frame, count > 0 else { break }
      let head = HeaderFrame(start: output.pointee.count)
      output.pointee.append(UnsafeBufferPointer(start: frame, count: count).span)
      guard let stream = leavingHead else { continue }
      leavingHead = nil
      stream.outgoing.writeFields(isSecure: limits.isSecure, into: &output.pointee)
      head.finish(&output.pointee)
      // Behind an interim head there may be another one.
      if !stream.outgoing.hasHead, !stream.isBroken {
        note(.writable, stream)
        advance(stream)
      }
    }
    return true
  }

  /// A frame is made. It leaves with the bytes that libnghttp2 returns next.
  final func frameLeaves(_ frame: nghttp2_frame) {
    let (type, stream) = (UInt32(frame.hd.type), streams[frame.hd.stream_id])
    if type == NGHTTP2_HEADERS.rawValue { leavingHead = stream }
    guard let stream, type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_DATA.rawValue else {
      return otherFrameWasSent(frame)
    }
    stream.answer.isRequested = true
    if UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
      stream.isSent = true
      note(.writable, stream)
    }
  }

  private static var frameHead: Int { 9 }
  /// Bytes of a frame that are worth its cost even if there is more to send.
  private static var wholePiece: Int { 1024 }

  /// Writes the content of a DATA frame behind the place of the frame's head. Returns its length, or an error of
  /// libnghttp2.
  final func readContent(_ id: Int32, atMost length: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
    guard let stream = streams[id], let output else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    var step = StreamOutput.ContentStep.invalid
    output.pointee.reserve(Self.frameHead + min(length, stream.outgoing.waitingCount))
    _ = output.pointee.withWritableBytes { space in
      let space = UnsafeMutableRawBufferPointer(rebasing: space[Self.frameHead...].prefix(length))
      step = stream.outgoing.read(into: space)
      return 0
    }
    flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
    switch step {
    case .invalid: return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    case .moved(0):
      stream.isDeferred = true
      note(.writable, stream)
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .moved(let count):
      // A frame that a small window cut pays for no further opening of that.
      contentWasWritten(stream, isProgress: count < length || count >= Self.wholePiece)
      return count
    case .ended(let count, let hasTrailers):
      contentWasWritten(stream, isProgress: true)
      flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if hasTrailers {
        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        nghttp2_submit_trailer(handle, id, nil, 0)
      }
      return count
    }
  }

  /// Writes the head of a DATA frame before its content. Returns a result of libnghttp2.
  final func contentLeaves(_ head: UnsafePointer<UInt8>, _ length: Int) -> Int32 {
    guard let output else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    _ = output.pointee.withWritableBytes { space in
      space.copyMemory(from: UnsafeRawBufferPointer(start: head, count: Self.frameHead))
      return Self.frameHead + length
    }
    // The frame is made, and no other one before there is room.
    return output.pointee.count < outputLimit ? 0 : NGHTTP2_ERR_PAUSE.rawValue
  }
}
