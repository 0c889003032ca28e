// Owns how an instant is written in a log: RFC 3339, UTC, milliseconds. It reads no clock.

/// An instant of the wall clock.
public struct LogInstant: Sendable, Hashable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public let seconds: Int64
  /// Nanoseconds after that, below 1,000,000,000.
  public let nanoseconds: UInt32

  /// An instant, as `clock_gettime` counts it.
  public init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

extension [UInt8] {
  /// Appends `2026-01-02T03:04:05.678Z`. Years beyond 0 to 9999 are shown as the nearest of them.
  mutating func append(_ instant: LogInstant) {
    let seconds = Swift.min(Swift.max(instant.seconds, -62_167_219_200), 253_402_300_799)
    var day = seconds / 86_400
    var second = seconds % 86_400
    if second < 0 {
      day -= 1
      second += 86_400
    }
    let date = civilDate(daysSince1970: day)
    append(digits: date.year, count: 4)
    append(UInt8(ascii: "-"))
    append(digits: date.month, count: 2)
    append(UInt8(ascii: "-"))
    append(digits: date.day, count: 2)
    append(UInt8(ascii: "T"))
    append(digits: second / 3600, count: 2)
    append(UInt8(ascii: ":"))
    append(digits: second / 60 % 60, count: 2)
    append(UInt8(ascii: ":"))
    append(digits: second % 60, count: 2)
    append(UInt8(ascii: "."))
    append(digits: Int64(instant.nanoseconds / 1_000_000), count: 3)
    append(UInt8(ascii: "Z"))
  }

  /// Appends a number in decimal.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: value.magnitude)
  }

  /// Appends a number in decimal.
  mutating func append(decimal value: UInt64) {
    var divisor: UInt64 = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends nanoseconds as milliseconds with three decimals, rounded down: `12.345`.
  mutating func append(milliseconds nanoseconds: UInt64) {
    append(decimal: nanoseconds / 1_000_000)
    append(UInt8(ascii: "."))
    append(digits: Int64(nanoseconds / 1000 % 1000), count: 3)
  }

  private mutating func append(digits value: Int64, count: Int) {
    var divisor: Int64 = 1
    for _ in 1..<count { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }
}

/// The proleptic Gregorian date of a day. Eras of 400 years begin on 1 March, so that the leap day is a year's last.
private func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let shifted = daysSince1970 + 719_468
  let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
  let dayOfEra = shifted - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
}
