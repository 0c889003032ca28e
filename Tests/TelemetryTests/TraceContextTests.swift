import Bytes
import Telemetry
import Testing

@Suite struct TraceContextTests {
  static let example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  private static func read(_ value: String) -> TraceContext? {
    let bytes = Array(value.utf8)
    return TraceContext(bytes.span)
  }

  private static func text(_ buffer: borrowing ByteBuffer) -> String {
    buffer.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }

  private static func written(_ trace: TraceContext) -> String {
    var buffer = ByteBuffer(capacity: 1)
    trace.write(into: &buffer)
    return text(buffer)
  }

  @Test func `entries are written as they were read`() throws {
    let trace = try #require(Self.read(Self.example))
    #expect(trace.traceHigh == 0x0af7_6519_16cd_43dd && trace.traceLow == 0x8448_eb21_1c80_319c)
    #expect(trace.span == 0xb7ad_6b71_6920_3331 && trace.flags == 1)
    #expect(Self.written(trace) == Self.example)
    let child = trace.sibling(0xAB)
    #expect(Self.written(child) == "00-0af7651916cd43dd8448eb211c80319c-00000000000000ab-01")
  }

  @Test func `a later version is read as far as version 0 goes`() throws {
    let trace = try #require(Self.read("cc" + Self.example.dropFirst(2).dropLast(2) + "ff-what-else"))
    #expect(Self.written(trace) == Self.example)
    #expect(Self.read("cc" + Self.example.dropFirst(2)) != nil)
  }

  @Test(
    arguments: [
      "", "00", "ff" + example.dropFirst(2), example + "-x", example + "x", "cc" + example.dropFirst(2) + "x",
      String(example.dropLast()), example.uppercased(), "0x" + example.dropFirst(2),
      "00-00000000000000000000000000000000-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
      "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
      "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    ])
  func `an invalid traceparent begins no trace`(value: String) {
    #expect(Self.read(value) == nil)
  }

  @Test func `a trace made from any numbers is valid`() {
    for number in [UInt64.min, 1, .max] {
      let trace = TraceContext(randomHigh: number, randomLow: number, randomSpan: number, isSampled: number == 1)
      #expect(Self.read(Self.written(trace)) == trace)
      #expect(Self.read(Self.written(trace.sibling(number))) != nil)
    }
  }
}
