// Owns the step from where the settings say tokens are kept to a store that keeps them there.

import Configuration
import Identity
import Network
import Tokens

/// Refuses a cache file that must not be used, or a server that could not be trusted, where it is written in the configuration. A file need
/// not be there yet; its directory must. A server is not asked.
func checkCache(of settings: Settings) throws(ConfigurationError) {
  switch settings.cache {
  case .memory: break
  case .file(let path):
    do throws(SharedFileError) {
      let file = SharedFile(path: path.value)
      _ = try file.identity()
      try file.checkNeighbours(FileCacheStore.neighbours)
    } catch {
      throw ConfigurationError([path.issue("\(path.value) \(error.sentence)")])
    }
    if !settings.allowsReadableSecrets, let mode = FileExposure.mode(of: path.value) {
      throw ConfigurationError([path.exposed(path.value, mode: mode)])
    }
  case .redis(let redis): _ = try RedisServer(redis)
  }
}

/// The store that the settings ask for; what is there is read before this returns. `observe` hears of its troubles. A server's connection
/// lives on `loop`, or where there is none yet on one of its own.
func openCache(
  _ settings: CacheSettings, loop: EventLoop? = nil, resolver: Resolver = Resolver(),
  observe: @escaping @Sendable (CacheStoreEvent) -> Void
) async -> any TokenCacheStore {
  switch settings {
  case .memory: return MemoryCacheStore()
  case .file(let path): return await FileCacheStore.open(path: path.value, observe: observe)
  case .redis(let redis):
    guard let loop = loop ?? startLoops(1)?.first else { preconditionFailure("the system gives no event loop") }
    do throws(ConfigurationError) {
      return await RedisCacheStore.open(try RedisServer(redis), loop: loop, resolver: resolver, observe: observe)
    } catch {
      // `checkCache` loaded them a moment ago.
      preconditionFailure("the cache's certificates cannot be used any more: \(error)")
    }
  }
}

extension ChallengeMemory {
  /// The memory that is shared as the cache is; nil where the cache is not.
  convenience init?(
    of settings: CacheSettings, _ store: any TokenCacheStore, subscriptions: [String: TokenSubscription],
    now: @escaping @Sendable () -> UnixTime
  ) {
    if let path = settings.path {
      self.init(beside: path, subscriptions: subscriptions, now: now)
    } else if let server = store as? RedisCacheStore {
      self.init(on: server, subscriptions: subscriptions, now: now)
    } else {
      return nil
    }
  }
}

extension CacheSettings {
  /// The cache's file; nil where there is none.
  var path: String? {
    if case .file(let path) = self { path.value } else { nil }
  }

  /// Where the cache is, for people: its file or its server, without user and password. nil where it ends with the process.
  var place: String? {
    switch self {
    case .memory: nil
    case .file(let path): path.value
    case .redis(let redis): redis.address.value.description
    }
  }
}

extension CacheSettings {
  /// The key of the configuration that says where.
  var kind: CacheCondition.Kind {
    switch self {
    case .memory: .memory
    case .file: .file
    case .redis: .redis
    }
  }

  /// Whether another place is meant, or the same one under other rights.
  func isElsewhere(than other: CacheSettings) -> Bool {
    if case .redis(let mine) = self, case .redis(let others) = other {
      return place != other.place || mine.user != others.user || mine.password != others.password
        || mine.keyPrefix != others.keyPrefix
    }
    return place != other.place
  }
}

extension RedisServer {
  /// The server of the settings, with its certificates loaded.
  init(_ settings: RedisSettings) throws(ConfigurationError) {
    let address = settings.address.value
    var tls: TLSContext?
    if address.isSecure {
      tls = try TLSContexts.client(
        caFile: settings.caFile, certificate: settings.clientCertificate, user: settings.address)
    }
    self.init(
      host: address.host, port: address.port, tls: tls, user: settings.user, password: settings.password,
      database: address.database, keyPrefix: settings.keyPrefix)
  }
}

extension SharedFileError {
  /// The reason as the end of a sentence that begins with the path.
  fileprivate var sentence: String {
    switch self {
    case .untrusted, .obstructed, .changedWhileRead: description
    case .noDirectory: "is in a directory that does not exist"
    case .tooLarge: "is \(description)"
    case .system: "cannot be used: \(description)"
    }
  }
}
