// Exports spans to the collector: one batch after the other, each until it is accepted or given up. No request waits
// for it: batches that cannot be sent in time are dropped and counted.

package import Bytes
package import HTTP
package import HTTPClient
internal import Identity
package import Platform
package import Telemetry
internal import Tokens

package final class TraceExporter: Sendable {
  /// The exporter's dependencies; tests bring their own.
  package struct Surroundings: Sendable {
    /// Sends one request, within the time.
    package var send: @Sendable (FetchRequest, TimeSpan) async -> Result<FetchResponse, FetchError>
    /// Waits; shorter if the task is cancelled.
    package var sleep: @Sendable (Duration) async -> Void
    /// Draws 0 up to 1.
    package var jitter: @Sendable () -> Double
    /// Receives the outcome of spans.
    package var observe: @Sendable (TraceEvent) -> Void
    package var log: Log

    package init(
      log: Log, observe: @escaping @Sendable (TraceEvent) -> Void,
      jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
      sleep: @escaping @Sendable (Duration) async -> Void = { duration in
        // Cancelled: the waiting task checks itself next.
        do { try await Task.sleep(for: duration) } catch {}
      },
      send: @escaping @Sendable (FetchRequest, TimeSpan) async -> Result<FetchResponse, FetchError>
    ) {
      self.log = log
      self.observe = observe
      self.jitter = jitter
      self.sleep = sleep
      self.send = send
    }
  }

  private let tracer: Tracer
  private let target: TraceTarget
  private let document: TracesDocument
  private let surroundings: Surroundings
  private let state = Locked(State())

  private struct State {
    var spell = ExportSpell()
    /// The deadline of the exporter's end.
    var end = MonotonicTime.distantFuture
    /// The end of the pause that the collector asked for.
    var rest = MonotonicTime(nanoseconds: 0)
    var work: Task<Void, Never>?
    var clock: Task<Void, Never>?
  }

  /// An exporter; nothing is sent before `start`.
  package init(_ tracer: Tracer, to target: TraceTarget, document: TracesDocument, _ surroundings: Surroundings) {
    self.tracer = tracer
    self.target = target
    self.document = document
    self.surroundings = surroundings
  }

  package func start() {
    let clock = Task { [self] in
      while !Task.isCancelled {
        await surroundings.sleep(Duration(target.scheduleDelay))
        tellOfDropped()
        tracer.tell()
      }
    }
    let work = Task { [self] in
      for await _ in tracer.batches { await exportAll() }
      await exportAll()
    }
    state.withLock { ($0.clock, $0.work) = (clock, work) }
  }

  /// Sends the remaining spans once, until `deadline` at most, and ends.
  package func end(by deadline: MonotonicTime) async {
    let (clock, work) = state.withLock { state in
      state.end = deadline
      state.rest = MonotonicTime(nanoseconds: 0)
      return (state.clock, state.work)
    }
    clock?.cancel()
    tracer.finish()
    // Ends the pauses. A request continues, but it is not awaited beyond that.
    work?.cancel()
    let (ends, tell) = AsyncStream<Void>.makeStream()
    Task {
      await work?.value
      tell.yield()
    }
    let limit = Task {
      do { try await Task.sleep(for: Duration(deadline - .now)) } catch {}
      tell.yield()
    }
    for await _ in ends { break }
    limit.cancel()
    tellOfDropped()
    let left = tracer.count
    if left > 0 { lose(left) }
  }

  private func exportAll() async {
    while tracer.count > 0 {
      let (rest, end) = state.withLock { ($0.rest, $0.end) }
      if MonotonicTime.now < rest || MonotonicTime.now >= end { return }
      guard await export(tracer.take()) || !Task.isCancelled else { return }
    }
  }

  /// Sends a batch, with repetitions. Returns true if the collector answered like one.
  private func export(_ spans: [SpanRecord]) async -> Bool {
    if spans.isEmpty { return true }
    let request = FetchRequest(
      .post(contentType: "application/json", body: document.bytes(of: spans)), target.url,
      fields: [("accept", "application/json")] + target.fields.map { ($0.name, $0.value.revealed()) })
    let deadline = MonotonicTime.now + target.exportTimeout
    var attempt = 0
    while true {
      let left = min(deadline, state.withLock { $0.end }) - .now
      switch await verdict(request, within: min(left, target.timeout)) {
      case .accepted(let rejected, let message):
        taken(spans.count, rejected: rejected, message)
        return true
      case .refused(let trouble):
        lose(spans.count, trouble)
        return true
      case .tryAgain(let asked, let trouble):
        attempt += 1
        let pause = ExportPause.before(attempt, asked: asked, jitter: surroundings.jitter())
        guard !Task.isCancelled, MonotonicTime.now + TimeSpan(pause) < deadline else {
          if asked != nil { state.withLock { $0.rest = MonotonicTime.now + TimeSpan(pause) } }
          lose(spans.count, trouble)
          return false
        }
        await surroundings.sleep(pause)
        surroundings.observe(.repeated)
      }
    }
  }

  private func verdict(_ request: FetchRequest, within time: TimeSpan) async -> ExportVerdict {
    switch await surroundings.send(request, time) {
    case .success(let response): ExportVerdict(response, now: .now)
    case .failure(let error): ExportVerdict(error)
    }
  }

  // MARK: Records

  private func tellOfDropped() {
    let count = tracer.takeDropped()
    guard count > 0 else { return }
    surroundings.observe(.dropped(count))
    surroundings.log.warning("more spans than OTEL_BSP_MAX_QUEUE_SIZE wait, the newest are dropped")
  }

  private func taken(_ count: Int, rejected: Int, _ message: String?) {
    let rejected = min(rejected, count)
    surroundings.observe(.exported(count - rejected))
    if rejected > 0 { surroundings.observe(.rejected(rejected)) }
    let (lost, isFirst) = state.withLock { state in
      (state.spell.ends(), (rejected > 0 || message != nil) && state.spell.isFirstRejection())
    }
    if let lost { surroundings.log.info("traces are exported again", ["spans_lost": .integer(lost)]) }
    if isFirst {
      surroundings.log.warning(
        "the collector rejects spans", ["spans": .integer(rejected), "detail": .string(message ?? "")])
    }
  }

  private func lose(_ count: Int, _ trouble: ExportTrouble? = nil) {
    surroundings.observe(.lost(count))
    let isNews = state.withLock { $0.spell.loses(count) }
    if isNews, let trouble {
      surroundings.log.warning(
        "traces cannot be exported",
        ["host": .string(target.url.host), "reason": .string(trouble.description)])
    }
  }
}

