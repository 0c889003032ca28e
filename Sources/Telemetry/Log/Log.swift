// The log of the process. Messages are literals; everything that varies is a typed field, so that no sentence can carry
// a secret or a line break. Requests have access records instead.

package import Bytes
internal import Synchronization

/// The importance of a record.
package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
  /// For developers.
  case debug
  /// For operators who look for it.
  case info
  /// A fault that the process copes with.
  case warning
  /// A fault that stops something from working.
  case error

  /// Orders levels by importance.
  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.position < right.position }
}

/// The value of a field.
package enum LogValue: Sendable, Hashable {
  /// Text from anywhere; it is escaped.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// A duration; the field's name ends in `_ms`.
  case milliseconds(Duration)
  /// True or false.
  case boolean(Bool)
  /// No field at all.
  case absent
}

/// Writes records from any thread, each with one call of `write`. Level and format may be changed at any time.
package final class Log: Sendable {
  /// The level's position, and the format: both in one number, read without a lock.
  private let manner: Atomic<Int>
  private let now: @Sendable () -> WallTime
  private let write: @Sendable ([UInt8]) -> Void
  private let deduplicator: WithDeduplicator?

  /// The rule for a record that repeats a recent one.
  package enum Occasion: Sendable, Hashable {
    /// It is counted.
    case ifNew
    /// It is written: a person did something and waits for the result.
    case always
  }

  /// Lets one thread at a time use the recent records: this module has no lock.
  package typealias WithDeduplicator = @Sendable (_ body: (inout LogDeduplicator) -> Void) -> Void

  /// A log that asks `now` for the time of a record and passes the line, with its line feed, to `write`. With
  /// `deduplicator`, repeated warnings and errors are summarised: call `summarise` now and then.
  package init(
    level: LogLevel, format: LogFormat, now: @escaping @Sendable () -> WallTime,
    deduplicator: WithDeduplicator? = nil, write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    manner = Atomic(Self.manner(level, format))
    self.now = now
    self.deduplicator = deduplicator
    self.write = write
  }

  /// The lowest level that is written.
  package var level: LogLevel { LogLevel.allCases[manner.load(ordering: .relaxed) >> 1] }

  /// Changes the lowest level that is written, and the format.
  package func change(level: LogLevel, format: LogFormat) {
    manner.store(Self.manner(level, format), ordering: .relaxed)
  }

  /// Changes the lowest level that is written.
  package func change(level: LogLevel) {
    change(level: level, format: manner.load(ordering: .relaxed) & 1 == 1 ? .json : .text)
  }

  private static func manner(_ level: LogLevel, _ format: LogFormat) -> Int {
    level.position << 1 | (format == .json ? 1 : 0)
  }

  /// Writes a record for a developer.
  package func debug(_ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:])
  {
    log(.debug, message, fields)
  }

  /// Writes a record for an operator.
  package func info(_ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]) {
    log(.info, message, fields)
  }

  /// Writes a record about a fault that the process copes with.
  package func warning(
    _ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:],
    of request: LogRequest? = nil
  ) {
    log(.warning, message, fields, request)
  }

  /// Writes a record about a fault that stops something.
  package func error(
    _ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:],
    of request: LogRequest? = nil, when: Occasion = .ifNew
  ) {
    log(.error, message, fields, request, when)
  }

  /// Fields are evaluated only if the record is written.
  private func log(
    _ level: LogLevel, _ message: StaticString, _ fields: () -> KeyValuePairs<StaticString, LogValue>,
    _ request: LogRequest? = nil, _ occasion: Occasion = .ifNew
  ) {
    guard level >= self.level else { return }
    var fields = fields().map { ($0.key, $0.value) }
    if let request = request ?? RequestScope.current?.request {
      fields.append(("request_id", .string(request.requestID)))
      fields.append(("trace_id", .string(request.traceID)))
    }
    let now = now()
    if level >= .warning, occasion == .ifNew, let deduplicator {
      var isAdmitted = true
      deduplicator { isAdmitted = $0.admits(level, message, fields, at: now) }
      if !isAdmitted { return }
    }
    write(level, message, fields, now)
  }

  /// Writes a summary of the warnings and errors that were repeated in the minute that is over; with `isLast`, of all.
  /// Call every few seconds.
  package func summarise(isLast: Bool = false) {
    guard let deduplicator else { return }
    let now = now()
    var due: [LogDeduplicator.Entry] = []
    deduplicator { due = $0.takeSummaries(at: now, isLast: isLast) }
    for entry in due where entry.level >= level {
      write(
        entry.level, entry.message,
        entry.fields + [
          ("repeated", .integer(entry.count)),
          ("within_s", .integer(Int(clamping: max(now.seconds - entry.since.seconds, 0)))),
        ], now)
    }
  }

  private func write(
    _ level: LogLevel, _ message: StaticString, _ fields: [(StaticString, LogValue)], _ now: WallTime
  ) {
    let manner = manner.load(ordering: .relaxed)
    let record = LogRecord(format: manner & 1 == 1 ? .json : .text)
    var line = ByteBuffer(capacity: 256)
    record.begin(&line, at: now, level: level)
    record.message(&line, message)
    for (name, value) in fields {
      switch value {
      case .string(let text): record.field(&line, name, text: Array(text.utf8).span)
      case .integer(let number): record.field(&line, name, integer: Int64(number))
      case .milliseconds(let duration): record.field(&line, name, nanoseconds: TimeSpan(duration).nanoseconds)
      case .boolean(let value): record.field(&line, name, boolean: value)
      case .absent: continue
      }
    }
    record.end(&line)
    write(line.withReadableBytes { Array($0) })
  }
}
