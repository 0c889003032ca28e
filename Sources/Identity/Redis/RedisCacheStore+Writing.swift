// Owns when changes are written: as soon as those before are, all that waits at once; after a failure with the next look that succeeds,
// until nothing is left that only this process knows.

internal import Network
internal import Telemetry
internal import Tokens

extension RedisCacheStore {
  /// Changes kept for a server that is away. Past that, the oldest go: their tokens have been renewed since.
  private static let unwrittenLimit = 10_000
  /// How often others may be faster.
  private static let attempts = 30

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
    await turns.run { [self] in
      let batch = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      do throws(RedisFailure) {
        try await write(batch)
        settle(batch)
      } catch {
        keep(batch, because: error)
      }
    }
  }

  /// In turn: applies everything to what the server holds now. Where others wrote meanwhile, again, to what they left.
  private func write(_ batch: [Job]) async throws(RedisFailure) {
    let began = MonotonicTime.now
    for attempt in 0..<Self.attempts {
      try await pull()
      let (cache, unwritten, floor) = state.withLock { ($0.cache, $0.unwritten, $0.highest) }
      let (writes, document) = cache.writes { document in
        for change in unwritten { change(&document) }
        for job in batch { job.change(&document) }
      }
      var version: Int64 = 0
      if !writes.isEmpty {
        version = try await send(writes, floor: floor)
        guard version > 0 else {
          // Others have to come to an end, too.
          let pause = Double.random(in: 0...1) * Double(min(attempt, 8)) * 5
          do { try await Task.sleep(for: .milliseconds(pause)) } catch {}
          continue
        }
      }
      state.withLock { [version] state in
        // The counter stays: others may have written between the look and this.
        state.cache.commit(writes, document, version: version)
        state.unwritten = []
        serve(&state)
      }
      observe(
        .written(
          changes: unwritten.count + batch.count, bytes: writes.reduce(0) { $0 + $1.text.count },
          duration: Duration(MonotonicTime.now - began)))
      return
    }
    throw .contended
  }

  private func settle(_ batch: [Job]) {
    let hadTrouble = state.withLock { state in
      defer { state.trouble = nil }
      return state.trouble != nil
    }
    if hadTrouble { observe(.recovered) }
    for job in batch { job.done.resume(returning: nil) }
  }

  /// Applies changes in memory, where they stay until they are on the server.
  private func keep(_ batch: [Job], because error: RedisFailure) {
    state.withLock { state in
      for job in batch { job.change(&state.document) }
      state.unwritten += batch.map(\.change)
      state.unwritten.removeFirst(max(state.unwritten.count - Self.unwrittenLimit, 0))
      if !batch.isEmpty { state.listeners.tell() }
    }
    report(error)
    for job in batch { job.done.resume(returning: .server(error)) }
  }
}
