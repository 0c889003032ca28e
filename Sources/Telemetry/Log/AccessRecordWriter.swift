// Access records: one line each, in a buffer that its owner writes out and empties. After the buffer has grown to its
// working size nothing here allocates, but for text beyond ASCII. Queries, field values and bodies are never recorded:
// all three carry secrets.

package import Bytes

/// Collects access records for one event loop.
public struct AccessRecordWriter: ~Copyable, Sendable {
  private let record: LogRecord
  private let routes: [[UInt8]]
  private var lines: ByteBuffer

  /// A writer that knows the routes by their positions.
  package init(format: LogFormat, routes: [String], capacity: Int = 16384) {
    record = LogRecord(format: format)
    self.routes = routes.map { Array($0.utf8) }
    lines = ByteBuffer(capacity: capacity)
  }

  /// Bytes waiting to be written out.
  public var count: Int { lines.count }

  /// Lets `body` write the lines out, then empties the buffer and keeps its memory.
  public mutating func drain(_ body: (UnsafeRawBufferPointer) -> Void) {
    lines.withReadableBytes(body)
    lines.removeAll()
  }

  /// Appends the record of one request that ended at `now`. Texts are as received, in any bytes; empty ones are left
  /// out. Of `path` only the part before a `?` is recorded. `requestID` and `traceID` are the ids in hexadecimal;
  /// `caller` is the caller's address; `account` and `subject` name the owners of the sent token and of the caller's.
  package mutating func append(
    _ access: AccessRecord, at now: WallTime, method: Span<UInt8>, host: Span<UInt8>, path: Span<UInt8>,
    caller: Span<UInt8>, account: Span<UInt8>, subject: Span<UInt8>, requestID: Span<UInt8>, traceID: Span<UInt8>
  ) {
    record.begin(&lines, at: now, level: .info)
    record.message(&lines, "request")
    if let route = access.route {
      let name = routes[route]
      record.field(&lines, "route", text: name.span)
    }
    text("method", method)
    text("host", host)
    text("path", path.extracting(0..<pathLength(path)))
    if access.isHTTP2 { record.field(&lines, "protocol", word: "HTTP/2") }
    if access.upstreamIsHTTP2 { record.field(&lines, "upstream_protocol", word: "HTTP/2") }
    record.field(&lines, "status", integer: Int64(access.status))
    record.field(&lines, "bytes_in", integer: Int64(clamping: access.bytesIn))
    record.field(&lines, "bytes_out", integer: Int64(clamping: access.bytesOut))
    record.field(&lines, "total_ms", nanoseconds: access.total)
    if let token = access.token { record.field(&lines, "token_ms", nanoseconds: token) }
    if let upstream = access.upstream { record.field(&lines, "upstream_ms", nanoseconds: upstream) }
    record.field(&lines, "token_source", word: access.tokenSource.word)
    if access.credential != .none { record.field(&lines, "credential", word: access.credential.rawValue) }
    text("account", account)
    record.field(&lines, "outcome", word: access.outcome.rawValue)
    if let fault = access.fault { record.field(&lines, "reason", word: fault.rawValue) }
    if let problem = access.problem { record.field(&lines, "problem", word: problem.rawValue) }
    if let challenge = access.challenge { record.field(&lines, "challenge", word: challenge.rawValue) }
    if let outcome = access.challengeOutcome { record.field(&lines, "challenge_outcome", word: outcome.rawValue) }
    text("caller", caller)
    text("caller_subject", subject)
    text("request_id", requestID)
    text("trace_id", traceID)
    record.end(&lines)
  }

  private mutating func text(_ name: StaticString, _ value: Span<UInt8>) {
    if !value.isEmpty { record.field(&lines, name, text: value) }
  }

  private func pathLength(_ target: Span<UInt8>) -> Int {
    for index in target.indices where target[index] == UInt8(ascii: "?") { return index }
    return target.count
  }
}
