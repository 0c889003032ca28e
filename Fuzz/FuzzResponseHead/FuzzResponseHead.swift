// Feeds arbitrary bytes to the response head parser. What must hold: the verdict does not depend on how the bytes
// arrive, and a head written from a head reads the same.

import HTTP

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponseHead(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let limits = HeadLimits(headBytes: 600, fieldCount: 8)
  let whole = HeadOutcome(bytes, pieces: [bytes.count], limits)
  let byteByByte = HeadOutcome(bytes, pieces: Array(1...max(bytes.count, 1)).filter { $0 <= bytes.count }, limits)
  precondition(whole.agrees(with: byteByByte), "\(whole) but byte by byte \(byteByByte)")
  let cut = bytes.isEmpty ? 0 : Int(bytes[bytes.count - 1]) % bytes.count
  let inTwo = HeadOutcome(bytes, pieces: [cut, bytes.count], limits)
  precondition(whole.agrees(with: inTwo), "\(whole) but cut at \(cut) \(inTwo)")
  if case .complete(_, _, _, let written) = whole {
    let again = HeadOutcome(written, pieces: [written.count], HeadLimits())
    guard case .complete(written.count, _, _, written) = again else {
      preconditionFailure("a head that was written does not read the same: \(again)")
    }
  }
  return 0
}
