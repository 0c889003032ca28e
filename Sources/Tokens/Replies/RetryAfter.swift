package import Bytes

/// The pause that a provider asks for (`Retry-After`, RFC 9110 §10.2.3).
package struct RetryAfter: Sendable, Hashable {
  /// Seconds from now: 1 to `limit`.
  package let seconds: Int64

  /// The longest pause that is respected (MSAL's): a mistyped header must not stop a route for a day.
  package static let limit: Int64 = 3600

  /// Reads the field; nil if it is neither a number of seconds nor a date, which counts as absent.
  package init?(field: String, now: UnixTime) {
    let text = field.trimmed { $0 == " " || $0 == "\t" }
    let asked: Int64
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      asked = Int64(text) ?? .max
    } else if let date = UnixTime(httpDate: text, now: now) {
      asked = date - now
    } else {
      return nil
    }
    seconds = min(max(asked, 1), Self.limit)
  }
}

extension UnixTime {
  /// An HTTP-date (RFC 9110 §5.6.7): IMF-fixdate, or the obsolete RFC 850 and asctime forms, in GMT. Week days are not
  /// checked. `now` decides the century of a two-digit year: the one that is less than 50 years ahead.
  package init?(httpDate text: Substring, now: UnixTime) {
    let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }
    let fields: (day: Substring, month: Substring, year: Substring, time: Substring)
    if parts.count == 6, parts[5] == "GMT" {
      fields = (parts[1], parts[2], parts[3], parts[4])
    } else if parts.count == 5 {
      fields = (parts[2], parts[1], parts[4], parts[3])
    } else {
      return nil
    }
    let clock = fields.time.split(separator: ":", omittingEmptySubsequences: false).map { Int64(decimal: $0) }
    guard let month = Self.months.firstIndex(of: String(fields.month)), let day = Int64(decimal: fields.day),
      var year = Int64(decimal: fields.year), clock.count == 3, let hour = clock[0], let minute = clock[1],
      let second = clock[2], (1...31).contains(day), hour < 24, minute < 60, second <= 60, year < 10_000
    else { return nil }
    if fields.year.count == 2 {
      let thisYear = 1970 + now.seconds / 31_556_952
      year += thisYear / 100 * 100
      if year >= thisYear + 50 { year -= 100 }
    }
    let time = CalendarTime(
      year: Int(year), month: month + 1, day: Int(day), hour: Int(hour), minute: Int(minute), second: Int(second))
    self.init(time.secondsSince1970)
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension Int64 {
  /// A number of decimal digits and nothing else.
  fileprivate init?(decimal text: Substring) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}

/// A length of time in one unit: `45 s`, `12 min`, `3 h`, `2 d`.
package func words(seconds: Int64) -> String {
  switch max(seconds, 0) {
  case ..<120: "\(max(seconds, 0)) s"
  case ..<7200: "\(seconds / 60) min"
  case ..<172_800: "\(seconds / 3600) h"
  default: "\(seconds / 86_400) d"
  }
}