/// The result of one request to the collector.
enum ExportVerdict: Hashable {
  /// It has accepted the spans, except those `rejected`; `message` is its reason, or a warning.
  case accepted(rejected: Int, message: String?)
  /// It may accept them later; `after` so many seconds if it names them.
  case tryAgain(after: Int64?, ExportTrouble)
  /// It will not accept them.
  case refused(ExportTrouble)

  init(_ response: FetchResponse, now: UnixTime) {
    switch response.status {
    case 200..<300:
      let partial = JSONValue(json: response.body)?.members?["partialSuccess"]?.members
      let rejected = partial?["rejectedSpans"]?.seconds ?? 0
      let message = partial?["errorMessage"]?.text.flatMap { $0.isEmpty ? nil : $0.printable(limit: 200) }
      self = .accepted(rejected: Int(clamping: max(rejected, 0)), message: message)
    case 429, 502, 503, 504:
      let wait = response.value(of: "retry-after").flatMap { RetryAfter(field: $0, now: now)?.seconds }
      self = .tryAgain(after: wait, .answered(response.status))
    default: self = .refused(.answered(response.status))
    }
  }

  /// A request without an answer.
  init(_ error: FetchError) {
    self = .tryAgain(after: nil, .unreached(error))
  }
}

/// The pauses between the attempts for one batch.
enum ExportPause {
  /// The pause before attempt `number` (1 is the first repetition): the one that the collector asks for, else 1, 2, 4 …
  /// 16 seconds less up to a half.
  /// - Parameter jitter: 0 up to 1, so that proxies that lost their collector together do not return together.
  static func before(_ number: Int, asked: Int64?, jitter: Double) -> Duration {
    if let asked { return .seconds(asked) }
    return .seconds(Double(1 << min(max(number - 1, 0), 4)) * (1 - jitter / 2))
  }
}

/// The reason why spans could not be exported.
enum ExportTrouble: Hashable, CustomStringConvertible {
  /// An answer of another status than 200.
  case answered(Int)
  case unreached(FetchError)

  var description: String {
    switch self {
    case .answered(404), .answered(405): "there is no receiver of traces at the endpoint's path"
    case .answered(401), .answered(403): "the collector wants other OTEL_EXPORTER_OTLP_HEADERS"
    case .answered(413): "the collector takes no batches of OTEL_BSP_MAX_EXPORT_BATCH_SIZE spans"
    case .answered(let status): "the collector answered with status \(status)"
    case .unreached(let error): error.detail
    }
  }
}

/// The time from the first lost batch to the next exported one.
struct ExportSpell {
  private var lost: Int?
  private var hasToldOfRejections = false

  /// Counts a lost batch; returns true if that begins a spell.
  mutating func loses(_ count: Int) -> Bool {
    defer { lost = (lost ?? 0) + count }
    return lost == nil
  }

  /// Records an exported batch; returns the number lost before it, if that ends a spell.
  mutating func ends() -> Int? {
    defer { lost = nil }
    return lost
  }

  /// True if a rejection is the first: the following ones are counted.
  mutating func isFirstRejection() -> Bool {
    defer { hasToldOfRejections = true }
    return !hasToldOfRejections
  }
}
