// Owns what the rest of the module asks of a place that keeps the unified cache. Where that is, and who else writes there, is each
// implementation's.

public import Network
public import Tokens

/// Where the unified cache lives: in this process, or in a file that others write too.
public protocol TokenCacheStore: Sendable {
  /// The document as last seen. Never waits for a disk or a lock.
  func snapshot() async -> CacheDocument

  /// What keeps the document from being what others have written: the last look failed. nil where it did not.
  var blindness: CacheStoreError? { get }

  /// Looks now whether others have changed the document, instead of waiting to hear of it. For those who would otherwise turn somebody
  /// away who has just signed in.
  func look() async

  /// Reads again what others may have written, applies `change` to that, and writes the result, all under the lock that every
  /// writer takes. Returns what `change` returned.
  ///
  /// `change` must be a function of the document alone: it may be applied more than once. Where the place cannot be written, it is
  /// applied in memory, applied again to what is there at the next chance, and the reason is thrown: nothing is lost then as long
  /// as the process lives.
  func modify<Result: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) -> Result
  ) async throws(CacheStoreError) -> Result

  /// Takes the lock that writers take and gives it back, to see whether that can be done. Nothing is written.
  func tryLock() async throws(CacheStoreError)

  /// Runs `body` while no other process that uses the place runs one for `key`, and after a look at what they left there: `body`
  /// asks `snapshot()` first whether its work is still to be done.
  ///
  /// After `limit`, and where there is no such lock, `body` runs without one: two token requests are better than none.
  func withRefreshLock<Result: Sendable>(
    _ key: String, within limit: TimeSpan, _ body: @Sendable () async -> Result
  ) async -> Result

  /// What is remembered of providers beside the document.
  var tenants: KnownTenants { get }

  /// A new stream that yields after each change of the document, by whomever. Several changes may be one element.
  var changes: AsyncStream<Void> { get }
}

extension TokenCacheStore {
  /// The same for work that uses nothing up.
  public func withRefreshLock<Result: Sendable>(
    _ key: String, _ body: @Sendable () async -> Result
  ) async -> Result {
    await withRefreshLock(key, within: TokenAcquisition.lockWait, body)
  }

  /// What there is for a request. Where nobody is found by a store that cannot see, that is not known.
  func rights(for key: AcquisitionKey, realm: String?, now: UnixTime, family: String?) async -> CachedRights {
    // First: what is read in between makes the answer better, not worse.
    let isBlind = blindness != nil
    var rights = await snapshot().rights(for: key, realm: realm, now: now, family: family)
    if isBlind, case .nothing(let reason) = rights.means, reason == .noAccount || reason == .noTokens {
      rights.means = .unknown
    }
    return rights
  }
}
