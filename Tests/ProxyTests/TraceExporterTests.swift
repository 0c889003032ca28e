// The exporter against a scripted collector: what is sent again, what is given up, what is said. No real time passes.

import Bytes
import HTTP
import HTTPClient
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(5))) struct TraceExporterTests {
  static let verdicts: [(FetchResponse, ExportVerdict)] = [
    (FetchResponse(status: 200, body: Array("{}".utf8)), .accepted(rejected: 0, message: nil)),
    (FetchResponse(status: 200), .accepted(rejected: 0, message: nil)),
    (FetchResponse(status: 202, body: Array("nonsense".utf8)), .accepted(rejected: 0, message: nil)),
    (partial(#"{"rejectedSpans":"3","errorMessage":"a\nb"}"#), .accepted(rejected: 3, message: "a b")),
    (partial(#"{"rejectedSpans":2}"#), .accepted(rejected: 2, message: nil)),
    (partial(#"{"rejectedSpans":-2,"errorMessage":""}"#), .accepted(rejected: 0, message: nil)),
    (partial(#"{"errorMessage":"soon gone"}"#), .accepted(rejected: 0, message: "soon gone")),
    (FetchResponse(status: 429), .tryAgain(after: nil, .answered(429))),
    (FetchResponse(status: 502), .tryAgain(after: nil, .answered(502))),
    (FetchResponse(status: 504), .tryAgain(after: nil, .answered(504))),
    (FetchResponse(status: 503, fields: [("retry-after", "7")]), .tryAgain(after: 7, .answered(503))),
    (FetchResponse(status: 503, fields: [("retry-after", "soon")]), .tryAgain(after: nil, .answered(503))),
    (FetchResponse(status: 500), .refused(.answered(500))), (FetchResponse(status: 400), .refused(.answered(400))),
    (FetchResponse(status: 301), .refused(.answered(301))), (FetchResponse(status: 404), .refused(.answered(404))),
  ]

  private static func partial(_ members: String) -> FetchResponse {
    FetchResponse(status: 200, body: Array("{\"partialSuccess\":\(members)}".utf8))
  }

  @Test(arguments: verdicts)
  func `an answer is taken as the protocol has it`(response: FetchResponse, expected: ExportVerdict) {
    #expect(ExportVerdict(response, now: UnixTime(1_700_000_000)) == expected)
  }

  @Test(
    arguments: [
      (1, nil, 0.0, Duration.seconds(1)), (2, nil, 0, .seconds(2)), (5, nil, 0, .seconds(16)),
      (90, nil, 0, .seconds(16)),
      (3, nil, 1, .seconds(2)), (1, 40, 0.7, .seconds(40)),
    ] as [(Int, Int64?, Double, Duration)])
  func `pauses grow, and the collector's own wish counts more`(
    number: Int, asked: Int64?, jitter: Double, expected: Duration
  ) {
    #expect(ExportPause.before(number, asked: asked, jitter: jitter) == expected)
  }

  /// A collector that answers by a script, and then takes everything.
  private final class Bench: Sendable {
    let tracer = Tracer(
      TracingRules(sampler: TraceSampler(), propagates: true), queue: SpanQueue(capacity: 4, batchSize: 2))
    let script: Locked<[Result<FetchResponse, FetchError>]>
    let sent = Locked<[FetchRequest]>([])
    let naps = Locked<[Duration]>([])
    let events = Locked<[TraceEvent]>([])
    let said = Locked<[String]>([])

    init(_ script: [Result<FetchResponse, FetchError>]) {
      self.script = Locked(script)
    }

    /// Adds spans one by one, exports what there is until the end, and waits for that.
    /// - Parameter endsAtOnce: true if the end comes before anything was exported.
    func export(
      _ count: Int, schedule: Duration = .seconds(3600), timeout: TimeSpan = .seconds(1000), endsAtOnce: Bool = false
    ) async throws {
      let log = Log(level: .info, format: .text, now: { WallTime(seconds: 0) }) { [self] line in
        said.withLock { $0.append(String(decoding: line.dropFirst(25).dropLast(), as: UTF8.self)) }
      }
      var target = TraceTarget(try HTTPURL("http://collector:4318/v1/traces"))
      target.fields = [("x-key", Secret("k"))]
      target.timeout = .seconds(1)
      target.exportTimeout = timeout
      target.scheduleDelay = TimeSpan(schedule)
      let exporter = TraceExporter(
        tracer, to: target,
        document: TracesDocument(resource: [], version: ""),
        TraceExporter.Surroundings(
          log: log, observe: { [self] event in events.withLock { $0.append(event) } }, jitter: { 0 },
          sleep: { [self] duration in
            // The wait for the next batch is none of what is tested; it lasts until the end.
            guard duration == schedule else { return naps.withLock { $0.append(duration) } }
            let never = AsyncStream<Void>.makeStream()
            for await _ in never.stream {}
            withExtendedLifetime(never.continuation) {}
          }
        ) { [self] request, _ in
          sent.withLock { $0.append(request) }
          return script.withLock { $0.isEmpty ? .success(FetchResponse(status: 200)) : $0.removeFirst() }
        })
      for id in 1...UInt64(count) { add(id) }
      exporter.start()
      while !endsAtOnce, tracer.count > 0 || events.withLock({ !$0.contains { $0.isEnd } }) { await Task.yield() }
      await exporter.end(by: .distantFuture)
    }

    func add(_ id: UInt64) {
      tracer.add([
        SpanRecord(
          TraceContext(traceHigh: 0, traceLow: 1, span: id, flags: 1), parent: .none, name: "n", kind: .internal,
          start: 0, end: 0)
      ])
    }
  }

  @Test func `a batch goes to the collector with the fields that it wants`() async throws {
    let bench = Bench([])
    try await bench.export(2)
    let request = try #require(bench.sent.withLock { $0 }.first)
    #expect(request.url.description == "http://collector:4318/v1/traces")
    #expect(request.fields.contains { $0 == ("x-key", "k") })
    guard case .post("application/json", let body) = request.method else {
      Issue.record("not a POST of JSON")
      return
    }
    #expect(JSONValue(json: body)?.members?["resourceSpans"] != nil)
    #expect(bench.events.withLock { $0 } == [.exported(2)] && bench.said.withLock { $0 } == [])
  }

  @Test func `a batch that the collector postpones is sent again after the demanded pause`() async throws {
    let bench = Bench([
      .success(FetchResponse(status: 503, fields: [("retry-after", "9")])), .failure(.timedOut(host: "collector")),
      .success(FetchResponse(status: 429)),
    ])
    try await bench.export(2)
    #expect(bench.naps.withLock { $0 } == [.seconds(9), .seconds(2), .seconds(4)])
    #expect(bench.events.withLock { $0 } == [.repeated, .repeated, .repeated, .exported(2)])
    #expect(bench.said.withLock { $0 } == [])
  }

  @Test func `the end sends what waits for a full batch`() async throws {
    let bench = Bench([])
    try await bench.export(1, endsAtOnce: true)
    #expect(bench.sent.withLock { $0.count } == 1 && bench.events.withLock { $0 } == [.exported(1)])
  }

  @Test func `spans that the collector rejects are counted, and told once with its words`() async throws {
    let rejection = FetchResponse(
      status: 200, body: Array(#"{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}"#.utf8))
    let bench = Bench([.success(rejection), .success(rejection)])
    try await bench.export(4)
    #expect(bench.events.withLock { $0.count { $0 == .rejected(1) } } == 2)
    #expect(bench.said.withLock { $0 } == ["warning the collector rejects spans spans=1 detail=\"too old\""])
  }

  @Test func `trouble is told once, and its end with what it cost`() async throws {
    let bench = Bench([.success(FetchResponse(status: 400)), .success(FetchResponse(status: 401))])
    try await bench.export(4)
    #expect(bench.sent.withLock { $0.count } == 2)
    #expect(
      bench.said.withLock { $0 } == [
        "warning traces cannot be exported host=collector reason=\"the collector answered with status 400\""
      ])
  }

  @Test func `a batch that takes longer than it may is given up`() async throws {
    let bench = Bench(Array(repeating: .failure(.closed(host: "collector")), count: 20))
    try await bench.export(2, timeout: .seconds(15))
    // Pauses of 1, 2, 4 … seconds: none passes here, so the first that does not fit ends it.
    #expect(bench.naps.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    #expect(bench.events.withLock { $0 } == [.repeated, .repeated, .repeated, .repeated, .lost(2)])
  }

  @Test func `spans that find no room are counted, and said to be missing`() async throws {
    let bench = Bench([])
    try await bench.export(7)
    #expect(bench.events.withLock { Set($0) } == [.exported(2), .dropped(3)])
    #expect(
      bench.said.withLock { $0 } == ["warning more spans than OTEL_BSP_MAX_QUEUE_SIZE wait, the newest are dropped"])
  }

  @Test func `a spell begins with the first loss and ends with the first success`() {
    var spell = ExportSpell()
    let before = spell.ends()
    let news = [spell.loses(3), spell.loses(4)]
    let after = [spell.ends(), spell.ends()]
    #expect(before == nil && news == [true, false] && after == [7, nil])
    let again = spell.loses(1)
    #expect(again)
    let rejections = [spell.isFirstRejection(), spell.isFirstRejection()]
    #expect(rejections == [true, false])
  }
}

extension TraceEvent {
  /// True if a batch has been handled.
  fileprivate var isEnd: Bool {
    switch self {
    case .exported, .lost: true
    default: false
    }
  }
}
