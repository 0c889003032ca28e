// Arithmetic of instants at the ends of their range.

import Bytes
import Testing

@Suite struct UnixTimeTests {
  @Test(
    arguments: [
      (UnixTime(100), 20, UnixTime(120)), (UnixTime(100), -120, UnixTime(-20)), (.distantFuture, 1, .distantFuture),
      (UnixTime(.min), -1, UnixTime(.min)),
    ] as [(UnixTime, Int64, UnixTime)])
  func `sums stop at the ends`(time: UnixTime, seconds: Int64, sum: UnixTime) {
    #expect(time + seconds == sum)
  }

  @Test func `differences stop at the ends`() {
    #expect(UnixTime(.max) - UnixTime(-5) == .max)
    #expect(UnixTime(.min) - UnixTime(5) == .min)
    #expect(UnixTime(7) - UnixTime(9) == Int64(-2))
    #expect(UnixTime(7) - 9 == UnixTime(-2))
    #expect(UnixTime(.min) - 1 == UnixTime(.min))
    #expect(UnixTime(1) < .distantFuture)
  }
}
