// The token files of a process: written when a token arrives or a file is missing, removed when the token ends, when
// its route no longer has one, and at the end of the process. TokenFileStep decides, SharedFile writes.

package import Bytes
internal import HTTP
package import Identity
internal import Platform
package import Telemetry
package import Tokens

/// Keeps the token files of the configuration in force.
package actor TokenFiles {
  private struct Entry {
    let file: TokenFile
    let subscription: TokenSubscription
    let written: WrittenFile
    var value: BearerValue?
    /// The token that was last written; nil: the file's token, if there is a file, is not known.
    var writtenValue: BearerValue?
    var failure: FileError?
    var throttle = Throttle()
    var hasAsked = false
    /// True while a step is carried out.
    var isBusy = false
    var timer: Task<Void, Never>?

    func step(_ now: UnixTime) -> TokenFileStep {
      TokenFileStep(
        held: value.flatMap { $0.isUsable(at: now) ? $0.lifetime.expiresAt : nil }, contents: contents(at: now),
        leastLife: value.map(leastLife) ?? file.leastLife, retryAt: throttle.pause(at: now), hasAsked: hasAsked,
        now: now)
    }

    private func contents(at now: UnixTime) -> TokenFileContents {
      guard written.isThere else { return .none }
      guard let token = writtenValue, token.isUsable(at: now) else { return .other(until: nil) }
      return token.id == value?.id ? .held : .other(until: token.lifetime.expiresAt + -leastLife(token))
    }

    /// Tokens that never live longer are renewed at half their life.
    private func leastLife(_ token: BearerValue) -> Int64 {
      min(file.leastLife, (token.lifetime.expiresAt - token.lifetime.obtainedAt) / 2)
    }
  }

  private let broker: TokenBroker
  private let log: Log
  private let now: @Sendable () -> UnixTime
  private let sleep: @Sendable (Int64) async -> Void
  private let queue = FileQueue("token-files")
  private var entries: [String: Entry] = [:]
  private var records: (metrics: ServiceMetrics, registry: MetricsRegistry)?

  /// Seconds between looks at a file, which others may have removed or changed.
  private static let lookInterval: Int64 = 30

  package init(
    broker: TokenBroker, log: Log, now: @escaping @Sendable () -> UnixTime,
    sleep: @escaping @Sendable (Int64) async -> Void = TokenBroker.sleep
  ) {
    (self.broker, self.log, self.now, self.sleep) = (broker, log, now, sleep)
  }

  /// Keeps these files from now on, and removes the others. Those that are kept are looked at, and failed writes are
  /// tried again.
  package func follow(
    _ files: [(file: TokenFile, subscription: TokenSubscription)], of service: Service
  ) async {
    records = (service.metrics, service.registry)
    let wanted = Dictionary(files.map { ($0.file.path, $0) }) { first, _ in first }
    for path in entries.keys where wanted[path] == nil { await forget(path) }
    for (path, (file, subscription)) in wanted {
      let former = entries[path]
      if former?.file == file, former?.subscription.key == subscription.key {
        entries[path]?.throttle.succeeded()
        Task { await look(path) }
        continue
      }
      former?.timer?.cancel()
      let written = former?.written ?? WrittenFile(path)
      entries[path] = Entry(file: file, subscription: subscription, written: written)
      if former == nil { await queue.run { written.find() } }
      Task { await begin(path) }
    }
  }

  /// Takes a token that the broker has obtained, or that must no longer be used.
  package nonisolated func publish(_ value: BearerValue?, for key: AcquisitionKey) {
    Task { await take(value, for: key) }
  }

  /// Removes every file: the process ends.
  package func end() async {
    for path in entries.keys { await forget(path) }
  }

  /// The status of the file of a route; nil if it has none.
  package func status(ofRoute row: Int) -> TokenFileStatus? {
    entries.values.first { $0.file.row == row }.map { entry in
      TokenFileStatus(
        path: entry.file.path, expiresAt: entry.written.isThere ? entry.writtenValue?.lifetime.expiresAt : nil,
        reason: entry.failure?.detail)
    }
  }

  // MARK: Steps

  private func begin(_ path: String) async {
    guard let subscription = entries[path]?.subscription else { return }
    do throws(AcquisitionError) {
      let value = try await broker.bearer(for: subscription)
      replace(with: value, at: path)
    } catch {
      // The broker tries again, and publishes what it gets.
    }
    await advance(path)
  }

  private func take(_ value: BearerValue?, for key: AcquisitionKey) async {
    for (path, entry) in entries where entry.subscription.key == key {
      // A token that was withdrawn is not usable any more.
      if let value { replace(with: value, at: path) }
      await advance(path)
    }
  }

  private func replace(with value: BearerValue, at path: String) {
    guard let held = entries[path], value.id > held.value?.id ?? 0 else { return }
    entries[path]?.value = value
    entries[path]?.hasAsked = false
    entries[path]?.throttle.succeeded()
  }

  private func advance(_ path: String) async {
    guard entries[path]?.isBusy == false else { return }
    entries[path]?.isBusy = true
    defer { entries[path]?.isBusy = false }
    while let entry = entries[path] {
      switch entry.step(now()) {
      case .write: await write(entry)
      case .remove: await queue.run { entry.written.remove() }
      case .renew:
        entries[path]?.hasAsked = true
        do throws(AcquisitionError) {
          replace(with: try await broker.renewedBearer(for: entry.subscription), at: path)
        } catch {
          // The log has the broker's record of it.
        }
      case .wait(let instant):
        entry.timer?.cancel()
        entries[path]?.timer = instant.map { instant in
          Task { [weak self, now, sleep] in
            // Short waits also because the wall clock may be set, and the machine may sleep.
            await sleep(min(max(instant - now(), 1), Self.lookInterval))
            if !Task.isCancelled { await self?.look(path) }
          }
        }
        return
      }
    }
  }

  // MARK: Files

  /// Looks if the file is still the written one, and does what follows.
  private func look(_ path: String) async {
    guard let entry = entries[path] else { return }
    await queue.run { entry.written.look() }
    if !Task.isCancelled { await advance(path) }
  }

  private func write(_ entry: Entry) async {
    guard let value = entry.value else { return }
    let path = entry.file.path
    let failure = await queue.run { entry.written.write(value.token, readableBy: entry.file.group) }
    if let records {
      records.registry.shared.add(records.metrics.tokenFileWrites[entry.file.row, failure == nil ? 0 : 1])
      if failure == nil {
        records.registry.shared.add(records.metrics.handedOut[TokenTaker.file.rawValue, entry.file.row])
      }
    }
    // Other settings write it again.
    if let current = entries[path], current.file == entry.file, current.subscription.key == entry.subscription.key {
      entries[path]?.failure = failure
      if failure == nil { entries[path]?.writtenValue = value }
    }
    guard let failure else {
      entries[path]?.throttle.succeeded()
      log.debug("token file written", ["file": .string(path)])
      return
    }
    entries[path]?.throttle.failed(.transient, retryAfter: nil, now: now(), jitter: 0)
    log.warning(
      "token file cannot be written",
      ["file": .string(path), "reason": .string(failure.detail), "next": .next(.tokenFile)])
  }

  /// Removes a file. No write of it begins from here on; one that has begun ends before.
  private func forget(_ path: String) async {
    guard let entry = entries.removeValue(forKey: path) else { return }
    entry.timer?.cancel()
    await queue.run { entry.written.remove() }
  }
}

