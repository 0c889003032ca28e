// Reads a response head from the bytes received so far. Interim responses are heads like any other.
//
//     status-line = HTTP-version SP status-code SP [ reason-phrase ]                      (RFC 9112 §4)

import Bytes

/// Reads one response head after the other. A value of a few words: the head that it fills in has the storage.
public struct ResponseHeadParser: Sendable {
  private var scan = HeadScan()

  /// A parser at the first byte of a head.
  public init() {}

  /// Continues. `bytes` begin with the same byte on every call for one head; after `complete` or `invalid` the next
  /// call begins a new head. Takes time linear in the head's length however the bytes arrive. More lines than `head`
  /// has room for are read if the limits allow it, at the cost of an allocation. `targetBytes` of the limits has no
  /// meaning here.
  public mutating func parse(
    _ bytes: Span<UInt8>, into head: inout ResponseHead, limits: HeadLimits
  ) -> ReadingProgress<ResponseHeadError> {
    if scan.phase == .finished { self = Self() }
    if scan.phase == .beginning {
      head.reset()
      scan.phase = .startLine
    }
    let end = min(bytes.count, limits.headBytes)
    if scan.isMidLine(bytes, end: end, limit: limits.headBytes) { return .needsMore }
    let progress = advance(bytes, &head, end: end, limits: limits)
    if case .needsMore = progress, bytes.count < limits.headBytes {
      scan.scanned = end
      return .needsMore
    }
    scan.phase = .finished
    return if case .needsMore = progress { .invalid(.headTooLarge) } else { progress }
  }

  private mutating func advance(
    _ bytes: Span<UInt8>, _ head: inout ResponseHead, end: Int, limits: HeadLimits
  ) -> ReadingProgress<ResponseHeadError> {
    if scan.phase == .startLine {
      switch Self.readStatusLine(bytes, &head, end: end) {
      case .needsMore: return .needsMore
      case .invalid(let error): return .invalid(error)
      case .complete(let next):
        scan.lineStart = next
        scan.phase = .fields
      }
    }
    switch FieldSection.read(
      bytes, from: &scan.lineStart, end: end, into: &head.fields, limit: limits.fieldCount, space: .removed)
    {
    case .needsMore: return .needsMore
    case .invalid(let error): return .invalid(.field(error))
    case .complete(let byteCount):
      if !head.connection.read(head.fields, bytes) { return .invalid(.connectionOptions) }
      return .complete(byteCount: byteCount)
    }
  }

  private static func readStatusLine(
    _ bytes: Span<UInt8>, _ head: inout ResponseHead, end: Int
  ) -> ReadingProgress<ResponseHeadError> {
    switch VersionReading(bytes, at: 0, end: end) {
    case .needsMore: return .needsMore
    case .unsupported: return .invalid(.versionUnsupported)
    case .malformed: return .invalid(.statusLine)
    case .version(let version, _): head.version = version
    }
    if end < 13 { return isStatus(bytes, end: end) ? .needsMore : .invalid(.statusLine) }
    guard isStatus(bytes, end: 12) else { return .invalid(.statusLine) }
    let digits = bytes.extracting(9..<12)
    head.status =
      Int(digits[0] - ASCII.zero) * 100 + Int(digits[1] - ASCII.zero) * 10 + Int(digits[2] - ASCII.zero)
    guard head.status >= 100, head.status <= 599 else { return .invalid(.statusCode) }
    var index = 12
    // The space is required and the phrase optional, but senders without a phrase omit both, and nothing else can be
    // meant.
    if bytes[index] == ASCII.space {
      index += 1
    } else if bytes[index] != ASCII.carriageReturn {
      return .invalid(bytes[index] == ASCII.lineFeed ? .lineEnd : .statusLine)
    }
    let reasonStart = index
    while index < end, ByteClass.of(bytes[index], ByteClass.value) { index += 1 }
    if index == end { return .needsMore }
    if bytes[index] != ASCII.carriageReturn { return .invalid(bytes[index] == ASCII.lineFeed ? .lineEnd : .reason) }
    if index + 1 == end { return .needsMore }
    if bytes[index + 1] != ASCII.lineFeed { return .invalid(.lineEnd) }
    head.reason = ByteRange(from: reasonStart, to: index)
    return .complete(byteCount: index + 2)
  }

  // True if the present bytes of offsets 8 to 11 are a space and digits.
  private static func isStatus(_ bytes: Span<UInt8>, end: Int) -> Bool {
    for index in 8..<max(8, end) {
      let isDue = index == 8 ? bytes[index] == ASCII.space : bytes[index] &- ASCII.zero < 10
      if index < 12, !isDue { return false }
    }
    return true
  }
}
