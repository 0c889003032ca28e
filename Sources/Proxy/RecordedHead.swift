// Owns the texts of an access record that come from the request head: copied when the head arrives, because its bytes are
// gone by the time the exchange ends.

internal import HTTP
internal import Telemetry

/// Where method, host and path stand in the copied bytes.
struct RecordedHead {
  private let method: Int
  private let host: Int
  private let isParsed: Bool

  init(_ head: borrowing RequestHead, isParsed: Bool) {
    method = Int(head.methodName.count)
    host = Int(head.authority.count)
    self.isParsed = isParsed
  }

  /// Copies what is recorded of a head: never the query, which may hold secrets.
  static func write(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    buffer.append(bytes.extracting(head.methodName))
    buffer.append(bytes.extracting(head.authority))
    buffer.append(bytes.extracting(head.target.path))
  }

  /// Hands a request's record to the loop's writer.
  func record(
    _ access: AccessRecord, _ copied: borrowing ByteBuffer, _ identity: borrowing ByteBuffer, caller: [UInt8],
    in state: LoopState
  ) {
    let texts = copied.bytes
    let nothing = texts.extracting(0..<0)
    guard isParsed else {
      state.record(
        access, method: nothing, host: nothing, path: nothing, caller: caller.span, requestID: nothing,
        traceID: nothing)
      return
    }
    state.record(
      access, method: texts.extracting(first: method), host: texts.extracting(method..<method + host),
      path: texts.extracting(droppingFirst: method + host), caller: caller.span,
      requestID: RequestIdentity.requestID(identity.bytes), traceID: RequestIdentity.traceID(identity.bytes))
  }
}
