// The calendar: seconds become dates and dates seconds, as the C library has it.

import Glibc
import Testing

@testable import Bytes

@Suite struct CalendarTimeTests {
  /// Every day of the first eras would take too long: days that are 97 apart meet each day of a year within 400 years.
  @Test func `days of all years are those of the C library, there and back`() throws {
    for day in stride(from: Int64(-719_528), through: 2_932_896, by: 97) {
      let seconds = day * 86_400 + (day &* 7919) % 43_200 + 43_200
      let time = CalendarTime(clamping: seconds)
      var (count, parts) = (time_t(seconds), tm())
      _ = try #require(gmtime_r(&count, &parts))
      let expected = CalendarTime(
        year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
        hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
      #expect(time == expected && time.weekday == Int(parts.tm_wday) && time.secondsSince1970 == seconds)
    }
  }

  @Test(arguments: [
    (Int64.min, 0, 1, 1, 0), (-62_167_219_201, 0, 1, 1, 0), (-62_167_219_200, 0, 1, 1, 0), (-1, 1969, 12, 31, 59),
    (0, 1970, 1, 1, 0), (951_782_400, 2000, 2, 29, 0), (951_868_800, 2000, 3, 1, 0), (4_107_542_399, 2100, 2, 28, 59),
    (253_402_300_799, 9999, 12, 31, 59), (253_402_300_800, 9999, 12, 31, 59), (.max, 9999, 12, 31, 59),
  ])
  func `a year without four digits becomes the nearest second that has them`(
    seconds: Int64, year: Int, month: Int, day: Int, second: Int
  ) {
    let time = CalendarTime(clamping: seconds)
    #expect((time.year, time.month, time.day, time.second) == (year, month, day, second))
  }

  @Test func `parts beyond their limits count on`() {
    let leap = CalendarTime(year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60)
    #expect(leap.secondsSince1970 == 1_483_228_800)
    let late = CalendarTime(year: 2023, month: 2, day: 31, hour: 0, minute: 0, second: 0)
    #expect(late.secondsSince1970 == 1_677_801_600)
  }
}
