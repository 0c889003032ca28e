// The reading of a request head from the bytes received so far, as strict as RFC 9112 allows. It decides nothing
// about bodies (`BodyFraming`), paths (`NormalPath`) or what is forwarded (`HopByHop`).
//
//     HTTP-message = start-line CRLF *( field-line CRLF ) CRLF [ message-body ]           (RFC 9112 §2.1)
//     request-line = method SP request-target SP HTTP-version                             (RFC 9112 §3)

import Bytes

/// How far a request head has been read.
public enum RequestHeadProgress: Sendable, Hashable {
  /// It is not all there. Call again with more bytes behind the same ones.
  case needsMore
  /// `head` is filled in; it takes this many bytes, empty lines before it included.
  case complete(byteCount: Int)
  /// It is to be refused, and the connection closed after the answer.
  case invalid(RequestHeadError)
}

/// A parser for one request head after the other. Allocates when it is made, not when it reads.
public struct RequestHeadParser: ~Copyable {
  /// The head that was read. Meaningful after `complete`, up to the next `parse` or `reset`.
  public internal(set) var head: RequestHead

  private var scan = HeadScan()
  private var emptyLines = 0
  private static let maximumEmptyLines = 4

  /// A parser whose table has room for `fieldCapacity` lines; more are read where the limits allow it, at the cost of
  /// an allocation.
  public init(fieldCapacity: Int = 100) {
    head = RequestHead(fieldCapacity: fieldCapacity)
  }

  /// Forgets what was read. Keeps the storage.
  public mutating func reset() {
    scan = HeadScan()
    emptyLines = 0
    head.fields.removeAll()
    head.authority = ByteRange()
    head.host = ByteRange()
    head.connection.removeAll()
  }

  /// Reads on. `bytes` begin with the same byte on every call for one head; after `complete` or `invalid` the next call
  /// begins a new head. Takes time linear in the head's length however the bytes arrive.
  public mutating func parse(_ bytes: Span<UInt8>, limits: HeadLimits) -> RequestHeadProgress {
    if scan.phase == .finished { reset() }
    let end = min(bytes.count, limits.headBytes)
    if scan.isMidLine(bytes, end: end, limit: limits.headBytes) { return .needsMore }
    let progress = advance(bytes, end: end, limits: limits)
    if case .needsMore = progress {
      if bytes.count >= limits.headBytes {
        let isTarget = scan.phase == .startLine && isBehindMethod(bytes, end: end)
        scan.phase = .finished
        return .invalid(isTarget ? .targetTooLong : .headTooLarge)
      }
      scan.scanned = end
      return .needsMore
    }
    scan.phase = .finished
    return progress
  }

  private mutating func advance(_ bytes: Span<UInt8>, end: Int, limits: HeadLimits) -> RequestHeadProgress {
    if scan.phase == .startLine {
      switch readRequestLine(bytes, end: end, limits: limits) {
      case .needsMore: return .needsMore
      case .invalid(let error): return .invalid(error)
      case .line(let next):
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
      if let error = finish(bytes) { return .invalid(error) }
      return .complete(byteCount: byteCount)
    }
  }

  // Whether what there is of the request line reaches into its target (RFC 9112 §3: too long a target is a 414).
  private func isBehindMethod(_ bytes: Span<UInt8>, end: Int) -> Bool {
    var index = scan.lineStart
    while index < end, ByteClass.of(bytes[index], ByteClass.token) { index += 1 }
    return index < end && bytes[index] == ASCII.space
  }

  private enum LineProgress {
    case needsMore
    case line(next: Int)
    case invalid(RequestHeadError)
  }

  private mutating func readRequestLine(_ bytes: Span<UInt8>, end: Int, limits: HeadLimits) -> LineProgress {
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
      return endOfLine(bytes, at: next, end: end, version: version)
    }
  }

  private mutating func endOfLine(
    _ bytes: Span<UInt8>, at index: Int, end: Int, version: HTTPVersion
  ) -> LineProgress {
    if index == end { return .needsMore }
    if bytes[index] != ASCII.carriageReturn {
      return .invalid(Self.misplaced(bytes[index], isLineEndDue: true, otherwise: .version))
    }
    if index + 1 == end { return .needsMore }
    if bytes[index + 1] != ASCII.lineFeed { return .invalid(.lineEnd) }
    head.version = version
    return .line(next: index + 2)
  }

  // What a byte says that stands where another was due.
  private static func misplaced(
    _ byte: UInt8, isLineEndDue: Bool, otherwise: RequestHeadError
  ) -> RequestHeadError {
    switch byte {
    case ASCII.lineFeed: isLineEndDue ? .lineEnd : .requestLine
    case ASCII.space, ASCII.tab, ASCII.carriageReturn: .requestLine
    default: otherwise
    }
  }

  // The rules that need the whole head.
  private mutating func finish(_ bytes: Span<UInt8>) -> RequestHeadError? {
    if head.fields.contains(.connection), !head.connection.read(head.fields, bytes) { return .connectionOptions }
    // RFC 9112 §3.2: a 1.1 request without Host, any request with two or with an invalid one gets a 400.
    guard let hostLine = head.fields.index(of: .host) else {
      if head.version == .http11 { return .hostMissing }
      head.authority = head.target.authority
      if !head.authority.isEmpty, let name = HostName(bytes.extracting(head.authority)) {
        head.host = name.host.within(head.authority)
      }
      return nil
    }
    if head.fields.index(of: .host, from: hostLine + 1) != nil { return .hostRepeated }
    let host = head.fields[hostLine].value
    guard let name = HostName(bytes.extracting(host)) else { return .hostInvalid }
    head.authority = host
    head.host = name.host.within(host)
    if head.target.authority.isEmpty { return nil }
    return takeTargetsAuthority(bytes, host: bytes.extracting(host))
  }

  // The target counts, not `Host` (RFC 9112 §3.2.2). A client that means two hosts at once is up to something.
  @inline(never)
  private mutating func takeTargetsAuthority(_ bytes: Span<UInt8>, host: Span<UInt8>) -> RequestHeadError? {
    let named = bytes.extracting(head.target.authority)
    guard let name = HostName(named) else { return .target }
    let isSame =
      if let scheme = head.target.scheme {
        HostName.areEquivalent(named, host, scheme: scheme)
      } else {
        named.equalsIgnoringCase(host)
      }
    if !isSame { return .hostDisagrees }
    head.authority = head.target.authority
    head.host = name.host.within(head.target.authority)
    return nil
  }
}
