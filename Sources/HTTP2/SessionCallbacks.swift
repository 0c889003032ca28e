// The functions that libnghttp2 calls while bytes go in or out. They only keep what they are told: no I/O.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

enum SessionCallbacks {
  /// The source of a message's content: the stream of the session that the callback gets.
  static var contentSource: nghttp2_data_provider {
    var source = nghttp2_data_provider()
    source.read_callback = { _, id, _, length, flags, _, user in
      guard let user, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      return session(user).readContent(id, atMost: length, flags)
    }
    return source
  }

  enum Side { case server, client }

  /// A handle whose events go to `owner`.
  static func makeHandle(_ side: Side, for owner: Session) -> OpaquePointer? {
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
    // A field that libnghttp2 would leave out makes the message malformed.
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
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, _, head, length, _, user in
      guard let head, let user else { return failure }
      return session(user).contentLeaves(head, length)
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return failure }
      session(user).frameLeaves(frame.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
      guard let user else { return failure }
      session(user).streamClosed(id, code)
      return 0
    }

    var option: OpaquePointer?
    nghttp2_option_new(&option)
    defer { nghttp2_option_del(option) }
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Counted here, with other kinds.
    nghttp2_option_set_stream_reset_rate_limit(option, UInt64(Int32.max), UInt64(Int32.max))
    // The method, which is all that libnghttp2 writes of a head. Without this it drops one of more than 64 KiB, and
    // reports no error.
    nghttp2_option_set_max_send_header_block_length(option, 4 * owner.limits.head.headBytes + 128 * 1024)
    var handle: OpaquePointer?
    let user = Unmanaged.passUnretained(owner).toOpaque()
    switch side {
    case .server: nghttp2_session_server_new2(&handle, callbacks, user, option)
    case .client: nghttp2_session_client_new2(&handle, callbacks, user, option)
    }
    return handle
  }
}

// Not members of a type: a C function captures none.
private func session(_ user: UnsafeMutableRawPointer) -> Session {
  Unmanaged<Session>.fromOpaque(user).takeUnretainedValue()
}

private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
// An abuse ends the reading at once.
private func verdict(_ goesOn: Bool) -> Int32 { goesOn ? 0 : failure }
