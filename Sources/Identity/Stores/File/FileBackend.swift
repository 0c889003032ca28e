package import Bytes
internal import Platform
internal import Tokens

extension CacheStore {
  /// The ends of the names of files that are made beside the cache's.
  package static let fileNeighbours = [".lockfile", ".refreshlock", ".challenges", ".challenges.lockfile"]
  /// Time that a writer waits for the others, as in msal-extensions.
  package static let fileLockWait = TimeSpan.seconds(5)

  /// The cache in the file at `path`, which every MSAL may write at the same time (msal-extensions' protocol). The file
  /// and its locks are made at the first write; its changes are followed as long as the store lives.
  ///
  /// A file that cannot be read, or that must not be used, is an empty cache until it can.
  public static func file(path: String) async -> CacheStore { await file(path: path) { _ in } }

  /// The same, with the wait for its lock and an observer of its events.
  package static func file(
    path: String, seal: CacheSeal = .none, lockWait: TimeSpan = fileLockWait,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> CacheStore {
    await open(FileBackend(path: path, seal: seal, lockWait: lockWait, observe: observe), observe: observe)
  }
}

/// A cache in a file: msal-extensions' protocol, with its gaps closed.
final class FileBackend: CacheBackend {
  private let path: String
  private let seal: CacheSeal
  private let file: Locked<CacheFile>
  private let hints: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
  private let queue = FileQueue("cache")
  private let writeLock: LockFile
  private let lockWait: TimeSpan
  private let refreshLocks: RegionLock
  private let state = Locked(State())
  private let observe: @Sendable (CacheStoreEvent) -> Void

  private struct State {
    var watch: DirectoryWatch?
    var heldLocks = 0
    /// True if a reading has waited as long as readings may for another program's write: the next ones do not.
    var isStalled = false
    var isLookScheduled = false
  }

  /// The pause between two looks at a text that may be half a write.
  private static let pause = Duration.milliseconds(100)
  /// Interval of looks at the file if changes are not notified: changes of others are seen within a second.
  private static let pollPause = Duration.milliseconds(700)
  /// Time in which changes gather before the file is read: MSAL for Python writes up to five times for one sign-in.
  private static let gatherPause = Duration.milliseconds(20)

  let retryPause = Duration.seconds(10)
  let isPaused = false

  init(path: String, seal: CacheSeal, lockWait: TimeSpan, observe: @escaping @Sendable (CacheStoreEvent) -> Void) {
    (self.path, self.seal) = (path, seal)
    self.lockWait = lockWait
    self.observe = observe
    file = Locked(CacheFile(path: path, seal: seal))
    hints = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    writeLock = LockFile(path: path + ".lockfile", name: "bearer-proxy", queue: queue)
    // Another file than the lock above, which stops every writer and must not be held during a request to a provider.
    refreshLocks = RegionLock(path: path + ".refreshlock", queue: queue)
  }

  deinit {
    hints.continuation.finish()
  }

  func text(_ name: SharedTextName) -> any SharedText {
    let path = "\(path).\(name.rawValue)"
    return SealedText(text: FileText(path: path), seal: seal, place: CacheFile.place(path))
  }

  // MARK: Reading and writing

  func read(mayForget: Bool) async throws(CacheStoreError) -> CacheDocument? {
    let began = MonotonicTime.now
    // With the lock in hand, other writers are waiting.
    let deadline = began + UnfinishedWrite.rest + (holdsLock ? UnfinishedWrite.rest : lockWait)
    var hasWaited = false
    defer { if hasWaited { observe(.waited(.reading, Duration(MonotonicTime.now - began))) } }
    while true {
      let (result, document) = await look()
      if case .success(.unfinished(let lock)) = result {
        let isStalled = state.withLock { state in
          if deadline <= .now { state.isStalled = true }
          return state.isStalled
        }
        if !isStalled {
          hasWaited = true
          do { try await Task.sleep(for: Self.pause) } catch { return nil }
          continue
        }
        lookAgainLater()
        if case .held(let holder) = lock { throw .locked(holder) }
        throw .file(.changedWhileRead)
      }
      state.withLock { $0.isStalled = false }
      switch try result.get() {
      case .different: return document
      case .same, .unfinished: return nil
      case .abandoned:
        guard holdsLock else { throw .abandoned }
        file.withLock { $0.takeOverAbandoned() }
        return nil
      }
    }
  }

