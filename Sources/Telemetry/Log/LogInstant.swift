internal import Bytes

/// An instant of the wall clock, written as RFC 3339, UTC, with milliseconds.
package struct LogInstant: Sendable, Hashable {
  /// Seconds since 1970-01-01T00:00:00Z.
  package let seconds: Int64
  /// Nanoseconds after that, below 1,000,000,000.
  package let nanoseconds: UInt32

  /// An instant, as `clock_gettime` counts it.
  package init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

extension LogInstant: CustomStringConvertible {
  /// The second it is in: `2026-01-02T03:04:05Z`.
  package var description: String {
    var line = ByteBuffer(capacity: 64)
    line.append(secondOf: self)
    line.append(UInt8(ascii: "Z"))
    return line.withReadableBytes { String(decoding: $0, as: UTF8.self) }
  }
}

extension ByteBuffer {
  /// Appends `2026-01-02T03:04:05.678Z`. Years beyond 0 to 9999 are shown as the nearest of them.
  mutating func append(_ instant: LogInstant) {
    append(secondOf: instant)
    append(fractionOf: instant)
  }

  /// Appends `2026-01-02T03:04:05`, which is the same for a whole second.
  mutating func append(secondOf instant: LogInstant) {
    let time = CalendarTime(clamping: instant.seconds)
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

  /// Appends `.678Z`.
  mutating func append(fractionOf instant: LogInstant) {
    append(UInt8(ascii: "."))
    append(threeDigits: UInt64(instant.nanoseconds) / 1_000_000)
    append(UInt8(ascii: "Z"))
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
