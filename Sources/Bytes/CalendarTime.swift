// Converts instants to day and time of day, and back. It reads no clock, and knows UTC alone.

/// A second of the proleptic Gregorian calendar, in UTC.
package struct CalendarTime: Sendable, Hashable {
  package let year: Int
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// A second by its parts. Hours, minutes and seconds beyond a day's count on into the next.
  package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// The second that begins so many seconds after 1970-01-01T00:00:00Z. Years with other than four digits have no form
  /// in HTTP or RFC 3339; they become the nearest second of the years 0 to 9999.
  package init(clamping secondsSince1970: Int64) {
    let seconds = min(max(secondsSince1970, -62_167_219_200), 253_402_300_799)
    // Years begin on 1 March here, so that the leap day is the last, and the lengths of months follow one linear
    // formula. 719,468 days lie between 0000-03-01 and 1970-01-01; eras have 400 years. The first two months of year 0
    // are before the first era: one more is added, and taken off the year.
    let days = Int(seconds / 86_400) + 719_468 + 146_097 - (seconds % 86_400 < 0 ? 1 : 0)
    let secondOfDay = Int(seconds % 86_400 + 86_400) % 86_400
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    self.init(
      year: yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, hour: secondOfDay / 3600, minute: secondOfDay / 60 % 60,
      second: secondOfDay % 60)
  }

  /// Days from 1970-01-01 to this one, for years from 0 on.
  private var daysSince1970: Int {
    let marchYear = (month <= 2 ? year - 1 : year) + 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468 - 146_097
  }

  /// Seconds from 1970-01-01T00:00:00Z to this one, for years from 0 on.
  package var secondsSince1970: Int64 { Int64(daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second) }

  /// The day of the week, 0 for Sunday. 1970-01-01 was a Thursday; 770,000 days before it was one too.
  package var weekday: Int { (daysSince1970 + 770_000 + 4) % 7 }
}