  private func look() async -> (Result<CacheFileLook, CacheStoreError>, CacheDocument) {
    let isOurs = holdsLock
    return await queue.run { [file, writeLock] in
      var known = file.withLock { $0 }
      defer { file.withLock { [known] in $0 = known } }
      let result = Result { () throws(CacheStoreError) in try known.look { isOurs ? .free : writeLock.sight() } }
      return (result, known.document)
    }
  }

  /// Looks at an unfinished file again without a notification: its writer may have ended.
  private func lookAgainLater() {
    let isScheduled = state.withLock { state in
      defer { state.isLookScheduled = true }
      return state.isLookScheduled
    }
    if isScheduled { return }
    Task { [weak self] in
      do { try await Task.sleep(for: Duration(UnfinishedWrite.rest)) } catch {}
      self?.state.withLock { $0.isLookScheduled = false }
      self?.hints.continuation.yield()
    }
  }

  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement? {
    try await queue.run { [file] in
      Result { () throws(CacheStoreError) -> CacheReplacement? in
        var known = file.withLock { $0 }
        // A program that does not know the lock may have written since it was taken.
        guard try known.look(lock: { .free }) == .same else { return nil }
        var document = known.document
        change(&document)
        let bytes = try known.write(document)
        file.withLock { [known] in $0 = known }
        return (document, bytes)
      }
    }.get()
  }

  // MARK: Locks

  /// True if this process keeps other writers out.
  private var holdsLock: Bool { state.withLock { $0.heldLocks > 0 } }

  func lock() async throws(CacheStoreError) -> CacheLease? {
    let began = MonotonicTime.now
    defer { observe(.waited(.file, Duration(MonotonicTime.now - began))) }
    let held: HeldLockFile
    do throws(FileError) {
      held = try await writeLock.take(within: lockWait)
    } catch {
      switch error {
      case .held(let holder): throw .locked(holder)
      case .system(let error): throw .lock(error)
      default: throw .file(error)
      }
    }
    state.withLock { $0.heldLocks += 1 }
    return CacheLease { [queue, state] in
      await queue.run { held.release() }
      state.withLock { $0.heldLocks -= 1 }
    }
  }

  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? {
    do throws(SystemError) {
      // Two keys with one number only wait for each other.
      guard let held = try await refreshLocks.take(key.fnv1a, within: limit) else { return nil }
      return CacheLease { withExtendedLifetime(held) {} }
    } catch {
      // A read-only file system, for example. The processes do not know of one another's results there anyway.
      return nil
    }
  }

  // MARK: Watching

  func watch(_ look: @escaping @Sendable () async -> Bool) {
    startWatching()
    Task { [stream = hints.stream] in
      for await _ in stream {
        do { try await Task.sleep(for: Self.gatherPause) } catch {}
        guard await look() else { return }
      }
    }
  }

  /// Follows changes by notifications of the system, or if it gives none, by looking.
  private func startWatching() {
    if !startWatch() { Task { [weak self] in await Self.poll { self } } }
  }

  private func startWatch() -> Bool {
    do throws(SystemError) {
      let watch = try DirectoryWatch(path: path) { [weak self] event in
        switch event {
        case .changed: self?.hints.continuation.yield()
        case .lost: self?.lose()
        }
      }
      state.withLock { $0.watch = watch }
      return true
    } catch {
      // No directory yet, a file system on another machine, or too many watches: looking always works.
      return false
    }
  }

  /// Records that the directory is gone. Another may come.
  private func lose() {
    state.withLock { $0.watch = nil }
    hints.continuation.yield()
    startWatching()
  }

  private static func poll(_ backend: () -> FileBackend?) async {
    while true {
      do { try await Task.sleep(for: pollPause) } catch { return }
      guard let backend = backend() else { return }
      let isWatching = backend.startWatch()
      backend.hints.continuation.yield()
      if isWatching { return }
    }
  }
}

/// A text in a file of its own, written like the cache.
struct FileText: SharedText {
  private let file: SharedFile
  private let queue = FileQueue("text")
  private let lock: LockFile

  init(path: String) {
    file = SharedFile(path: path)
    lock = LockFile(path: path + ".lockfile", name: "bearer-proxy", queue: queue)
  }

  func read() async -> [UInt8]? {
    await queue.run { do throws(FileError) { return try file.read()?.bytes ?? [] } catch { return nil } }
  }

  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
    do throws(FileError) {
      let held = try await lock.take()
      try await queue.run {
        Result { () throws(FileError) -> Void in
          defer { held.release() }
          let old = try file.read()
          let text = old?.bytes ?? []
          if let next = change(text), next != text { _ = try file.replace(with: next, old: old?.identity) }
        }
      }.get()
      return true
    } catch {
      return false
    }
  }
}
