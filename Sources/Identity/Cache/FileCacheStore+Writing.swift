// Owns when the file is written: as soon as the lock is had, all that waits at once; after a failure again and again, until
// nothing is left that only this process knows.

internal import Network
internal import Telemetry
internal import Tokens

extension FileCacheStore {
  /// Takes the file's lock and gives it back.
  public func tryLock() async throws(CacheStoreError) {
    let held: HeldLockFile
    do throws(LockFileError) {
      held = try await lock.take(within: lockWait)
    } catch {
      throw CacheStoreError(error)
    }
    await queue.run { held.release() }
  }

  /// Changes kept for a file that cannot be written. Past that, the oldest go: their tokens have been renewed since.
  private static let unwrittenLimit = 10_000
  /// How long after a failure the next attempt is made, if no change comes before.
  private static let retryPause = Duration.seconds(10)

  /// Has a change written with the next ones.
  func submit(_ job: Job) {
    state.withLock { $0.waiting.append(job) }
    startWriting()
  }

  /// Writes what waits, unless that is going on.
  func startWriting() {
    let mustStart = state.withLock { state in
      guard !state.isWriting, !state.waiting.isEmpty || !state.unwritten.isEmpty else { return false }
      state.isWriting = true
      return true
    }
    if mustStart { Task { await writeAll() } }
  }

  private func writeAll() async {
    repeat {
      // What is logged is about the request that waits for the first of the changes; about none where nobody waits.
      await RequestScope.around(state.withLock { $0.waiting.first?.scope }) { await writeBatch() }
    } while state.withLock { state in
      state.isWriting = !state.waiting.isEmpty
      return state.isWriting
    }
  }

  private func writeBatch() async {
    // Waiting for the lock is when further changes gather.
    let held: HeldLockFile
    let began = MonotonicTime.now
    do throws(LockFileError) {
      held = try await lock.take(within: lockWait)
      observe(.waited(.file, Duration(MonotonicTime.now - began)))
    } catch {
      observe(.waited(.file, Duration(MonotonicTime.now - began)))
      keep(takeBatch(), because: CacheStoreError(error))
      return
    }
    let trouble = await reread()
    let batch = takeBatch()
    let error: CacheStoreError?
    if let trouble {
      error = trouble
    } else {
      error = await queue.run { self.write(batch) }
    }
    await queue.run { held.release() }
    if let error { keep(batch, because: error) } else { settle(batch) }
  }

  private func takeBatch() -> [Job] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// On the queue, with the lock held: applies everything to what the file holds, and replaces it.
  private func write(_ batch: [Job]) -> CacheStoreError? {
    let began = MonotonicTime.now
    // Who does not know of the lock may have written since it was had.
    if case .failure(let error) = look(isLast: true) { return error }
    var (file, unwritten) = state.withLock { ($0.file, $0.unwritten) }
    var document = file.document
    for change in unwritten { change(&document) }
    for job in batch { job.change(&document) }
    do throws(CacheStoreError) {
      let bytes = try file.write(document)
      let before = state.withLock { ($0.file, $0.document) }
      defer { withExtendedLifetime(before) {} }
      state.withLock { state in
        state.file = file
        state.document = document
        state.unwritten = []
        state.listeners.tell()
      }
      observe(
        .written(changes: unwritten.count + batch.count, bytes: bytes, duration: Duration(MonotonicTime.now - began)))
      return nil
    } catch {
      return error
    }
  }

  private func settle(_ batch: [Job]) {
    let hadTrouble = state.withLock { state in
      defer { state.writeTrouble = nil }
      return state.writeTrouble != nil
    }
    if hadTrouble { observe(.recovered) }
    for job in batch { job.done.resume(returning: nil) }
  }

  /// Applies changes in memory, where they stay until they are in the file.
  private func keep(_ batch: [Job], because error: CacheStoreError) {
    let (kept, isNews) = state.withLock { state in
      for job in batch { job.change(&state.document) }
      state.unwritten += batch.map(\.change)
      state.unwritten.removeFirst(max(state.unwritten.count - Self.unwrittenLimit, 0))
      if !batch.isEmpty { state.listeners.tell() }
      defer { state.writeTrouble = error }
      // What could not be read has been reported as such.
      return (state.unwritten.count, state.writeTrouble != error && state.readTrouble != error)
    }
    observe(.failed(error, kept: kept, isNews: isNews))
    scheduleRetry()
    for job in batch { job.done.resume(returning: error) }
  }

  private func scheduleRetry() {
    let mustSchedule = state.withLock { state in
      defer { state.isRetryScheduled = true }
      return !state.isRetryScheduled
    }
    guard mustSchedule else { return }
    Task { [weak self] in
      do { try await Task.sleep(for: Self.retryPause) } catch {}
      self?.state.withLock { $0.isRetryScheduled = false }
      self?.startWriting()
    }
  }
}

extension CacheStoreError {
  fileprivate init(_ error: LockFileError) {
    switch error {
    case .held(let holder): self = .locked(holder)
    case .obstructed(let name, let owner): self = .file(.obstructed(name: name, owner: owner))
    case .system(let error): self = .lock(error)
    }
  }
}