/// A token file that this process wrote, or that a process before it left. Each change is made on one queue.
private final class WrittenFile: Sendable {
  private let file: SharedFile
  private let identity = Locked<FileIdentity?>(nil)

  init(_ path: String) { file = SharedFile(path: path) }

  var isThere: Bool { identity.withLock { $0 != nil } }

  /// Takes a file that a process before this one left.
  func find() {
    let found = present
    identity.withLock { $0 = found }
  }

  /// Forgets a file that was removed, or that is not as it was written.
  func look() {
    let found = present
    identity.withLock { if $0 != found { $0 = nil } }
  }

  /// Writes a token. If that fails, the file stays as it is.
  func write(_ token: Secret, readableBy group: UInt32?) -> FileError? {
    do throws(FileError) {
      let written = try file.replace(with: token.bytes.array, old: nil, readableBy: group)
      identity.withLock { $0 = written }
      return nil
    } catch {
      return error
    }
  }

  /// The file's state; nil if there is none that can be used, which the next write reports.
  private var present: FileIdentity? {
    do throws(FileError) { return try file.identity() } catch { return nil }
  }

  /// Removes the file, unless another process has replaced it.
  func remove() {
    guard let written = identity.withLock({ $0 }) else { return }
    identity.withLock { $0 = nil }
    // One that cannot be removed has a token that ends soon.
    do throws(FileError) { try file.remove(ifStill: written) } catch {}
  }
}

/// A file in which programs find a route's token.
package struct TokenFile: Sendable, Hashable {
  /// Position of the route; also the index of its metrics.
  package let row: Int
  package let path: String
  /// The group that may read the file; nil: its owner alone may.
  package let group: UInt32?
  /// Seconds that the token in the file lives at least.
  package let leastLife: Int64

  package init(row: Int, path: String, group: UInt32? = nil, leastLife: Int64) {
    self.row = row
    self.path = path
    self.group = group
    self.leastLife = leastLife
  }
}

enum TokenFileContents: Hashable {
  case none
  case held
  /// Another token, which may stay until an instant; nil: no longer.
  case other(until: UnixTime?)
}

/// The next step for a token file.
enum TokenFileStep: Hashable {
  case write
  /// The file is as it must be until an instant; nil: until there is another token.
  case wait(until: UnixTime?)
  /// The held token lives too short: another one is requested.
  case renew
  case remove

  /// - Parameters:
  ///   - held: the expiry of the held token; nil if none is held.
  ///   - retryAt: the end of the pause after a failed write; nil if there is none.
  ///   - hasAsked: true if another token was requested in place of the held one.
  init(
    held expiry: UnixTime?, contents: TokenFileContents, leastLife: Int64, retryAt: UnixTime?, hasAsked: Bool,
    now: UnixTime
  ) {
    let end = expiry.map { $0 + -leastLife }
    guard let end, now < end else {
      self =
        if end != nil, !hasAsked { .renew } else if contents == .none { .wait(until: nil) } else { .remove }
      return
    }
    switch contents {
    case .held: self = .wait(until: end)
    case _ where retryAt.map { $0 <= now } ?? true: self = .write
    // The token of before serves the readers until its own end.
    case .other(let until?) where now < until: self = .wait(until: retryAt.map { min($0, until) })
    case .other: self = .remove
    case .none: self = .wait(until: retryAt)
    }
  }
}

package struct TokenFileStatus: Sendable, Hashable {
  package let path: String
  /// The expiry of the token in the file; nil if there is no file.
  package let expiresAt: UnixTime?
  /// The reason why it could not be written; nil if the last write succeeded.
  package let reason: String?
}
