import HTTP
import Testing

/// The cuts at which bytes arrive.
enum Feeding: Equatable, Sendable {
  case whole
  case byteByByte
  /// In two pieces.
  case split(at: Int)

  /// The lengths of what has arrived at each call.
  func lengths(_ count: Int) -> [Int] {
    switch self {
    case .whole: [count]
    case .byteByByte: Array(1...max(count, 1)).filter { $0 <= count }
    case .split(let place): [place, count]
    }
  }

  /// The outcome of parsing a request head that arrives in this way.
  static func request(_ bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = HeadLimits()) -> HeadReading {
    var parser = RequestHeadParser()
    var head = RequestHead()
    for length in feeding.lengths(bytes.count) {
      let arrived = bytes.span.extracting(0..<length)
      switch parser.parse(arrived, into: &head, limits: limits) {
      case .needsMore: continue
      case .invalid(let error): return .invalid("\(error)")
      case .complete(let byteCount):
        let text = RequestHeadText(head, arrived)
        return .complete(byteCount, "\(text)")
      }
    }
    return .needsMore
  }

  /// The outcome of parsing a response head that arrives in this way.
  static func response(_ bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = HeadLimits()) -> HeadReading {
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    for length in feeding.lengths(bytes.count) {
      let arrived = bytes.span.extracting(0..<length)
      switch parser.parse(arrived, into: &head, limits: limits) {
      case .needsMore: continue
      case .invalid(let error): return .invalid("\(error)")
      case .complete(let byteCount):
        let text = ResponseHeadText(head, arrived)
        return .complete(byteCount, "\(text)")
      }
    }
    return .needsMore
  }
}

/// The result of parsing a head.
enum HeadReading: Equatable {
  case needsMore
  case complete(Int, String)
  case invalid(String)

  /// True if two ways of arrival have the same result. A fault in a line that never ends may be found at once or not at
  /// all.
  func agrees(with other: HeadReading) -> Bool {
    switch (self, other) {
    case (.invalid, .needsMore), (.needsMore, .invalid): true
    default: self == other
    }
  }
}

/// Reads `text`, a whole request head, and lends it with its bytes.
func withRequest<Result>(
  _ text: String, _ body: (borrowing RequestHead, Span<UInt8>) throws -> Result
) rethrows -> Result {
  let bytes = Array(text.utf8)
  var parser = RequestHeadParser()
  var head = RequestHead()
  let progress = parser.parse(bytes.span, into: &head, limits: HeadLimits())
  #expect(progress == .complete(byteCount: bytes.count), "\(text)")
  return try body(head, bytes.span)
}

/// Reads `text`, a whole response head, and lends it with its bytes.
func withResponse<Result>(
  _ text: String, _ body: (borrowing ResponseHead, Span<UInt8>) throws -> Result
) rethrows -> Result {
  let bytes = Array(text.utf8)
  var parser = ResponseHeadParser()
  var head = ResponseHead()
  let progress = parser.parse(bytes.span, into: &head, limits: HeadLimits())
  #expect(progress == .complete(byteCount: bytes.count), "\(text)")
  return try body(head, bytes.span)
}

/// Text of some bytes of a head; each byte above ASCII is one scalar.
func text(_ range: ByteRange, _ bytes: Span<UInt8>) -> String {
  var text = ""
  for index in range.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
  return text
}

/// A field table as text, `name=value` with `!` behind names that a rule knows.
func lines(_ fields: borrowing FieldTable, _ bytes: Span<UInt8>) -> [String] {
  var lines: [String] = []
  for index in 0..<fields.count {
    let line = fields[index]
    lines.append("\(text(line.name, bytes))\(line.known == .other ? "" : "!")=\(text(line.value, bytes))")
  }
  return lines
}

/// A request head as text.
struct RequestHeadText: Equatable {
  var method: String
  var form: RequestTarget.Form
  var authority: String
  var host: String
  var path: String
  var query: String?
  var version: HTTPVersion
  var fields: [String]

  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
    method = text(head.methodName, bytes)
    form = head.target.form
    authority = text(head.authority, bytes)
    host = text(head.host, bytes)
    path = text(head.target.path, bytes)
    query = head.target.hasQuery ? text(head.target.query, bytes) : nil
    version = head.version
    fields = lines(head.fields, bytes)
  }
}

/// A response head as text.
struct ResponseHeadText: Equatable {
  var version: HTTPVersion
  var status: Int
  var reason: String
  var fields: [String]

  init(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>) {
    version = head.version
    status = head.status
    reason = text(head.reason, bytes)
    fields = lines(head.fields, bytes)
  }
}
