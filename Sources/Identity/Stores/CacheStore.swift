package import Bytes
internal import Platform
internal import Telemetry
package import Tokens

/// The unified token cache: in memory, in a file that every MSAL may use too, or on a Redis server.
///
/// The document is held in memory as well, so that reading waits for no disk and no server, and tokens are served while
/// the place cannot be used. Any thread may use it; copies of the reference are one cache.
public final class CacheStore: Sendable {
  typealias Change = @Sendable (inout CacheDocument) -> Void

  private typealias Troubles = (reading: CacheStoreError?, writing: CacheStoreError?)

  /// A change, and the caller that waits for it to be written.
  struct Job {
    var change: Change
    var interest: CacheInterest?
    var done: CheckedContinuation<CacheStoreError?, Never>
    let scope = RequestScope.current
  }

  struct State {
    /// The served document: the place's, with the changes that are not written yet.
    var document: CacheDocument
    var unwritten: [(change: Change, interest: CacheInterest?)] = []
    var waiting: [Job] = []
    var isWriting = false
    var isRetryScheduled = false
    /// The reading that all requests share that come before it has begun.
    var look: Task<Void, Never>?
    var readTrouble: CacheStoreError?
    var writeTrouble: CacheStoreError?
    var listeners: [AsyncStream<Void>.Continuation] = []
  }

  /// Changes kept for a place that cannot be written. The oldest go first: their tokens have been renewed since.
  private static let unwrittenLimit = 10_000
  /// The longest time for which a lease is held because of unwritten changes.
  private static let leaseHold = TimeSpan.seconds(60)
  /// Attempts when other writers are faster.
  private static let attempts = 30

  let state: Locked<State>
  let backend: (any CacheBackend)?
  private let observe: @Sendable (CacheStoreEvent) -> Void
  let surroundings: StoreSurroundings
  /// Readings and writings, one after another.
  private let turns = TaskQueue()
  /// The providers' tenants, stored beside the document.
  package let tenants: KnownTenants

  private init(
    _ document: CacheDocument, _ backend: (any CacheBackend)?, _ surroundings: StoreSurroundings,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) {
    self.surroundings = surroundings
    state = Locked(State(document: document))
    self.backend = backend
    self.observe = observe
    tenants = KnownTenants(text: backend?.text(.providers))
  }

  /// A cache that ends with the process and that no other process sees.
  public static func memory() -> CacheStore { memory(CacheDocument()) }

  /// A cache in memory that holds `document` at first.
  package static func memory(
    _ document: CacheDocument, surroundings: StoreSurroundings = StoreSurroundings()
  ) -> CacheStore {
    CacheStore(document, nil, surroundings) { _ in }
  }

  /// A cache in a shared place; it has been read, and its changes are followed.
  package static func open(
    _ backend: any CacheBackend, surroundings: StoreSurroundings = StoreSurroundings(),
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> CacheStore {
    let store = CacheStore(CacheDocument(), backend, surroundings, observe: observe)
    // First the watch, so that no change between the two is missed.
    backend.watch { [weak store] in
      await store?.look()
      return store != nil
    }
    await store.look()
    return store
  }

  /// The document as last seen. Waits for no disk, server or lock.
  package func snapshot() async -> CacheDocument {
    state.withLock { $0.document }
  }

  /// The failure that keeps the store from its place; nil if there is none.
  package var trouble: CacheStoreError? { state.withLock { $0.readTrouble ?? $0.writeTrouble } }

  /// The reason why the last reading failed; nil if it did not. Then the document may not have the changes of others.
  package var blindness: CacheStoreError? { state.withLock { $0.readTrouble } }

  /// A new stream that yields after each change of the document, ours and others'. Several changes may be one element.
  package var changes: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.listeners.append(continuation) }
    return stream
  }

  /// A text beside the document that the same processes share; nil if the cache is this process's alone.
  func text(_ name: SharedTextName) -> (any SharedText)? { backend?.text(name) }

  /// Takes the writers' lock and releases it, as a test. Nothing is written.
  package func tryLock() async throws(CacheStoreError) {
    try await backend?.tryLock()
  }

  /// Runs `body` while no other process that shares the cache runs one for `key`, and after reading their changes:
  /// `body` asks `snapshot()` first whether its work is still needed.
  ///
  /// After `limit`, and if there is no such lock, `body` runs without one: two token requests are better than none.
  package func withRefreshLock<Result: Sendable>(
    _ key: String, within limit: TimeSpan = .seconds(15), _ body: @Sendable () async -> Result
  ) async -> Result {
    guard let backend else { return await body() }
    let began = surroundings.now()
    let lease = await backend.lease(key, within: limit)
    observe(.waited(.refresh, surroundings.duration(since: began)))
    await look()
    let result = await body()
    if let lease, lease.outlastsFailures, state.withLock({ !$0.unwritten.isEmpty }) {
      Task {
        await writeEverything(until: surroundings.now() + Self.leaseHold)
        await lease.end()
      }
    } else {
      await lease?.end()
    }
    return result
  }
}

