// The place behind a shared cache: what a file or a Redis server has to offer so that one `CacheStore` serves for both.

internal import Bytes
internal import Platform
internal import Tokens

/// A place where processes share the unified cache.
///
/// `CacheStore` calls `read` and `replace` one at a time, and `replace` only after a `read`. The other functions may be
/// called at any time.
protocol CacheBackend: Sendable {
  /// How long after a failed write the next attempt is made, if no change comes before.
  var retryPause: Duration { get }

  /// Whether the place is not asked at present, because it failed a moment ago.
  var isPaused: Bool { get }

  /// Calls `look` whenever others may have changed the document, until `look` returns false.
  func watch(_ look: @escaping @Sendable () async -> Bool)

  /// The document, where it is not the one that was read or written last.
  func read() async throws(CacheStoreError) -> CacheDocument?

  /// Writes what `change` makes of the document that was read last; nil where others have changed that meanwhile.
  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement?

  /// Locks out other writers; nil where writers need no lock, because `replace` finds out what others have changed.
  func lock() async throws(CacheStoreError) -> CacheLease?

  /// Takes what writers take and gives it back. Nothing is written.
  func tryLock() async throws(CacheStoreError)

  /// Waits until no other process holds `key`, and holds it; nil after `limit`, and where the place has no such lock.
  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease?

  /// A small text beside the document.
  func text(_ name: SharedTextName) -> any SharedText
}

/// A written document.
struct CacheReplacement: Sendable {
  var document: CacheDocument
  /// Bytes written; 0 where the place held all of it already.
  var bytes: Int
}

/// Something held against other processes, until it is ended.
struct CacheLease: Sendable {
  let end: @Sendable () async -> Void
}

/// What is kept beside the cache.
enum SharedTextName: String {
  /// What sign-ins have to bring.
  case challenges
  /// What is known of providers.
  case providers

  /// Seconds after the last write for which a server keeps it.
  var lifetime: Int64 {
    switch self {
    case .challenges: SignInRequirement.lifetime
    case .providers: 365 * 86_400
    }
  }
}

/// A small text beside the cache that several processes change. It holds no token; losing it loses a convenience.
protocol SharedText: Sendable {
  /// The text, empty where there is none; nil where it cannot be read, or not soon.
  func read() async -> [UInt8]?

  /// Replaces the text by what `change` makes of it, unless that is the same or nil. Returns whether that succeeded.
  /// `change` may be applied more than once.
  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool
}

/// A lease's key as a number (FNV-1a), the same in every process. Two keys with one number wait for each other, no
/// more.
struct LeaseDigest {
  let value: UInt64

  init(_ key: String) {
    value = key.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
