import Bytes
import Synchronization
import Testing

@testable import Telemetry

@Suite struct LogDeduplicatorTests {
  private static func fields(_ route: String, _ detail: String) -> [(StaticString, LogValue)] {
    [("route", .string(route)), ("detail", .string(detail)), ("after_ms", .milliseconds(.seconds(1)))]
  }

  /// A value that expectations may change.
  private final class Said {
    private var deduplicator = LogDeduplicator()

    func admits(
      _ level: LogLevel, _ message: StaticString, _ fields: [(StaticString, LogValue)], at now: WallTime
    ) -> Bool { deduplicator.admits(level, message, fields, at: now) }

    func takeSummaries(at now: WallTime, isLast: Bool) -> [LogDeduplicator.Entry] {
      deduplicator.takeSummaries(at: now, isLast: isLast)
    }
  }

  private static func at(_ second: Int64) -> WallTime { WallTime(seconds: second) }

  @Test func `the first is written, the rest of a minute is one number`() {
    let said = Said()
    func admits(_ route: String, _ detail: String, _ second: Int64) -> Bool {
      said.admits(.warning, "unreachable", Self.fields(route, detail), at: Self.at(second))
    }
    #expect(admits("a", "x", 0))
    // Fields besides the route do not distinguish them.
    #expect(!admits("a", "y", 1) && !admits("a", "z", 30))
    #expect(admits("b", "x", 31))
    #expect(said.takeSummaries(at: Self.at(59), isLast: false).isEmpty)
    let due = said.takeSummaries(at: Self.at(60), isLast: false)
    #expect(due.map(\.count) == [2])
    guard case .string(let last)? = due.first?.fields.first(where: { "\($0.0)" == "detail" })?.1 else { return }
    #expect(last == "z")
    // It continues: the next minute has another number.
    #expect(!admits("a", "y", 61))
    #expect(said.takeSummaries(at: Self.at(120), isLast: false).map(\.count) == [1])
    // It is over: a quiet minute later it is news again.
    #expect(said.takeSummaries(at: Self.at(180), isLast: false).isEmpty)
    #expect(admits("a", "y", 181))
  }

  @Test func `the end of the process, and clocks that are set back, lose no number`() {
    let said = Said()
    #expect(said.admits(.error, "m", [], at: Self.at(1000)))
    #expect(!said.admits(.error, "m", [], at: Self.at(1001)))
    #expect(said.takeSummaries(at: Self.at(10), isLast: false).map(\.count) == [1])
    #expect(!said.admits(.error, "m", [], at: Self.at(11)))
    #expect(said.takeSummaries(at: Self.at(12), isLast: true).map(\.count) == [1])
  }

  @Test func `more kinds than are remembered are all written`() {
    let said = Said()
    for index in 0..<(LogDeduplicator.capacity + 5) {
      #expect(said.admits(.warning, "m", Self.fields("\(index)", ""), at: Self.at(0)))
    }
    #expect(said.admits(.warning, "m", Self.fields("\(LogDeduplicator.capacity + 1)", ""), at: Self.at(1)))
    #expect(!said.admits(.warning, "m", Self.fields("1", ""), at: Self.at(1)))
  }

  @Test func `a log writes the summary with the fields of the last, and news of a lower level every time`() {
    let clock = Mutex<Int64>(0)
    let lines = Mutex<[String]>([])
    let said = Mutex(LogDeduplicator())
    let log = Log(
      level: .info, format: .text, now: { Self.at(clock.withLock { $0 }) },
      deduplicator: { body in said.withLock { body(&$0) } },
      write: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    for id in ["one", "two", "three"] {
      log.warning("unreachable", ["route": .string("a")], of: LogRequest(requestID: id, traceID: "t-\(id)"))
      log.info("obtained")
    }
    clock.withLock { $0 = 60 }
    log.summarise()
    #expect(
      lines.withLock { $0 } == [
        "1970-01-01T00:00:00.000Z warning unreachable route=a request_id=one trace_id=t-one\n",
        "1970-01-01T00:00:00.000Z info obtained\n", "1970-01-01T00:00:00.000Z info obtained\n",
        "1970-01-01T00:00:00.000Z info obtained\n",
        "1970-01-01T00:01:00.000Z warning unreachable route=a request_id=three trace_id=t-three repeated=2 "
          + "within_s=60\n",
      ])
  }
}
