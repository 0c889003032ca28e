// Responses on their way from HTTP/1.1 bytes to frames.

internal import Bytes
internal import CNGHTTP2
internal import HTTP

extension CallerSession {
  /// Makes frames of what is there of a response.
  func advance(_ stream: CallerStream) {
    while !stream.response.hasHead {
      let step = stream.response.nextHead()
      if case .needsMore = step { return }
      guard submitHead(step, stream) else { return fail(stream) }
      stream.response.dropHead()
    }
    if stream.isDeferred {
      stream.isDeferred = false
      nghttp2_session_resume_data(handle, stream.id)
    }
  }

  private func submitHead(_ step: StreamResponse.HeadStep, _ stream: CallerStream) -> Bool {
    lines.removeAll(keepingCapacity: true)
    var status = ASCIIStatus(stream.response.status)
    return withUnsafeMutableBytes(of: &status.digits) { digits in
      lines.append(Self.statusLine(digits))
      stream.response.forEachLine { collect($0, $1) }
      return lines.withUnsafeMutableBufferPointer { lines in
        let (first, count) = (lines.baseAddress, lines.count)
        switch step {
        case .needsMore, .invalid: return false
        case .interim: return nghttp2_submit_headers(handle, 0, stream.id, nil, first, count, nil) == 0
        case .final(endsStream: true): return nghttp2_submit_response(handle, stream.id, first, count, nil) == 0
        case .final(endsStream: false):
          var source = SessionCallbacks.contentSource
          return nghttp2_submit_response(handle, stream.id, first, count, &source) == 0
        }
      }
    }
  }

  private static func statusLine(_ digits: UnsafeMutableRawBufferPointer) -> nghttp2_nv {
    let name: StaticString = ":status"
    return nghttp2_nv(
      name: UnsafeMutablePointer(mutating: name.utf8Start),
      value: digits.baseAddress?.assumingMemoryBound(to: UInt8.self), namelen: name.utf8CodeUnitCount,
      valuelen: digits.count, flags: 0)
  }

  // libnghttp2 copies names, in lower case, and values.
  private func collect(_ line: FieldLine, _ bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      let start = UnsafeMutablePointer(mutating: base)
      lines.append(
        nghttp2_nv(
          name: start + Int(line.name.start), value: start + Int(line.value.start), namelen: Int(line.name.count),
          valuelen: Int(line.value.count), flags: 0))
    }
  }

  /// Fills a DATA frame. Returns its length, or an error of libnghttp2.
  func readContent(
    _ id: Int32, into space: UnsafeMutableRawBufferPointer, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    guard let stream = streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    switch stream.response.read(into: space) {
    case .invalid: return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    case .moved(0):
      stream.isDeferred = true
      note(.writable, stream)
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .moved(let count):
      contentWasWritten(stream)
      return count
    case .ended(let count, let hasTrailers):
      contentWasWritten(stream)
      flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if hasTrailers {
        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        lines.removeAll(keepingCapacity: true)
        stream.response.forEachTrailer { collect($0, $1) }
        lines.withUnsafeMutableBufferPointer { _ = nghttp2_submit_trailer(handle, id, $0.baseAddress, $0.count) }
      }
      return count
    }
  }
}

/// A status as three digits.
private struct ASCIIStatus {
  var digits: (UInt8, UInt8, UInt8)

  init(_ status: Int) {
    let digit = { (value: Int) in ASCII.zero + UInt8(truncatingIfNeeded: value % 10) }
    digits = (digit(status / 100), digit(status / 10), digit(status))
  }
}
