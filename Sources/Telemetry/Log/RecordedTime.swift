// The forms of instants and of spans of time in records: RFC 3339, UTC; milliseconds.

package import Bytes

extension UnixTime {
  /// In the form of RFC 3339: `2026-01-02T03:04:05Z`.
  package var rfc3339: String {
    var line = ByteBuffer(capacity: 64)
    line.append(second: seconds)
    line.append(UInt8(ascii: "Z"))
    return line.withReadableBytes { String(decoding: $0, as: UTF8.self) }
  }
}

extension ByteBuffer {
  /// Appends `2026-01-02T03:04:05.678Z`. Years beyond 0 to 9999 are shown as the nearest of them.
  mutating func append(_ instant: WallTime) {
    append(second: instant.seconds)
    append(UInt8(ascii: "."))
    append(threeDigits: UInt64(instant.nanoseconds) / 1_000_000)
    append(UInt8(ascii: "Z"))
  }

  fileprivate mutating func append(second: Int64) {
    let time = CalendarTime(clamping: second)
    append(twoDigits: UInt64(time.year) / 100)
    append(twoDigits: UInt64(time.year) % 100)
    append(UInt8(ascii: "-"))
    append(twoDigits: UInt64(time.month))
    append(UInt8(ascii: "-"))
    append(twoDigits: UInt64(time.day))
    append(UInt8(ascii: "T"))
    append(twoDigits: UInt64(time.hour))
    append(UInt8(ascii: ":"))
    append(twoDigits: UInt64(time.minute))
    append(UInt8(ascii: ":"))
    append(twoDigits: UInt64(time.second))
  }

  /// Appends a number in decimal.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: value.magnitude)
  }

  /// Appends nanoseconds as milliseconds with three decimals, rounded down: `12.345`.
  mutating func append(milliseconds nanoseconds: UInt64) {
    append(decimal: nanoseconds / 1_000_000)
    append(UInt8(ascii: "."))
    append(threeDigits: nanoseconds / 1000 % 1000)
  }

  private mutating func append(twoDigits value: UInt64) {
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
  }

  private mutating func append(threeDigits value: UInt64) {
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100))
    append(twoDigits: value % 100)
  }
}
