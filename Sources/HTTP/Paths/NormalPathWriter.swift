// Writes a path's normal form, segment by segment: the slow path. `NormalPath` has the rules.

import Bytes

/// Writes one normal form behind the contents of a buffer.
struct NormalPathWriter {
  private let start: Int
  private let removesEncodedSlashes: Bool
  private let allowed: EncodedPath
  // The beginning of the present segment, behind its slash.
  private var segmentStart: Int

  init(start: Int, removesEncodedSlashes: Bool, allowing allowed: EncodedPath) {
    self.start = start
    self.removesEncodedSlashes = removesEncodedSlashes
    self.allowed = allowed
    segmentStart = start + 1
  }

  /// Appends the normal form of `path`; throws if it has none; a part of it is then in the output.
  mutating func write(_ path: Span<UInt8>, into buffer: inout ByteBuffer) -> PathError? {
    buffer.reserve(path.count + 1)
    buffer.append(ASCII.slash)
    if path.count == 0 { return nil }
    if path[0] != ASCII.slash { return .notAbsolute }
    var index = 1
    while index < path.count {
      let byte = path[index]
      switch byte {
      case ASCII.slash:
        if let error = endSegment(isLast: false, in: &buffer) { return error }
        index += 1
      case ASCII.percent:
        guard index + 2 < path.count, let high = ASCII.hexadecimalValue(path[index + 1]),
          let low = ASCII.hexadecimalValue(path[index + 2])
        else { return .percentEncoding }
        if let error = append(encoded: high << 4 | low, into: &buffer) { return error }
        index += 3
      case ASCII.backslash: return .backslash
      default:
        if !ByteClass.of(byte, ByteClass.segment) { return .control }
        buffer.append(byte)
        index += 1
      }
    }
    return endSegment(isLast: true, in: &buffer)
  }

  private func append(encoded byte: UInt8, into buffer: inout ByteBuffer) -> PathError? {
    if ByteClass.of(byte, ByteClass.unreserved) {
      buffer.append(byte)
      return nil
    }
    if byte < ASCII.space && !allowed.allows(control: byte) || byte == 0x7F { return .control }
    if byte == ASCII.backslash && !allowed.contains(.backslash) { return .backslash }
    // 0xC0 and 0xC1 begin nothing but overlong sequences; those of three and four bytes show at their second one.
    if byte == 0xC0 || byte == 0xC1 { return .overlong }
    buffer.append(ASCII.percent)
    buffer.append(ASCII.upperHexadecimalDigit(byte >> 4))
    buffer.append(ASCII.upperHexadecimalDigit(byte & 0x0F))
    return nil
  }

  // Judges the segment that has just been written.
  private mutating func endSegment(isLast: Bool, in buffer: inout ByteBuffer) -> PathError? {
    if let error = hidden(in: buffer.bytes.extracting(segmentStart..<buffer.count)) { return error }
    let kind = DotSegment(buffer.bytes.extracting(segmentStart..<buffer.count))
    switch kind {
    case .none:
      if !isLast { buffer.append(ASCII.slash) }
      segmentStart = buffer.count
    case .current: buffer.truncate(to: segmentStart)
    case .parent:
      // Back behind the slash before the segment that this one removes.
      var parent = segmentStart - 1
      if parent == start { return .climbsAboveRoot }
      if buffer.bytes[parent - 1] == ASCII.slash { return .hiddenDotSegment }
      while buffer.bytes[parent - 1] != ASCII.slash { parent -= 1 }
      if !isOneSegment(buffer.bytes.extracting(parent..<segmentStart - 1)) { return .hiddenDotSegment }
      buffer.truncate(to: parent)
      segmentStart = parent
    }
    return nil
  }

  // The fault that other readers could see in a segment whose unreserved characters are all decoded.
  private func hidden(in segment: Span<UInt8>) -> PathError? {
    var partStart = 0
    var index = 0
    while index < segment.count {
      let byte = segment[index]
      if byte == ASCII.semicolon {
        if Self.isDots(segment, partStart, index) { return .hiddenDotSegment }
      } else if byte == ASCII.percent, index + 2 < segment.count {
        switch (segment[index + 1], segment[index + 2]) {
        case (0x33, 0x42), (0x33, 0x46), (0x32, 0x33):  // %3B, %3F, %23: what ends a segment, or the path
          if Self.isDots(segment, partStart, index) { return .hiddenDotSegment }
        case (0x32, 0x46):  // %2F, a slash
          if Self.isDots(segment, partStart, index) { return .hiddenDotSegment }
          partStart = index + 3
        case (0x32, 0x35), (0x35, 0x43), (0x30, _):  // %25, a percent sign; %5C and controls that were let through
          return DeepEncoding.hidden(in: segment, allowing: allowed)
        case (0x45, 0x30) where Self.follows(segment, index + 3, below: 0xA0),  // %E0
          (0x46, 0x30) where Self.follows(segment, index + 3, below: 0x90):  // %F0
          return .overlong
        default: break
        }
        index += 2
      }
      index += 1
    }
    return partStart > 0 && Self.isDots(segment, partStart, segment.count) ? .hiddenDotSegment : nil
  }

  // True if every reader sees one segment here, so that `..` behind it removes the same for all of them; or, if nothing
  // depends on that, at least one. A reader that decodes first may also find the path's end here, behind which `..`
  // removes nothing.
  private func isOneSegment(_ segment: Span<UInt8>) -> Bool {
    let octets = DeepEncoding.octets(of: segment)
    let isOne = octets.allSatisfy { octet in
      switch octet.byte {
      case ASCII.question, ASCII.hash, 0: false
      case ASCII.slash, ASCII.backslash: removesEncodedSlashes || octet.depth > 1
      default: true
      }
    }
    return isOne && NormalPath.isSolid(segment)
  }

  private static func isDots(_ segment: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    DotSegment(segment.extracting(start..<end)) != .none
  }

  // True if a percent-encoded continuation byte below `limit` is at `index`.
  private static func follows(_ segment: Span<UInt8>, _ index: Int, below limit: UInt8) -> Bool {
    guard index + 2 < segment.count, segment[index] == ASCII.percent,
      let high = ASCII.hexadecimalValue(segment[index + 1]),
      let low = ASCII.hexadecimalValue(segment[index + 2])
    else { return false }
    let byte = high << 4 | low
    return byte >= 0x80 && byte < limit
  }
}
