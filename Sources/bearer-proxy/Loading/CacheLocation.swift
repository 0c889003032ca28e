import Bytes
import Configuration
import HTTPClient
import Identity
import Platform
import Tokens

/// A checked place for tokens: the file may be used, or the server's certificates are loaded. Opening it does not
/// depend on any of these files again.
enum CacheLocation: Sendable {
  case memory
  case file(String, CacheSeal)
  /// The server, and what it is trusted by; nil is plain TCP. `entrance` has the tokens in the place of a password.
  case redis(RedisServer, tls: TLSContext?, entrance: CacheEntrance?, CacheSeal)

  /// Refuses a cache file that must not be used, or a server that could not be trusted, with its place in the
  /// configuration. A file need not be there yet; its directory must. A server is not asked.
  /// - Parameter entrance: the application whose tokens open a server.
  init(_ settings: Settings, entrance: CacheEntrance? = nil) throws(ConfigurationError) {
    let seal = try attempt(try CacheSeal(settings.cacheKeys)) { (error: CryptoError) in
      ConfigurationError([
        ConfigurationIssue(.whole(""), "cache.key_file: the cryptography library fails: \(error)")
      ])
    }
    switch settings.cache {
    case .memory: self = .memory
    case .file(let path):
      do throws(FileError) {
        let file = SharedFile(path: path.value)
        _ = try file.identity()
        try file.checkNeighbours(CacheStore.fileNeighbours)
      } catch {
        throw ConfigurationError([path.issue("\(path.value) \(error.sentence)")])
      }
      if !settings.allowsReadableSecrets, let mode = FileExposure.mode(of: path.value) {
        throw ConfigurationError([path.exposed(mode: mode)])
      }
      self = .file(path.value, seal)
    case .redis(let redis):
      let tls =
        redis.server.value.isSecure
        ? try TLSContexts.client(caFile: redis.caFile, certificate: redis.clientCertificate, user: redis.server) : nil
      self = .redis(redis.server.value, tls: tls, entrance: entrance, seal)
    }
  }

  /// The store; what is there is read before this returns. `observe` hears of its troubles. The connection to a server
  /// lives on `loop`.
  func open(
    loop: EventLoop, resolver: Resolver, observeTokens: @escaping @Sendable (TokenEvent) -> Void = { _ in },
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> CacheStore {
    switch self {
    case .memory: .memory()
    case .file(let path, let seal): await .file(path: path, seal: seal, observe: observe)
    case .redis(let server, let tls, let entrance, let seal):
      await .redis(
        server, tokens: entrance?.open(Fetcher(loop: loop, resolver: resolver), observe: observeTokens), tls: tls,
        seal: seal, loop: loop, resolver: resolver, observe: observe)
    }
  }

  /// The cache's file or server for people, without user and password; nil if the cache ends with the
  /// process.
  var place: String? {
    switch self {
    case .memory: nil
    case .file(let path, _): path
    case .redis(let server, _, _, _): server.description
    }
  }

  /// The application whose tokens open a server.
  var entrance: CacheEntrance? {
    if case .redis(_, _, let entrance, _) = self { entrance } else { nil }
  }

  /// The kind that the configuration chose.
  var kind: CacheCondition.Kind {
    switch self {
    case .memory: .memory
    case .file: .file
    case .redis: .redis
    }
  }
}

extension CacheSettings {
  /// The cache's file; nil if there is none.
  var path: String? { if case .file(let path) = self { path.value } else { nil } }

  /// True if another place is meant, or the same one under other rights.
  func isElsewhere(than other: CacheSettings) -> Bool {
    switch (self, other) {
    case (.memory, .memory): false
    case (.file(let mine), .file(let others)): mine.value != others.value
    case (.redis(let mine), .redis(let others)):
      mine.server.value != others.server.value || mine.entra?.value != others.entra?.value
    case (.memory, _), (.file, _), (.redis, _): true
    }
  }
}

extension FileError {
  /// The reason as the end of a sentence that begins with the path.
  fileprivate var sentence: String {
    switch self {
    case .noDirectory: "is in a directory that does not exist"
    case .tooLarge: "is \(description)"
    case .system: "cannot be used: \(detail)"
    default: description
    }
  }
}
