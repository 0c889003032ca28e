import Bytes
import HTTP
import Testing

@Suite struct WebSocketFramesTests {
  /// A frame of RFC 6455 §5.2, its payload of zeros.
  private static func frame(_ opcode: UInt8, _ count: Int, isMasked: Bool = false, isLast: Bool = true) -> [UInt8] {
    let mask: UInt8 = isMasked ? 0x80 : 0
    var frame: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
    switch count {
    case ..<126: frame.append(mask | UInt8(count))
    case ..<65536: frame += [mask | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
    default: frame += [mask | 127, 0, 0, 0, 0, 0, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
    }
    if isMasked { frame += [1, 2, 3, 4] }
    return frame + [UInt8](repeating: 0, count: count)
  }

  private static let streams: [[[UInt8]]] = [
    [], [frame(1, 0)], [frame(1, 5)], [frame(2, 125), frame(2, 126), frame(9, 0)],
    [frame(1, 3, isLast: false), frame(0, 2)],
    [frame(2, 300, isMasked: true), frame(10, 0, isMasked: true)], [frame(2, 70_000), frame(1, 1, isMasked: true)],
  ]

  @Test(arguments: streams) func `the end of each frame is found, however the bytes arrive`(frames: [[UInt8]]) {
    let bytes = frames.flatMap { $0 }
    var ends: Set<Int> = [0]
    for frame in frames { ends.insert((ends.max() ?? 0) + frame.count) }
    var byteByByte = WebSocketFrames()
    for index in bytes.indices {
      #expect(byteByByte.isBetweenFrames == ends.contains(index))
      byteByByte.advance(over: bytes.span.extracting(index..<index + 1))
    }
    #expect(byteByByte.isBetweenFrames && !byteByByte.hasClosed)
    for step in [2, 3, 7, 1000] {
      var decoder = WebSocketFrames()
      for start in stride(from: 0, to: bytes.count, by: step) {
        let end = min(start + step, bytes.count)
        decoder.advance(over: bytes.span.extracting(start..<end))
        #expect(decoder.isBetweenFrames == ends.contains(end))
      }
    }
  }

  @Test func `a close is noticed, and what is written is one`() {
    var buffer = ByteBuffer(capacity: 16)
    WebSocketFrames.writeGoingAway(mask: nil, into: &buffer)
    #expect(buffer.bytes.indices.map { buffer.bytes[$0] } == [0x88, 0x02, 0x03, 0xE9])
    var frames = WebSocketFrames()
    frames.advance(over: buffer.bytes)
    #expect(frames.isBetweenFrames && frames.hasClosed)
    buffer.removeAll()
    WebSocketFrames.writeGoingAway(mask: 0x0403_0201, into: &buffer)
    #expect(buffer.bytes.indices.map { buffer.bytes[$0] } == [0x88, 0x82, 1, 2, 3, 4, 0x03 ^ 1, 0xE9 ^ 2])
    var masked = WebSocketFrames()
    masked.advance(over: buffer.bytes)
    #expect(masked.isBetweenFrames && masked.hasClosed)
  }
}
