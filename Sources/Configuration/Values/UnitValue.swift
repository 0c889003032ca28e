// The two kinds of numbers that carry their unit: durations and sizes.

package import Bytes

/// Reads `500ms`, `30s`, `5m` or `2h`: a whole number and its unit. `nil` for anything else, and for more than a year.
package func parsedDuration(_ text: String) -> TimeSpan? {
  guard let (number, unit) = numberAndUnit(text) else { return nil }
  let factor: Int64
  switch unit {
  case "ms": factor = 1
  case "s": factor = 1_000
  case "m": factor = 60_000
  case "h": factor = 3_600_000
  default: return nil
  }
  let (milliseconds, overflow) = number.multipliedReportingOverflow(by: factor)
  guard !overflow, milliseconds <= 366 * 24 * 3_600_000 else { return nil }
  return .milliseconds(UInt64(milliseconds))
}

/// Reads `100B`, `64KiB`, `1MiB` or `10GiB`: a whole number and its unit. `nil` for anything else, and beyond 2^62.
func parsedSize(_ text: String) -> Int? {
  guard let (number, unit) = numberAndUnit(text) else { return nil }
  let shift: Int64
  switch unit {
  case "B": shift = 0
  case "KiB": shift = 10
  case "MiB": shift = 20
  case "GiB": shift = 30
  default: return nil
  }
  let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
  guard !overflow, bytes <= 1 << 62 else { return nil }
  return Int(bytes)
}

private func numberAndUnit(_ text: String) -> (number: Int64, unit: Substring)? {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard let number = Int64(digits) else { return nil }
  return (number, text[digits.endIndex...])
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
