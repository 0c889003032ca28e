// Decides which warnings and errors are written and which are only counted: the first of a kind is written at once, the
// rest of a minute as one record with their number. It reads no clock and writes nothing.

internal import Bytes

/// The recent records. One thread at a time uses it.
package struct LogDeduplicator: Sendable {
  /// A record and its repetitions.
  struct Entry: Sendable {
    var level: LogLevel
    var message: StaticString
    /// The fields of the last one.
    var fields: [(StaticString, LogValue)]
    /// The time of the first one, or of the last summary.
    var since: WallTime
    /// The number not written since.
    var count = 0
  }

  /// Seconds for which the same record is not written again.
  static let window: Int64 = 60
  /// Maximum number of kinds; further ones are written at once.
  static let capacity = 256
  /// The fields that, with the message, identify a record. Values that vary from one to the next (ids, durations, a
  /// provider's prose) are not among them.
  private static let distinguishing: Set<String> = [
    "route", "application", "authority", "scopes", "host", "reason", "kind", "fault", "file", "address", "settings",
    "grant", "certificate",
  ]

  private var entries: [String: Entry] = [:]

  package init() {}

  /// True if a record is to be written now. Otherwise it is counted.
  mutating func admits(
    _ level: LogLevel, _ message: StaticString, _ fields: [(StaticString, LogValue)], at now: WallTime
  ) -> Bool {
    let key = Self.key(message, fields)
    guard var entry = entries[key] else {
      if entries.count < Self.capacity {
        entries[key] = Entry(level: level, message: message, fields: fields, since: now)
      }
      return true
    }
    // A record after the window, without a summary in between, begins anew, also if the clock was set back.
    if entry.count == 0, !(0..<Self.window).contains(now.seconds - entry.since.seconds) {
      entry.since = now
      entry.fields = fields
      entries[key] = entry
      return true
    }
    entry.count += 1
    entry.fields = fields
    entries[key] = entry
    return false
  }

  /// The repetitions to report: those whose minute is over, or all.
  mutating func takeSummaries(at now: WallTime, isLast: Bool) -> [Entry] {
    var due: [Entry] = []
    for (key, entry) in entries {
      let isOver = !(0..<Self.window).contains(now.seconds - entry.since.seconds)
      guard isOver || isLast else { continue }
      if entry.count == 0 {
        entries[key] = nil
      } else {
        due.append(entry)
        entries[key]?.since = now
        entries[key]?.count = 0
      }
    }
    return due.sorted { $0.since.seconds < $1.since.seconds }
  }

  private static func key(_ message: StaticString, _ fields: [(StaticString, LogValue)]) -> String {
    fields.reduce("\(message)") { key, field in
      guard distinguishing.contains("\(field.0)"), case .string(let text) = field.1 else { return key }
      return "\(key)\u{0}\(field.0)=\(text)"
    }
  }
}
