// The functions that libnghttp2 calls while bytes go in or out. They only keep what they are told: no I/O.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

enum SessionCallbacks {
  /// The source of a response's content: the stream of the session that the callback gets.
  static var contentSource: nghttp2_data_provider {
    var source = nghttp2_data_provider()
    source.read_callback = { _, id, space, length, flags, _, user in
      guard let user, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      return session(user).readContent(id, into: UnsafeMutableRawBufferPointer(start: space, count: length), flags)
    }
    return source
  }

  /// A handle whose events go to `owner`.
  static func makeServer(for owner: CallerSession) -> OpaquePointer? {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, user in
      guard let header, let user else { return failure }
      return verdict(session(user).frameBegins(header.pointee))
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return failure }
      session(user).headBegins(frame.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameSize, value, valueSize, _, user in
      guard let frame, let user else { return failure }
      return session(user).take(
        UnsafeBufferPointer(start: name, count: nameSize), UnsafeBufferPointer(start: value, count: valueSize),
        of: frame.pointee)
    }
    // A field that libnghttp2 would leave out makes the request malformed.
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
      NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, _, user in
      guard let user else { return failure }
      session(user).isInHead = false
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return failure }
      return verdict(session(user).frameArrived(frame.pointee))
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
      guard let user else { return failure }
      session(user).contentArrived(UnsafeBufferPointer(start: bytes, count: count), id)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return failure }
      session(user).frameWasSent(frame.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, user in
      guard let user else { return failure }
      session(user).streamClosed(id)
      return 0
    }

    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Counted here, with other kinds.
    nghttp2_option_set_stream_reset_rate_limit(option, UInt64(Int32.max), UInt64(Int32.max))
    // As much as a response may have of head and trailers, and its fields' overhead. Without it, libnghttp2 would not
    // send a head of more than 64 KiB, and tell nobody.
    nghttp2_option_set_max_send_header_block_length(option, 4 * owner.limits.head.headBytes + 128 * 1024)
    var handle: OpaquePointer?
    nghttp2_session_server_new2(&handle, callbacks, Unmanaged.passUnretained(owner).toOpaque(), option)
    return handle
  }

}

// Not members of a type: a C function captures none.
private func session(_ user: UnsafeMutableRawPointer) -> CallerSession {
  Unmanaged<CallerSession>.fromOpaque(user).takeUnretainedValue()
}

private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
// An abuse ends the reading at once.
private func verdict(_ goesOn: Bool) -> Int32 { goesOn ? 0 : failure }

extension CallerSession {
  // MARK: Frames of the peer

  /// A frame begins. False: the session ends.
  func frameBegins(_ header: nghttp2_frame_hd) -> Bool {
    switch UInt32(header.type) {
    case NGHTTP2_DATA.rawValue:
      // What is padding alone is empty, too; content pays this back.
      let isPadded = UInt32(header.flags) & NGHTTP2_FLAG_PADDED.rawValue != 0
      let isEmpty = (header.length == 0 || isPadded) && UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue == 0
      if isEmpty || streams[header.stream_id] == nil { countIdleFrame() }
    case NGHTTP2_HEADERS.rawValue:
      // A stream that is over.
      if header.stream_id <= lastStream, streams[header.stream_id] == nil { countIdleFrame() }
    case NGHTTP2_RST_STREAM.rawValue, NGHTTP2_CONTINUATION.rawValue: break
    case NGHTTP2_PRIORITY.rawValue where header.stream_id == 0:
      // libnghttp2 reads no priorities any more, not even that.
      nghttp2_session_terminate_session(handle, NGHTTP2_PROTOCOL_ERROR.rawValue)
    default: countIdleFrame()
    }
    return abuse == nil
  }

  func headBegins(_ frame: nghttp2_frame) {
    fields.reset()
    (isInHead, isRefusing, isMalformed) = (true, false, false)
    lastStream = max(lastStream, frame.hd.stream_id)
    headStream = frame.hd.stream_id
    if frame.headers.cat == NGHTTP2_HCAT_REQUEST, activeCount >= limits.streams {
      nghttp2_submit_rst_stream(handle, 0, frame.hd.stream_id, NGHTTP2_REFUSED_STREAM.rawValue)
      // libnghttp2 does not tell the end of a head whose stream is closing.
      (isRefusing, isInHead) = (true, false)
    }
  }

  /// A field of a header block. The result is libnghttp2's.
  func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, of frame: nghttp2_frame) -> Int32 {
    let isTrailer = frame.headers.cat != NGHTTP2_HCAT_REQUEST
    let isFine = isTrailer ? fields.addTrailer(name.span, value.span) : fields.add(name.span, value.span)
    // Some KiB of a header table can be named again and again, with one byte each.
    if fields.byteCount > Self.decodedFactor * limits.head.headBytes {
      countLargeHeaders()
      return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }
    if !isFine { isMalformed = true }
    return 0
  }

  /// A whole frame has arrived. False: the session ends.
  func frameArrived(_ frame: nghttp2_frame) -> Bool {
    let endsStream = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue:
      isInHead = false
      if isMalformed {
        nghttp2_submit_rst_stream(handle, 0, frame.hd.stream_id, NGHTTP2_PROTOCOL_ERROR.rawValue)
      } else if frame.headers.cat == NGHTTP2_HCAT_REQUEST {
        begin(frame.hd.stream_id, endsStream: endsStream)
      } else if endsStream, let stream = streams[frame.hd.stream_id] {
        stream.request.end(trailers: fields)
        note(.readable, stream)
      }
    case NGHTTP2_DATA.rawValue:
      if endsStream, let stream = streams[frame.hd.stream_id] {
        stream.request.end()
        note(.readable, stream)
      }
    case NGHTTP2_RST_STREAM.rawValue: countReset()
    case NGHTTP2_PING.rawValue:
      if UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 { pongCount += 1 }
    default: break
    }
    return abuse == nil
  }

  func contentArrived(_ bytes: UnsafeBufferPointer<UInt8>, _ id: Int32) {
    countContent()
    if let stream = streams[id], !stream.isFinished, !stream.isBroken {
      stream.request.append(bytes.span)
      note(.readable, stream)
    } else {
      // Nobody takes it, but the connection's window is everybody's.
      nghttp2_session_consume(handle, id, bytes.count)
    }
  }

  // MARK: Frames of ours

  func frameWasSent(_ frame: nghttp2_frame) {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
      if UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let stream = streams[frame.hd.stream_id] {
        stream.isAnswered = true
        note(.writable, stream)
      }
    case NGHTTP2_RST_STREAM.rawValue:
      if streams[frame.hd.stream_id]?.isGivenUp == true { break }
      // One that no owner has asked for: a request beyond the limit, which libnghttp2 or we refuse, or an error of the
      // peer's (CVE-2025-8671).
      if frame.rst_stream.error_code == NGHTTP2_REFUSED_STREAM.rawValue { countReset() } else { countStreamError() }
    case NGHTTP2_GOAWAY.rawValue:
      // Behind the first one: its answer tells that the peer has read that.
      if frame.goaway.last_stream_id == Int32.max { nghttp2_submit_ping(handle, 0, nil) }
    default: break
    }
  }
}
