// Feeds arbitrary bytes to the chunked decoder and the trailer parser. What must hold: the outcome does not depend on
// how the bytes arrive, and is that of a decoder written straight from the grammar.

import HTTP

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunked(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let whole = ChunkedOutcome(bytes, pieces: [bytes.count])
  let byteByByte = ChunkedOutcome(bytes, pieces: Array(1...max(bytes.count, 1)).filter { $0 <= bytes.count })
  precondition(whole == byteByByte, "\(whole) but byte by byte \(byteByByte)")
  let cut = bytes.isEmpty ? 0 : Int(bytes[bytes.count - 1]) % bytes.count
  precondition(whole == ChunkedOutcome(bytes, pieces: [cut, bytes.count]), "cut at \(cut)")
  let plain = PlainDecoder(bytes)
  precondition(whole.content == plain.content, "\(whole) but by the grammar \(plain)")
  switch whole.end {
  case .needsMore: precondition(plain.end == .incomplete, "\(whole) but by the grammar \(plain)")
  case .trailers(let offset): precondition(plain.end == .complete(offset), "\(whole) but by the grammar \(plain)")
  case .invalid: precondition(plain.end == .invalid, "\(whole) but by the grammar \(plain)")
  }
  if case .trailers(let offset) = whole.end { checkTrailers(Array(bytes[offset...])) }
  return 0
}

/// The result for chunked bytes.
struct ChunkedOutcome: Equatable {
  enum End: Equatable {
    case needsMore
    case trailers(Int)
    case invalid(ChunkError)
  }

  var content: [UInt8] = []
  var end = End.needsMore

  init(_ bytes: [UInt8], pieces: [Int]) {
    var decoder = ChunkedDecoder()
    var consumed = 0
    for length in pieces {
      piece: while true {
        let arrived = bytes.span.extracting(consumed..<length)
        switch decoder.next(arrived) {
        case .needsMore(let count):
          consumed += count
          precondition(consumed == length, "bytes were left that are not content")
          break piece
        case .data(let start, let count):
          precondition(count > 0)
          for index in start..<start + count { content.append(arrived[index]) }
          consumed += start + count
        case .end(let count):
          end = .trailers(consumed + count)
          return
        case .invalid(let error):
          end = .invalid(error)
          return
        }
      }
    }
  }
}

private func checkTrailers(_ bytes: [UInt8]) {
  let limits = HeadLimits(headBytes: 300, fieldCount: 4)
  var whole = TrailerParser(fieldCapacity: 2)
  let expected = whole.parse(bytes.span, limits: limits)
  var byteByByte = TrailerParser(fieldCapacity: 2)
  var progress = ReadingProgress<TrailerError>.needsMore
  for length in 0...bytes.count {
    progress = byteByByte.parse(bytes.span.extracting(0..<length), limits: limits)
    if progress != .needsMore { break }
  }
  // A fault in a line whose end is missing may be seen at once or not at all.
  if case .invalid = expected, progress == .needsMore { return }
  precondition(progress == expected, "\(expected) but byte by byte \(progress)")
  precondition(whole.fields.count == byteByByte.fields.count)
}
