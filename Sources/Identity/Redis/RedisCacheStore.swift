// Owns the shared cache of replicas that have a Redis server in common: the document that everybody here reads, the changes on their way to
// the server, and what the other replicas did. How it is read, written and locked stands in the extensions.

public import Network
internal import Telemetry
public import Tokens

/// The unified cache on a Redis server, one key for each person and host and one for each application's own tokens.
///
/// Everything is held in memory as well: `snapshot` waits for nothing, and while the server is away the held tokens serve.
public final class RedisCacheStore: TokenCacheStore {
  typealias Change = @Sendable (inout CacheDocument) -> Void

  /// A change, and who waits for it to be on the server.
  struct Job {
    var change: Change
    var done: CheckedContinuation<CacheStoreError?, Never>
    let scope = RequestScope.current
  }

  struct State {
    /// What the server holds, as last seen.
    var cache = ShardedCache()
    /// What the server counted when all of it was last seen.
    var counter: Int64 = 0
    /// The highest version ever seen here.
    var highest: Int64 = 0
    /// On which connection that was; 0 on none.
    var connection: UInt64 = 0
    /// What is served: the server's, with the changes that are not there yet.
    var document = CacheDocument()
    var unwritten: [Change] = []
    var waiting: [Job] = []
    var isWriting = false
    var look: Task<RedisFailure?, Never>?
    var trouble: RedisFailure?
    /// Why the last reading failed.
    var readTrouble: RedisFailure?
    var listeners = CacheListeners()
  }

  /// What logs and people are shown: where the server is, without user and password.
  public let place: String
  let client: RedisClient
  let keys: RedisKeys
  /// What is remembered of providers beside the shards.
  public let tenants: KnownTenants
  let state = Locked(State())
  /// Readings and writings, one after another.
  let turns = TaskQueue()
  let observe: @Sendable (CacheStoreEvent) -> Void
  /// Waits between two renewals of a lease.
  let leasePause: Pause

  /// Returns when the time is over or the task is cancelled.
  package typealias Pause = @Sendable (Duration) async -> Void

  /// The pause of a real store.
  package static let sleep: Pause = { pause in do { try await Task.sleep(for: pause) } catch {} }

  /// How often the server is asked whether others changed something: what they do is seen within a second.
  static let lookPause = Duration.milliseconds(500)

  private init(
    _ server: RedisServer, loop: EventLoop, resolver: Resolver, leasePause: @escaping Pause,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) {
    place = server.description
    client = RedisClient(server, loop: loop, resolver: resolver)
    keys = RedisKeys(prefix: server.keyPrefix)
    tenants = KnownTenants(text: SideKey(client: client, key: keys.providers, lifetime: 365 * 86_400))
    self.observe = observe
    self.leasePause = leasePause
  }

  /// A store that has read what the server holds, and hears of changes. Where the server cannot be used, the cache is empty until it can,
  /// and `observe` is told.
  public static func open(
    _ server: RedisServer, loop: EventLoop, resolver: Resolver,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void = { _ in }
  ) async -> RedisCacheStore {
    await open(server, loop: loop, resolver: resolver, leasePause: sleep, observe: observe)
  }

  /// The same, with a clock of the caller's for the renewals of leases.
  package static func open(
    _ server: RedisServer, loop: EventLoop, resolver: Resolver, leasePause: @escaping Pause,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> RedisCacheStore {
    let store = RedisCacheStore(server, loop: loop, resolver: resolver, leasePause: leasePause, observe: observe)
    _ = await store.reread()
    Task { [weak store] in await poll { store } }
    return store
  }

  private static func poll(_ store: () -> RedisCacheStore?) async {
    while true {
      do { try await Task.sleep(for: lookPause) } catch { return }
      guard let store = store() else { return }
      await store.look()
    }
  }

  /// The document as last seen.
  public func snapshot() async -> CacheDocument {
    state.withLock { $0.document }
  }

  /// Asks the server whether others changed something, unless it is being left alone.
  public func look() async {
    if client.pausing == nil { _ = await reread() }
  }

  /// What keeps the store from its server; nil where nothing does.
  public var trouble: CacheStoreError? {
    state.withLock { $0.trouble.map { .server($0) } }
  }

  /// Why the server could not be read when it was asked last; nil where it could.
  public var blindness: CacheStoreError? {
    state.withLock { $0.readTrouble.map { .server($0) } }
  }

  /// Applies `change` to what the server holds now, and writes the shards in which that makes a difference. Changes that come together are
  /// written together.
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

  /// A stream of the changes from now on, ours and others'.
  public var changes: AsyncStream<Void> {
    state.withLock { $0.listeners.add() }
  }
}

extension RedisServer: CustomStringConvertible {
  /// Scheme, host, port and database: nothing of who we are.
  public var description: String {
    "\(tls == nil ? "redis" : "rediss")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
  }
}
