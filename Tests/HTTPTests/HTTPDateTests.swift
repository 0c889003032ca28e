import Bytes
import HTTP
import Testing

@Suite struct HTTPDateTests {
  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),  // the example of RFC 9110
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
      (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
      (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
      (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ] as [(Int64, String)])
  func `an instant has one date`(instant: Int64, date: String) {
    var buffer = ByteBuffer(capacity: 1)
    HTTPDate.write(instant, into: &buffer)
    #expect(text(buffer) == date)
    #expect(buffer.count == HTTPDate.byteCount)
  }
}
