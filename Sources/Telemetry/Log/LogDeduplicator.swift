// Which warnings and errors are written and which are only counted: the first of a kind at once, the rest of a minute
// as one record that says how many there were. It reads no clock and writes nothing.

/// What has been said lately. One thread at a time uses it.
package struct LogDeduplicator: Sendable {
  /// A record that was said, and is being said again.
  struct Entry: Sendable {
    var level: LogLevel
    var message: StaticString
    /// The fields of the last one.
    var fields: [(StaticString, LogValue)]
    /// When the first one was written, or the last summary.
    var since: LogInstant
    /// How many were not written since.
    var count = 0
  }

  /// Seconds for which the same is not written again.
  static let window: Int64 = 60
  /// Kinds that are told apart at once; past that, everything is written.
  static let capacity = 256
  /// What makes two records the same, beside the message. What varies from one to the next (ids, durations, a
  /// provider's prose) is not among it.
  private static let distinguishing: Set<String> = [
    "route", "application", "authority", "scopes", "host", "reason", "kind", "fault", "file", "address", "settings",
    "grant", "certificate",
  ]

  private var entries: [String: Entry] = [:]

  /// Nothing was said yet.
  package init() {}

  /// Whether a record is to be written now. Otherwise it is counted.
  mutating func admits(
    _ level: LogLevel, _ message: StaticString, _ fields: [(StaticString, LogValue)], at now: LogInstant
  ) -> Bool {
    let key = Self.key(message, fields)
    guard var entry = entries[key] else {
      if entries.count < Self.capacity {
        entries[key] = Entry(level: level, message: message, fields: fields, since: now)
      }
      return true
    }
    // What follows after the window without a summary in between begins anew, also where the clock was set back.
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

  /// What is to be said of the repetitions whose minute is over, or of all.
  mutating func takeSummaries(at now: LogInstant, isLast: Bool) -> [Entry] {
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
