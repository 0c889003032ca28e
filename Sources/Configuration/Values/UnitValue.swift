// The two kinds of numbers that carry their unit: durations and sizes.

package import Bytes

/// Reads `500ms`, `30s`, `5m` or `2h`: a whole number and its unit. `nil` for anything else, and for more than a year.
package func parsedDuration(_ text: String) -> TimeSpan? {
  let units: [Substring: Int64] = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000]
  return number(text, units, atMost: 366 * 24 * 3_600_000).map { .milliseconds(UInt64($0)) }
}

/// Reads `100B`, `64KiB`, `1MiB` or `10GiB`: a whole number and its unit. `nil` for anything else, and beyond 2^62.
func parsedSize(_ text: String) -> Int? {
  number(text, ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30], atMost: 1 << 62).map { Int($0) }
}

private func number(_ text: String, _ units: [Substring: Int64], atMost limit: Int64) -> Int64? {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard let number = Int64(digits), let factor = units[text[digits.endIndex...]] else { return nil }
  let (product, overflow) = number.multipliedReportingOverflow(by: factor)
  return overflow || product > limit ? nil : product
}

/// A duration in the largest unit that divides it.
func durationText(_ duration: TimeSpan) -> String {
  let milliseconds = duration.nanoseconds / 1_000_000
  let seconds = milliseconds / 1000
  if milliseconds % 1000 != 0 { return "\(milliseconds)ms" }
  if seconds % 3600 == 0, seconds > 0 { return "\(seconds / 3600)h" }
  return seconds % 60 == 0 && seconds > 60 ? "\(seconds / 60)m" : "\(seconds)s"
}

/// A size in the largest unit that divides it.
func sizeText(_ size: Int) -> String {
  if size == 0 { return "0B" }
  if size % (1 << 30) == 0 { return "\(size >> 30)GiB" }
  if size % (1 << 20) == 0 { return "\(size >> 20)MiB" }
  return size % 1024 == 0 ? "\(size >> 10)KiB" : "\(size)B"
}
