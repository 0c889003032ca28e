// The one format of dates that is sent. It knows no clock.
//
//     IMF-fixdate = day-name "," SP date1 SP time-of-day SP GMT                           (RFC 9110 §5.6.7)

package import Bytes

/// Dates as `Date` and its relatives carry them.
package enum HTTPDate {
  /// Length of every date in bytes.
  package static let byteCount = 29

  /// Appends the date of an instant, in seconds since 1970-01-01T00:00:00Z: `Sun, 06 Nov 1994 08:49:37 GMT`. Years
  /// before 0 and above 9999 have no such form; the nearest instant that has one is written instead.
  package static func write(_ secondsSinceEpoch: Int64, into buffer: inout ByteBuffer) {
    let time = CalendarTime(clamping: secondsSinceEpoch)
    append("SunMonTueWedThuFriSat", three: time.weekday, into: &buffer)
    buffer.append(", ")
    append(two: time.day, into: &buffer)
    buffer.append(ASCII.space)
    append("JanFebMarAprMayJunJulAugSepOctNovDec", three: time.month - 1, into: &buffer)
    buffer.append(ASCII.space)
    append(two: time.year / 100, into: &buffer)
    append(two: time.year % 100, into: &buffer)
    buffer.append(ASCII.space)
    append(two: time.hour, into: &buffer)
    buffer.append(ASCII.colon)
    append(two: time.minute, into: &buffer)
    buffer.append(ASCII.colon)
    append(two: time.second, into: &buffer)
    buffer.append(" GMT")
  }

  private static func append(two number: Int, into buffer: inout ByteBuffer) {
    buffer.append(ASCII.zero + UInt8(number / 10))
    buffer.append(ASCII.zero + UInt8(number % 10))
  }

  private static func append(_ names: StaticString, three index: Int, into buffer: inout ByteBuffer) {
    for offset in 0..<3 { buffer.append(unsafe names.utf8Start[index * 3 + offset]) }
  }
}
