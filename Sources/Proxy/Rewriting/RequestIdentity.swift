// The ids of a request across systems: its `traceparent` and its `X-Request-ID`, the caller's if they are well-formed,
// otherwise new ones.

internal import Bytes
internal import HTTP
internal import Telemetry

/// The ids of one request, as one run of bytes: `traceparent`, then the request id.
enum RequestIdentity {
  /// Appends both to an empty buffer; traced requests follow these rules.
  @discardableResult
  static func write(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, tracing rules: TracingRules? = nil,
    using random: inout some RandomNumberGenerator, into buffer: inout ByteBuffer
  ) -> RequestTrace {
    let bytes = input.bytes
    let trace = RequestTrace(sent: sentTrace(head, bytes), rules, using: &random)
    trace.own.write(into: &buffer)
    if let line = head.fields.first(.xRequestID), isAcceptable(bytes.extracting(line.value)) {
      buffer.append(bytes.extracting(line.value))
    } else {
      buffer.append(hexadecimal: random.next(), digits: 16)
      buffer.append(hexadecimal: random.next(), digits: 16)
    }
    return trace
  }

  /// Replaces the span that the upstream gets as its request's parent.
  static func replace(parent: TraceContext, in buffer: inout ByteBuffer) {
    let id = buffer.withBytes { bytes in requestID(bytes).array }
    buffer.removeAll()
    parent.write(into: &buffer)
    buffer.append(id)
  }

  /// True if the request continues the caller's trace.
  static func takesTraceOver(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    sentTrace(head, bytes) != nil
  }

  private static func sentTrace(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> TraceContext? {
    // Of two, it is not known which one is meant.
    guard let line = head.fields.first(.traceparent), head.fields.count(of: .traceparent) == 1 else { return nil }
    return TraceContext(bytes.extracting(line.value))
  }

  @_lifetime(copy identity)
  static func traceparent(_ identity: Span<UInt8>) -> Span<UInt8> {
    identity.extracting(first: TraceContext.byteCount)
  }

  @_lifetime(copy identity)
  static func traceID(_ identity: Span<UInt8>) -> Span<UInt8> {
    identity.count < TraceContext.byteCount ? identity : identity.extracting(3..<35)
  }

  @_lifetime(copy identity)
  static func requestID(_ identity: Span<UInt8>) -> Span<UInt8> {
    identity.extracting(droppingFirst: min(TraceContext.byteCount, identity.count))
  }

  /// Up to 128 visible ASCII characters that need no escaping anywhere.
  private static func isAcceptable(_ id: Span<UInt8>) -> Bool {
    guard id.count > 0, id.count <= 128 else { return false }
    for index in id.indices where !ASCII.isAlphanumeric(id[index]) {
      switch id[index] {
      case ASCII.dash, ASCII.underscore, ASCII.dot, ASCII.colon, ASCII.slash, ASCII.equals, UInt8(ascii: "+"), ASCII.at:
        continue
      default: return false
      }
    }
    return true
  }
}

extension RequestContext {
  /// The scope of other tasks' work while the request waits for it.
  func scope(spans: SpanScope? = nil) -> RequestScope { RequestScope(logRequest, spans: spans) }

  /// The ids of the request, for a log record about it.
  var logRequest: LogRequest {
    identity.withBytes {
      LogRequest(requestID: RequestIdentity.requestID($0).text, traceID: RequestIdentity.traceID($0).text)
    }
  }
}
