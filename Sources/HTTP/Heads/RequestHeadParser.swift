// Reads a request head from the bytes received so far, as strict as RFC 9112 allows. Hosts (`RequestHost`),
// bodies (`BodyFraming`), paths (`NormalPath`) and forwarding (`HopByHop`) are judged elsewhere.
//
//     HTTP-message = start-line CRLF *( field-line CRLF ) CRLF [ message-body ]           (RFC 9112 §2.1)
//     request-line = method SP request-target SP HTTP-version                             (RFC 9112 §3)

import Bytes

/// Reads one request head after the other. A value of a few words: the head that it fills in has the storage.
public struct RequestHeadParser: Sendable {
  private var scan = HeadScan()
  private var emptyLines = 0
  private static let maximumEmptyLines = 4

  /// A parser at the first byte of a head.
  public init() {}

  /// Continues. `bytes` begin with the same byte on every call for one head; after `complete` or `invalid` the next
  /// call begins a new head. Takes time linear in the head's length however the bytes arrive. More lines than `head`
  /// has room for are read if the limits allow it, at the cost of an allocation.
  public mutating func parse(
    _ bytes: Span<UInt8>, into head: inout RequestHead, limits: HeadLimits
  ) -> ReadingProgress<RequestHeadError> {
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
    defer { scan.phase = .finished }
    guard case .needsMore = progress else { return progress }
    return .invalid(scan.phase == .startLine && isBehindMethod(bytes, end: end) ? .targetTooLong : .headTooLarge)
  }

  private mutating func advance(
    _ bytes: Span<UInt8>, _ head: inout RequestHead, end: Int, limits: HeadLimits
  ) -> ReadingProgress<RequestHeadError> {
    if scan.phase == .startLine {
      switch readRequestLine(bytes, &head, end: end, limits: limits) {
      case .needsMore: return .needsMore
      case .invalid(let error): return .invalid(error)
      case .complete(let next):
        scan.lineStart = next
        scan.phase = .fields
      }
    }
    switch FieldSection.read(
      bytes, from: &scan.lineStart, end: end, into: &head.fields, limit: limits.fieldCount, space: .refused)
    {
    case .needsMore: return .needsMore
    case .invalid(let error): return .invalid(.field(error))
    case .complete(let byteCount):
      if !head.connection.read(head.fields, bytes) { return .invalid(.connectionOptions) }
      do throws(RequestHeadError) {
        head.place = try RequestHost(head, bytes)
      } catch {
        return .invalid(error)
      }
      return .complete(byteCount: byteCount)
    }
  }

  // True if the present part of the request line reaches into its target (RFC 9112 §3: too long a target is a 414).
  private func isBehindMethod(_ bytes: Span<UInt8>, end: Int) -> Bool {
    var index = scan.lineStart
    while index < end, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
    return index < end && bytes[index] == ASCII.space
  }

  private mutating func readRequestLine(
    _ bytes: Span<UInt8>, _ head: inout RequestHead, end: Int, limits: HeadLimits
  ) -> ReadingProgress<RequestHeadError> {
    // A server should ignore at least one empty line before the request line (RFC 9112 §2.2).
    while scan.lineStart < end, bytes[scan.lineStart] == ASCII.carriageReturn {
      if scan.lineStart + 1 == end { return .needsMore }
      if bytes[scan.lineStart + 1] != ASCII.lineFeed { return .invalid(.lineEnd) }
      if emptyLines == Self.maximumEmptyLines { return .invalid(.emptyLines) }
      emptyLines += 1
      scan.lineStart += 2
    }
    var index = scan.lineStart
    while index < end, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
    if index == end { return .needsMore }
    if bytes[index] != ASCII.space || index == scan.lineStart {
      return .invalid(Self.misplaced(bytes[index], isLineEndDue: index == scan.lineStart, otherwise: .method))
    }
    head.methodName = ByteRange(from: scan.lineStart, to: index)
    head.method = RequestMethod(bytes.extracting(head.methodName))
    index += 1

    let targetStart = index
    let targetLimit = min(end, targetStart + limits.targetBytes + 1)
    while index < targetLimit, bytes[index] != ASCII.question, ByteClass.of(bytes[index], ByteClass.target) {
      index += 1
    }
    let question = index
    while index < targetLimit, ByteClass.of(bytes[index], ByteClass.target) { index += 1 }
    if index - targetStart > limits.targetBytes { return .invalid(.targetTooLong) }
    if index == end { return .needsMore }
    if bytes[index] != ASCII.space || index == targetStart {
      return .invalid(Self.misplaced(bytes[index], isLineEndDue: false, otherwise: .target))
    }
    if let error = head.target.read(bytes, from: targetStart, to: index, question: question, method: head.method) {
      return .invalid(error)
    }
    switch VersionReading(bytes, at: index + 1, end: end) {
    case .needsMore: return .needsMore
    case .unsupported: return .invalid(.versionUnsupported)
    case .malformed: return .invalid(.version)
    case .version(let version, let next):
      head.version = version
      return Self.endOfLine(bytes, at: next, end: end)
    }
  }

  private static func endOfLine(
    _ bytes: Span<UInt8>, at index: Int, end: Int
  ) -> ReadingProgress<RequestHeadError> {
    if index == end { return .needsMore }
    if bytes[index] != ASCII.carriageReturn {
      return .invalid(misplaced(bytes[index], isLineEndDue: true, otherwise: .version))
    }
    if index + 1 == end { return .needsMore }
    if bytes[index + 1] != ASCII.lineFeed { return .invalid(.lineEnd) }
    return .complete(byteCount: index + 2)
  }

  // The meaning of a byte in place of another that was due.
  private static func misplaced(_ byte: UInt8, isLineEndDue: Bool, otherwise: RequestHeadError) -> RequestHeadError {
    switch byte {
    case ASCII.lineFeed: isLineEndDue ? .lineEnd : .requestLine
    case ASCII.space, ASCII.tab, ASCII.carriageReturn: .requestLine
    default: otherwise
    }
  }
}