// MARK: Reading

extension CacheStore {
  /// Reads the changes of others now, for callers that would otherwise refuse a person who has just signed in.
  package func look() async {
    guard let backend, !backend.isPaused else { return }
    let look = state.withLock { state in
      if let look = state.look { return look }
      let look = Task { [self] in
        await turns.run { [self] in
          // A request from now on may be newer than the result of this reading.
          self.state.withLock { $0.look = nil }
          await self.lookNow(backend)
        }
      }
      state.look = look
      return look
    }
    await look.value
  }

  private func lookNow(_ backend: any CacheBackend) async {
    let before = troubles
    do throws(CacheStoreError) {
      try await pull(backend)
    } catch {
      report(error, after: before)
      if error == .abandoned { writeAgain() }
      return
    }
    if before.reading == nil { return }
    // Changes that could not be written while the place could not be read, can be now.
    let isAllWritten = state.withLock { $0.unwritten.isEmpty && $0.writeTrouble == nil }
    if isAllWritten { observe(.recovered) } else { startWriting() }
  }

  /// In turn: serves the place's present document.
  private func pull(_ backend: any CacheBackend) async throws(CacheStoreError) {
    let began = surroundings.now()
    let document: CacheDocument?
    do throws(CacheStoreError) {
      let unwritten = state.withLock { $0.unwritten }
      // The reading adds what is not held.
      for interest in unwritten.compactMap(\.interest) { _ = backend.lacks(interest) }
      document = try await backend.read(mayForget: unwritten.isEmpty)
    } catch {
      state.withLock { $0.readTrouble = error }
      throw error
    }
    // Released at the end of this function: wiping a big document must not happen under the lock.
    let former = state.withLock { $0.document }
    defer { withExtendedLifetime(former) {} }
    state.withLock { state in
      state.readTrouble = nil
      if let document { state.serve(document) }
    }
    backend.serve()
    guard let document else { return }
    let isEmptied = document.isEmpty && !former.isEmpty && backend.isComplete
    observe(.read(duration: surroundings.duration(since: began), isEmptied: isEmptied))
  }

  private var troubles: Troubles {
    state.withLock { ($0.readTrouble, $0.writeTrouble) }
  }

  /// Reports a failed attempt, as news unless reading or writing failed in the same way before.
  private func report(_ error: CacheStoreError, after before: Troubles) {
    let isKnown = before.reading?.isSimilar(to: error) == true || before.writing?.isSimilar(to: error) == true
    observe(.failed(error, kept: state.withLock { $0.unwritten.count }, isNews: !isKnown))
  }
}

extension CacheStore.State {
  fileprivate mutating func serve(_ document: CacheDocument) {
    self.document = document
    for kept in unwritten { kept.change(&self.document) }
    tellListeners()
  }

  /// Notifies the listeners of a change, and forgets those whose streams are gone.
  fileprivate mutating func tellListeners() {
    listeners.removeAll { listener in
      if case .terminated = listener.yield() { true } else { false }
    }
  }
}

// MARK: Writing

extension CacheStore {
  /// Applies `change` to the place's document and writes the result; simultaneous changes are written together. Returns
  /// the result of `change`.
  ///
  /// `change` must be a function of the document alone: it may be applied more than once. If the place cannot be
  /// written, it is applied in memory and again to the place's document at the next chance, and the reason is thrown:
  /// nothing is lost as long as the process lives.
  /// - Parameter interest: the part of the place that decides what `change` does.
  package func modify<Result: Sendable>(
    about interest: CacheInterest? = nil, _ change: @escaping @Sendable (inout CacheDocument) -> Result
  ) async throws(CacheStoreError) -> Result {
    guard backend != nil else {
      return state.withLock { state in
        defer { state.tellListeners() }
        return change(&state.document)
      }
    }
    let result = Locked<Result?>(nil)
    let error = await withCheckedContinuation { continuation in
      let job = Job(
        change: { document in
          let value = change(&document)
          result.withLock { $0 = value }
        }, interest: interest, done: continuation)
      state.withLock { $0.waiting.append(job) }
      startWriting()
    }
    if let error { throw error }
    guard let value = result.withLock({ $0 }) else { preconditionFailure("a change was written and not applied") }
    return value
  }

