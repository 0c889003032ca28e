// Owns the cache that ends with the process.

public import Network
public import Tokens

/// A cache in memory. Other processes do not see it.
public final class MemoryCacheStore: TokenCacheStore {
  private struct State {
    var document: CacheDocument
    var listeners = CacheListeners()
  }

  private let state: Locked<State>
  /// What is remembered of providers as long as the process lives.
  public let tenants = KnownTenants()

  /// A store that holds `document` at first.
  public init(_ document: CacheDocument = CacheDocument()) {
    state = Locked(State(document: document))
  }

  /// The document.
  public func snapshot() async -> CacheDocument {
    state.withLock { $0.document }
  }

  /// There is nothing to be read.
  public var blindness: CacheStoreError? { nil }

  /// Nobody else can change the document.
  public func look() async {}

  /// Applies `change`. Never throws.
  public func modify<Result: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) -> Result
  ) async throws(CacheStoreError) -> Result {
    state.withLock { state in
      let result = change(&state.document)
      state.listeners.tell()
      return result
    }
  }

  /// There is nobody to be locked out.
  public func tryLock() async throws(CacheStoreError) {}

  /// Runs `body`: no other process shares this cache.
  public func withRefreshLock<Result: Sendable>(
    _ key: String, within limit: TimeSpan, _ body: @Sendable () async -> Result
  ) async -> Result {
    await body()
  }

  /// A stream of the changes from now on.
  public var changes: AsyncStream<Void> {
    state.withLock { $0.listeners.add() }
  }
}
