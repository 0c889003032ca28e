// Messages on their way from HTTP/1.1 bytes to frames.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

extension Session {
  /// Makes frames of what is there of a message.
  final func advance(_ stream: SessionStream) {
    while !stream.outgoing.hasHead {
      // One after the other, so that all but one wait where there is a limit.
      if stream.sendsInterim { return }
      let step = stream.outgoing.nextHead()
      if case .needsMore = step { return }
      guard submitHead(step, stream) else { return failToSend(stream) }
      stream.outgoing.dropHead()
      if case .interim = step { stream.sendsInterim = true }
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

  /// Adds a line to the fields of the frame that is being made. libnghttp2 copies names, in lower case, and values.
  final func collect(_ line: FieldLine, _ bytes: Span<UInt8>) {
    let isKept = IndexedFields.contain(line.known, bytes.extracting(line.name))
    let flags = isKept ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
    bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      let start = UnsafeMutablePointer(mutating: base)
      lines.append(
        nghttp2_nv(
          name: start + Int(line.name.start), value: start + Int(line.value.start), namelen: Int(line.name.count),
          valuelen: Int(line.value.count), flags: UInt8(flags.rawValue)))
    }
  }

  final func addLine(_ name: StaticString, _ value: UnsafeMutableRawBufferPointer) {
    lines.append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start),
        value: value.baseAddress?.assumingMemoryBound(to: UInt8.self), namelen: name.utf8CodeUnitCount,
        valuelen: value.count, flags: 0))
  }

  final func addLine(_ name: StaticString, _ value: StaticString) {
    addLine(
      name,
      UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: value.utf8Start), count: value.utf8CodeUnitCount))
  }

  final func addLine(_ name: StaticString, _ value: ByteRange, _ bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { bytes in
      let value = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[value.indices]))
      addLine(name, UnsafeMutableRawBufferPointer(mutating: value))
    }
  }

  /// Bytes of a frame that are worth its cost even if there is more to send.
  private static var wholePiece: Int { 1024 }

  /// Fills a DATA frame. Returns its length, or an error of libnghttp2.
  final func readContent(
    _ id: Int32, into space: UnsafeMutableRawBufferPointer, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    guard let stream = streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    switch stream.outgoing.read(into: space) {
    case .invalid: return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    case .moved(0):
      stream.isDeferred = true
      note(.writable, stream)
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .moved(let count):
      // A frame that a small window cut pays for no further opening of that.
      contentWasWritten(stream, isProgress: count < space.count || count >= Self.wholePiece)
      return count
    case .ended(let count, let hasTrailers):
      contentWasWritten(stream, isProgress: true)
      flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if hasTrailers {
        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        lines.removeAll(keepingCapacity: true)
        stream.outgoing.forEachTrailer { collect($0, $1) }
        lines.withUnsafeMutableBufferPointer { _ = nghttp2_submit_trailer(handle, id, $0.baseAddress, $0.count) }
      }
      return count
    }
  }
}