  /// Writes the document over a half-written one of a program that has ended.
  private func writeAgain() {
    state.withLock { state in
      if state.waiting.isEmpty, state.unwritten.isEmpty { state.unwritten.append(({ _ in }, nil)) }
    }
    startWriting()
  }

  /// Writes the waiting changes, unless that is in progress.
  func startWriting() {
    guard let backend else { return }
    let mustStart = state.withLock { state in
      guard !state.isWriting, !state.waiting.isEmpty || !state.unwritten.isEmpty else { return false }
      state.isWriting = true
      return true
    }
    if mustStart { Task { await writeAll(backend) } }
  }

  private func writeAll(_ backend: any CacheBackend) async {
    repeat {
      // The log records are about the request that waits for the first of the changes, if one does.
      await RequestScope.around(state.withLock { $0.waiting.first?.scope }) { await writeBatch(backend) }
    } while state.withLock { state in
      state.isWriting = !state.waiting.isEmpty
      return state.isWriting
    }
  }

  private func writeBatch(_ backend: any CacheBackend) async {
    let lease: CacheLease?
    do throws(CacheStoreError) {
      // Further changes gather meanwhile.
      lease = try await backend.lock()
    } catch {
      return keep(takeBatch(), because: error, after: troubles)
    }
    let (batch, before, result) = await turns.run {
      [self] () async -> ([Job], Troubles, Result<Void, CacheStoreError>) in
      let (batch, before) = (takeBatch(), troubles)
      return (batch, before, await Result(awaiting: try await write(batch, backend)))
    }
    await lease?.end()
    switch result {
    case .success: settle(batch, after: before)
    case .failure(let error): keep(batch, because: error, after: before)
    }
  }

  private func takeBatch() -> [Job] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// In turn: applies everything to the place's document. If others wrote meanwhile, again to theirs.
  private func write(_ batch: [Job], _ backend: any CacheBackend) async throws(CacheStoreError) {
    let began = surroundings.now()
    for interest in batch.compactMap(\.interest) { _ = backend.lacks(interest) }
    for attempt in 0..<Self.attempts {
      try await pull(backend)
      let unwritten = state.withLock { $0.unwritten }
      let replacement = try await backend.replace { document in
        for kept in unwritten { kept.change(&document) }
        for job in batch { job.change(&document) }
      }
      guard let replacement else {
        // Lets the others finish, too.
        let pause = surroundings.fraction() * Double(min(attempt, 8)) * 5
        await surroundings.sleep(.milliseconds(pause))
        continue
      }
      let former = state.withLock { $0.document }
      defer { withExtendedLifetime(former) {} }
      state.withLock { state in
        state.unwritten = []
        state.serve(replacement.document)
      }
      observe(
        .written(
          changes: unwritten.count + batch.count, bytes: replacement.bytes,
          duration: surroundings.duration(since: began)))
      return
    }
    throw .contended
  }

  private func settle(_ batch: [Job], after before: Troubles) {
    state.withLock { $0.writeTrouble = nil }
    if before.reading != nil || before.writing != nil { observe(.recovered) }
    for job in batch { job.done.resume(returning: nil) }
  }

  /// Applies changes in memory, if they stay until they are written.
  private func keep(_ batch: [Job], because error: CacheStoreError, after before: Troubles) {
    state.withLock { state in
      for job in batch { job.change(&state.document) }
      state.unwritten += batch.map { ($0.change, $0.interest) }
      state.unwritten.removeFirst(max(state.unwritten.count - Self.unwrittenLimit, 0))
      if !batch.isEmpty { state.tellListeners() }
      state.writeTrouble = error
    }
    report(error, after: before)
    scheduleRetry()
    for job in batch { job.done.resume(returning: error) }
  }

  private func scheduleRetry() {
    guard let backend else { return }
    let mustSchedule = state.withLock { state in
      defer { state.isRetryScheduled = true }
      return !state.isRetryScheduled
    }
    guard mustSchedule else { return }
    Task { [weak self, sleep = surroundings.sleep] in
      repeat { await sleep(backend.retryPause) } while backend.isPaused
      self?.state.withLock { $0.isRetryScheduled = false }
      self?.startWriting()
    }
  }
}
