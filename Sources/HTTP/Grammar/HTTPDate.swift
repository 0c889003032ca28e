// Owns the one format of dates that is sent. It knows no clock.
//
//     IMF-fixdate = day-name "," SP date1 SP time-of-day SP GMT                           (RFC 9110 §5.6.7)

public import Bytes

/// Dates as `Date` and its relatives carry them.
public enum HTTPDate {
  /// Length of every date in bytes.
  public static let byteCount = 29

  /// Appends the date of an instant, in seconds since 1970-01-01T00:00:00Z: `Sun, 06 Nov 1994 08:49:37 GMT`. Years
  /// before 0 and above 9999 have no such form; the nearest instant that has one is written instead.
  public static func write(_ secondsSinceEpoch: Int64, into buffer: inout ByteBuffer) {
    let instant = min(max(secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
    let days = instant.dividedFloor(by: 86400)
    let second = Int(instant - days * 86400)
    let (year, month, day) = civil(days)
    // 1970-01-01 was a Thursday.
    append("SunMonTueWedThuFriSat", three: Int((days + 4).modulo(7)), into: &buffer)
    buffer.append(", ")
    append(two: day, into: &buffer)
    buffer.append(ASCII.space)
    append("JanFebMarAprMayJunJulAugSepOctNovDec", three: month - 1, into: &buffer)
    buffer.append(ASCII.space)
    append(two: year / 100, into: &buffer)
    append(two: year % 100, into: &buffer)
    buffer.append(ASCII.space)
    append(two: second / 3600, into: &buffer)
    buffer.append(ASCII.colon)
    append(two: second / 60 % 60, into: &buffer)
    buffer.append(ASCII.colon)
    append(two: second % 60, into: &buffer)
    buffer.append(" GMT")
  }

  // The Gregorian date of a day number. Counted in years that begin in March, the leap day comes last, and the lengths
  // of months follow one linear formula.
  private static func civil(_ daysSinceEpoch: Int64) -> (year: Int, month: Int, day: Int) {
    let days = daysSinceEpoch + 719_468
    let era = days.dividedFloor(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (Int(year), Int(month), Int(day))
  }

  private static func append(two number: Int, into buffer: inout ByteBuffer) {
    buffer.append(ASCII.zero + UInt8(number / 10))
    buffer.append(ASCII.zero + UInt8(number % 10))
  }

  private static func append(_ names: StaticString, three index: Int, into buffer: inout ByteBuffer) {
    for offset in 0..<3 { buffer.append(unsafe names.utf8Start[index * 3 + offset]) }
  }
}

extension Int64 {
  // Division that rounds down, for instants before 1970.
  fileprivate func dividedFloor(by divisor: Int64) -> Int64 { (self - modulo(divisor)) / divisor }

  fileprivate func modulo(_ divisor: Int64) -> Int64 { (self % divisor + divisor) % divisor }
}
