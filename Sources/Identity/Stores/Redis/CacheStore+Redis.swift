internal import Bytes
package import Platform
package import Tokens

extension CacheStore {
  /// The number of shards of which a process holds all, about 125 MB. Of more it holds those asked for.
  package static let holdLimit = 10_000

  /// The cache on a Redis server, one key for each person and host and one for each application's own tokens. If the
  /// server cannot be used, the cache is empty until it can.
  /// - Parameter tls: trust, and our certificate if the server asks for one; nil is plain TCP.
  package static func redis(
    _ server: RedisServer, tokens: RedisTokens? = nil, tls: TLSContext? = nil, seal: CacheSeal = .none,
    loop: EventLoop, resolver: Resolver, timing: RedisTiming = RedisTiming(), holdLimit: Int = holdLimit,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void = { _ in }
  ) async -> CacheStore {
    let way = RedisWay(server: server, tokens: tokens, tls: tls, loop: loop, resolver: resolver, timing: timing)
    let client: any RedisTransport =
      server.arrangement == .cluster
      ? RedisCluster(way, observe: observe) : RedisClient(way, server.places[0], observe: observe)
    return await redis(
      over: client, prefix: server.keyPrefix, seal: seal, timing: timing, holdLimit: holdLimit, observe: observe)
  }

  /// The same over another way to a server.
  package static func redis(
    over transport: any RedisTransport, prefix: String, seal: CacheSeal = .none, timing: RedisTiming = RedisTiming(),
    surroundings: StoreSurroundings = StoreSurroundings(), holdLimit: Int = holdLimit,
    observe: @escaping @Sendable (CacheStoreEvent) -> Void
  ) async -> CacheStore {
    await open(
      RedisBackend(
        transport, prefix: prefix, seal: seal, timing: timing, surroundings: surroundings, holdLimit: holdLimit),
      surroundings: surroundings, observe: observe)
  }
}

/// Time limits of a Redis server's answers, and the life of leases.
package struct RedisTiming: Sendable {
  /// To connect and authenticate.
  package var connect = TimeSpan.seconds(2)
  /// For a sentinel's answer.
  package var sentinel = TimeSpan.seconds(1)
  /// For the answers to commands that were sent together.
  package var command = TimeSpan.seconds(5)
  /// Interval of polls for changes: those of others are seen within a second.
  package var look = Duration.milliseconds(500)
  /// Life of a lease without renewal: after a replica died, the longest wait of the others.
  package var lease = TimeSpan.seconds(6)
  /// Wait for another server to take over, and life of a lease if one can.
  package var failover = TimeSpan.seconds(30)
  /// Waits between two renewals of a lease; nil: as every other pause.
  package var leasePause: StoreSurroundings.Pause?

  package init() {}
}
