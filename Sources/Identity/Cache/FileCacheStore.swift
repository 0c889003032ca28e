// Owns the shared cache of a process: the document that everybody here reads, the changes on their way to the file, and what the
// file's other writers did. How the file is read and written is CacheFile's; when, is said in the extensions.

public import Network
internal import Telemetry
public import Tokens

/// The unified cache in a file that every MSAL may write at the same time (msal-extensions' protocol, and its gaps closed).
///
/// Disk and lock are waited for on a queue of their own; `snapshot` waits for neither.
public final class FileCacheStore: TokenCacheStore {
  typealias Change = @Sendable (inout CacheDocument) -> Void

  /// A change, and who waits for it to be in the file.
  struct Job {
    var change: Change
    var done: CheckedContinuation<CacheStoreError?, Never>
    let scope = RequestScope.current
  }

  struct State {
    var file: CacheFile
    /// What the file holds, with the changes that are not in it yet.
    var document = CacheDocument()
    var unwritten: [Change] = []
    var waiting: [Job] = []
    var isWriting = false
    var isLooking = false
    var mustLookAgain = false
    var isRetryScheduled = false
    var readTrouble: CacheStoreError?
    var writeTrouble: CacheStoreError?
    var listeners = CacheListeners()
    var watch: DirectoryWatch?
  }

  /// The path as configured.
  public let path: String
  let state: Locked<State>
  let queue = FileQueue("cache")
  let lock: LockFile
  let lockWait: TimeSpan
  let observe: @Sendable (CacheStoreEvent) -> Void
  private let refreshLocks: RegionLock
  /// What is remembered of providers beside the file.
  public let tenants: KnownTenants

  /// The ends of the names of files that are made beside the cache's.
  public static let neighbours = [".lockfile", ".refreshlock", ".challenges", ".challenges.lockfile"]
  /// How long a writer waits for the others, as msal-extensions does.
  public static let lockWait = TimeSpan.seconds(5)

  private init(path: String, lockWait: TimeSpan, observe: @escaping @Sendable (CacheStoreEvent) -> Void) {
    self.path = path
    self.lockWait = lockWait
    self.observe = observe
    state = Locked(State(file: CacheFile(path: path)))
    tenants = KnownTenants(text: SideFile(path: path + ".providers"))
    lock = LockFile(path: path + ".lockfile", name: "bearer-proxy", queue: queue)
    // Another file than the lock above: that one stops every writer, and must not be held while a provider is asked.
    refreshLocks = RegionLock(path: path + ".refreshlock", queue: queue)
  }

  /// A store that has read the file at `path`, and hears of its changes. Where there is no file, the cache is empty; where it
  /// cannot be read, too, and `observe` is told.
  public static func open(
    path: String, lockWait: TimeSpan = lockWait, observe: @escaping @Sendable (CacheStoreEvent) -> Void = { _ in }
  ) async -> FileCacheStore {
    let store = FileCacheStore(path: path, lockWait: lockWait, observe: observe)
    // First the watch: what is written between the two is heard of.
    store.watch()
    _ = await store.reread()
    return store
  }

  /// The document as last seen.
  public func snapshot() async -> CacheDocument {
    state.withLock { $0.document }
  }

  /// Reads the file if it is another than the one that is known.
  public func look() async {
    _ = await reread()
  }

  /// What keeps the store from its file; nil where nothing does.
  public var trouble: CacheStoreError? {
    state.withLock { $0.readTrouble ?? $0.writeTrouble }
  }

  /// Why the file could not be read when it was looked at last; nil where it could.
  public var blindness: CacheStoreError? {
    state.withLock { $0.readTrouble }
  }

  /// Applies `change` to what the file holds now, and replaces the file. Changes that come together are written together.
  public func modify<Result: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) -> Result
  ) async throws(CacheStoreError) -> Result {
    let result = Locked<Result?>(nil)
    let error = await withCheckedContinuation { continuation in
      submit(
        Job(
          change: { document in
            let value = change(&document)
            result.withLock { $0 = value }
          }, done: continuation))
    }
    if let error { throw error }
    guard let value = result.withLock({ $0 }) else { preconditionFailure("a change was written and not applied") }
    return value
  }

  /// Runs `body` alone among all processes that share the file and use the same key, after a look at the file.
  public func withRefreshLock<Result: Sendable>(
    _ key: String, within limit: TimeSpan, _ body: @Sendable () async -> Result
  ) async -> Result {
    let held: HeldRegion?
    let began = MonotonicTime.now
    do throws(SystemError) {
      held = try await refreshLocks.take(Self.index(of: key), within: limit)
    } catch {
      // A read-only file system, say. The processes do not know of one another's results there anyway.
      held = nil
    }
    observe(.waited(.refresh, Duration(MonotonicTime.now - began)))
    _ = await reread()
    let result = await body()
    withExtendedLifetime(held) {}
    return result
  }

  /// A stream of the changes from now on, ours and others'.
  public var changes: AsyncStream<Void> {
    state.withLock { $0.listeners.add() }
  }

  /// FNV-1a: the same number in every process. Two keys with one number wait for one another, and nothing worse.
  private static func index(of key: String) -> UInt64 {
    key.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
