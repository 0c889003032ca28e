package import Bytes
package import Tokens

/// A store in which processes share the unified cache.
///
/// `CacheStore` calls `read` and `replace` one at a time, and `replace` only after a `read`. The other functions may be
/// called at any time.
package protocol CacheBackend: Sendable {
  /// Pause from a failed write to the next attempt, if no change comes before.
  var retryPause: Duration { get }

  /// True if the place is not asked at present, because it failed a moment ago.
  var isPaused: Bool { get }

  /// True if no other library reads the place: entries may say more than theirs do.
  var isProxiesOwn: Bool { get }

  /// Calls `look` whenever others may have changed the document, until `look` returns false.
  func watch(_ look: @escaping @Sendable () async -> Bool)

  /// True if the document is all that the place has. Otherwise it is the part that was asked for.
  var isComplete: Bool { get }

  /// True if the next `read` adds an interest's part to the document.
  func lacks(_ interest: CacheInterest) -> Bool

  /// Called when readers see what the last `read` has returned.
  func serve()

  /// The document, if it is not the one that was read or written last.
  /// - Parameter mayForget: true if parts that were not asked for lately may be left out: no change is unwritten.
  func read(mayForget: Bool) async throws(CacheStoreError) -> CacheDocument?

  /// Calls `take` with documents that together hold all that the place has, until it returns false. Each holds people
  /// with all of their entries at these hosts; one whose entries change meanwhile may be in two.
  func pages(at hosts: [String], _ take: (CacheDocument) async -> Bool) async throws(CacheStoreError)

  /// Writes the result of `change` on the document that was read last; nil if others have changed that meanwhile.
  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement?

  /// Locks out other writers; nil if writers need no lock, because `replace` detects the changes of others.
  func lock() async throws(CacheStoreError) -> CacheLease?

  /// Takes the writers' lock and releases it. Nothing is written.
  func tryLock() async throws(CacheStoreError)

  /// Waits until no other process holds `key`, and holds it; nil after `limit`, and if the place has no such lock.
  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease?

  /// A small text beside the document.
  func text(_ name: SharedTextName) -> any SharedText
}

extension CacheBackend {
  package var isProxiesOwn: Bool { false }
  package var isComplete: Bool { true }
  package func lacks(_ interest: CacheInterest) -> Bool { false }
  package func serve() {}
  package func tryLock() async throws(CacheStoreError) { await (try await lock())?.end() }
  package func pages(at hosts: [String], _ take: (CacheDocument) async -> Bool) async throws(CacheStoreError) {}
}

/// A part of a cache that a caller needs: an application's own entries, and people at its hosts.
package struct CacheInterest: Sendable, Hashable {
  package enum People: Sendable, Hashable {
    case none
    /// The people whom a user name or an id may mean.
    case called(String)
    /// People with tokens of the application, a hundred of them if there are more; if there are none, others.
    case some
  }

  package var people: People
  package var hosts: [String]
  package var clientID: String

  package init(_ people: People, at authority: Authority, clientID: String) {
    self.people = people
    hosts = authority.environments
    self.clientID = clientID
  }
}

/// A written document, and the bytes written; 0 if the place held all of it already.
package typealias CacheReplacement = (document: CacheDocument, bytes: Int)

/// A lock against other processes, until it is ended.
package struct CacheLease: Sendable {
  /// True if it is held until changes are written that could not be at first: the next holder would not know them.
  let outlastsFailures: Bool
  package let end: @Sendable () async -> Void

  package init(outlastsFailures: Bool = false, end: @escaping @Sendable () async -> Void) {
    (self.outlastsFailures, self.end) = (outlastsFailures, end)
  }
}

/// A text beside the cache.
package enum SharedTextName: String {
  /// The requirements for sign-ins.
  case challenges
  case providers

  /// Seconds for which a server keeps it after the last write.
  var lifetime: Int64 {
    switch self {
    case .challenges: SignInRequirement.lifetime
    case .providers: 365 * 86_400
    }
  }
}

/// A small text beside the cache that several processes change. It holds no token; losing it loses a convenience.
package protocol SharedText: Sendable {
  /// The text, empty if there is none; nil if it cannot be read, or not soon.
  func read() async -> [UInt8]?

  /// Replaces the text by what `change` returns, if anything; it may be called again. True if that succeeded.
  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool
}
