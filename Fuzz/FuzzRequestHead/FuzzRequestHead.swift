// Feeds arbitrary bytes to the request head parser and to what is asked of a head afterwards. What must hold: the
// verdict does not depend on how the bytes arrive, a head written from a head reads the same, and no normal path shows
// a dot segment or changes when it is normalised again.

import Bytes
import HTTP
import Telemetry

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestHead(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  // Small limits, so that the fuzzer finds both sides of them.
  let limits = HeadLimits(headBytes: 600, fieldCount: 8, targetBytes: 200)
  let whole = HeadOutcome(bytes, pieces: [bytes.count], limits)
  let byteByByte = HeadOutcome(bytes, pieces: Array(1...max(bytes.count, 1)).filter { $0 <= bytes.count }, limits)
  precondition(whole.agrees(with: byteByByte), "\(whole) but byte by byte \(byteByByte)")
  let cut = bytes.isEmpty ? 0 : Int(bytes[0]) % bytes.count
  let inTwo = HeadOutcome(bytes, pieces: [cut, bytes.count], limits)
  precondition(whole.agrees(with: inTwo), "\(whole) but cut at \(cut) \(inTwo)")
  if case .complete(let byteCount, _, _, let written) = whole {
    precondition(byteCount <= limits.headBytes)
    if let written {
      let again = HeadOutcome(written, pieces: [written.count], HeadLimits())
      guard case .complete(written.count, _, _, written) = again else {
        preconditionFailure("a head that was written does not read the same: \(again)")
      }
    }
  }
  return 0
}

/// The result for the bytes of a head.
enum HeadOutcome: Equatable {
  case needsMore
  case invalid(RequestHeadError)
  /// `written` is the head as it would be forwarded; nil if it would not be.
  case complete(byteCount: Int, parts: [ByteRange], framing: BodyFraming?, written: [UInt8]?)

  init(_ bytes: [UInt8], pieces: [Int], _ limits: HeadLimits) {
    var parser = RequestHeadParser()
    var head = RequestHead(fieldCapacity: 4)
    self = .needsMore
    for length in pieces {
      let arrived = bytes.span.extracting(0..<length)
      switch parser.parse(arrived, into: &head, limits: limits) {
      case .needsMore: continue
      case .invalid(let error):
        self = .invalid(error)
        return
      case .complete(let byteCount):
        self = .complete(
          byteCount: byteCount, parts: Self.parts(head), framing: try? BodyFraming.request(head, arrived),
          written: Self.written(head, arrived))
        return
      }
    }
  }

  /// A fault in a line whose end is missing may be seen at once or not at all.
  func agrees(with other: HeadOutcome) -> Bool {
    switch (self, other) {
    case (.invalid, .needsMore), (.needsMore, .invalid): true
    default: self == other
    }
  }

  private static func parts(_ head: borrowing RequestHead) -> [ByteRange] {
    var parts = [head.methodName, head.target.whole, head.target.authority, head.target.path, head.target.query]
    parts.append(head.authority)
    for index in 0..<head.fields.count { parts += [head.fields[index].name, head.fields[index].value] }
    return parts
  }

  private static func written(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> [UInt8]? {
    _ = ExpectContinue.of(head, bytes)
    _ = HopByHop.acceptsTrailers(head.fields, in: bytes)
    if let line = head.fields.first(.traceparent) { _ = TraceContext(bytes.extracting(line.value)) }
    guard head.target.form == .origin else { return nil }
    var buffer = ByteBuffer(capacity: 16)
    HeadWriter.method(bytes.extracting(head.methodName), into: &buffer)
    buffer.append(bytes.extracting(head.target.whole))
    HeadWriter.requestLineEnd(into: &buffer)
    if head.fields.first(.host) == nil { HeadWriter.field("Host", "h", into: &buffer) }
    var run = FieldRun()
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      if HopByHop.forwards(line, head.connection, in: bytes) { run.add(line, from: bytes, into: &buffer) }
    }
    run.finish(from: bytes, into: &buffer)
    HeadWriter.end(into: &buffer)
    return buffer.bytes.indices.map { buffer.bytes[$0] }
  }
}
