// Events between a store and its place, without content, and their log records and metrics.

package import Bytes
internal import Platform
package import Telemetry

package enum CacheStoreEvent: Sendable {
  /// Others had changed the cache, and it was read; `isEmptied` if nothing of it is left.
  case read(duration: Duration, isEmptied: Bool)
  /// Changes were written, several together if they came together.
  case written(changes: Int, bytes: Int, duration: Duration)
  /// The place cannot be used; `kept` changes wait in memory. For each attempt; `isNews`: for another reason.
  case failed(CacheStoreError, kept: Int, isNews: Bool)
  /// The place can be used again, and holds everything.
  case recovered
  /// A lock was waited for, until it was taken or the time was over.
  case waited(CacheLock, Duration)
  /// The server refused a newer token on an open connection, which goes on with the former one.
  case refusedRenewal(code: String)
}

/// A lock of processes that share a cache.
package enum CacheLock: String, Sendable, Hashable, CaseIterable {
  case file
  /// Asking a provider with one person's refresh tokens.
  case refresh
  /// Reading a file that another program is writing.
  case reading = "read"
}

package struct CacheMetrics: Sendable {
  private let reads: Counter
  private let writes: Counter
  private let failures: CounterTable
  private let unwritten: Gauge
  private let waits: DurationHistogramTable

  /// Adds the metrics to a process's catalogue.
  package init(_ catalog: inout MetricsCatalog) {
    reads = catalog.counter(
      "bearer_proxy_cache_reads_total", help: "Reads of the token cache after another process had changed it.")
    writes = catalog.counter(
      "bearer_proxy_cache_writes_total", help: "Writes of the token cache to its file or server.")
    failures = catalog.counters(
      "bearer_proxy_cache_failures_total", help: "Attempts to read or write the token cache that failed.",
      by: MetricLabel("reason", CacheStoreError.reasons))
    unwritten = catalog.gauge(
      "bearer_proxy_cache_unwritten_changes",
      help: "Changes that only this process knows, until the cache can be written.")
    waits = catalog.durations(
      "bearer_proxy_cache_lock_wait_seconds",
      help: "Waits for other processes that share the cache: to write it, to refresh a token, to read it.",
      by: MetricLabel("lock", CacheLock.allCases.map(\.rawValue)))
  }

  package func count(_ event: CacheStoreEvent, in writer: SharedMetricsWriter) {
    switch event {
    case .read: writer.add(reads)
    case .written(_, bytes: 0, _): writer.set(unwritten, 0)
    case .written:
      writer.add(writes)
      writer.set(unwritten, 0)
    case .failed(let error, let kept, _):
      writer.add(failures[CacheStoreError.reasons.firstIndex(of: error.reason) ?? 0])
      writer.set(unwritten, Int64(kept))
    case .recovered: writer.set(unwritten, 0)
    case .refusedRenewal: break
    case .waited(let lock, let duration):
      let row = CacheLock.allCases.firstIndex(of: lock) ?? 0
      writer.observe(waits[row], nanoseconds: TimeSpan(duration).nanoseconds)
    }
  }
}

extension CacheStoreEvent {
  /// Duration of another program's writing that is worth a warning.
  private static let longWait = Duration.milliseconds(1500)

  /// Writes a record with the operator's next step: of a failure once, however often it repeats.
  package func write(to log: Log, path: String, next: (CacheStoreError) -> String? = { _ in nil }) {
    switch self {
    case .read(_, isEmptied: true):
      log.warning(
        "another program has emptied the token cache",
        ["file": .string(path), "next": .next(.signInAgain)])
    case .read(let duration, _):
      log.debug("token cache read", ["file": .string(path), "duration_ms": .milliseconds(duration)])
    case .written(let changes, let bytes, let duration):
      log.debug(
        "token cache written",
        [
          "file": .string(path), "changes": .integer(changes), "bytes": .integer(bytes),
          "duration_ms": .milliseconds(duration),
        ])
    case .failed(let error, let kept, isNews: true):
      log.error(
        "token cache cannot be used, serving from memory",
        [
          "reason": .string(error.reason), "detail": .string(error.description(path: path)), "kept": .integer(kept),
          "next": next(error).map(LogValue.string) ?? .absent,
        ])
    case .failed: break
    case .waited(.reading, let duration) where duration >= Self.longWait:
      log.warning(
        "another program took long to write the token cache; requests that needed it have waited",
        ["file": .string(path), "duration_ms": .milliseconds(duration)])
    case .waited(let lock, let duration):
      log.debug("token cache lock", ["lock": .string(lock.rawValue), "duration_ms": .milliseconds(duration)])
    case .refusedRenewal(let code):
      log.warning(
        "the Redis server refuses the newer token; its connection goes on until the former one ends",
        ["server": .string(path), "code": .string(code), "next": .next(.redisUser)])
    case .recovered: log.info("token cache can be used again", ["file": .string(path)])
    }
  }
}

/// The state of the cache's file or server, for `/status`, from the store's events. Any thread may use it.
package final class CacheCondition: Sendable {
  package enum Kind: String, Sendable, Hashable {
    case memory
    case file
    case redis
  }

  package struct Report: Sendable, Hashable {
    package var kind: Kind
    /// The file or server; nil if tokens are kept in memory.
    package var path: String?
    /// The failure, in a sentence with the place; nil if there is none.
    package var trouble: String?
    package var troubleSince: UnixTime?
    /// Changes that only this process knows.
    package var unwrittenChanges = 0

    /// A cache without a failure.
    package init(path: String?, kind: Kind? = nil) {
      self.path = path
      self.kind = kind ?? (path == nil ? .memory : .file)
    }
  }

  private let state: Locked<Report>
  private let now: @Sendable () -> UnixTime

  /// The condition of a cache before its first event.
  package init(path: String?, kind: Kind? = nil, now: @escaping @Sendable () -> UnixTime) {
    state = Locked(Report(path: path, kind: kind))
    self.now = now
  }

  package var report: Report { state.withLock { $0 } }

  package func take(_ event: CacheStoreEvent) {
    let now = now()
    state.withLock { report in
      switch event {
      case .read, .waited, .refusedRenewal: break
      case .written, .recovered:
        report.trouble = nil
        report.troubleSince = nil
        report.unwrittenChanges = 0
      case .failed(let error, let kept, _):
        report.trouble = error.description(path: report.path ?? "")
        report.troubleSince = report.troubleSince ?? now
        report.unwrittenChanges = kept
      }
    }
  }
}
