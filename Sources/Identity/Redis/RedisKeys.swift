// Owns the names of the keys that a cache has on a server.

/// The keys under one prefix.
struct RedisKeys: Sendable {
  /// What all of them begin with.
  let prefix: String

  /// How many writes there have been.
  var counter: String { prefix + "version" }
  /// That number at the last write that took a shard away.
  var removal: String { prefix + "removed" }
  /// The names of the shards, sorted by the write that made them what they are.
  var index: String { prefix + "index" }
  /// A shard: its version and its entries.
  func shard(_ name: String) -> String { prefix + name }

  /// What sign-ins have to bring, of all routes.
  var challenges: String { prefix + "challenges" }

  /// What is remembered of providers.
  var providers: String { prefix + "providers" }

  /// The lease of whoever asks a provider for something. The name is a digest (FNV-1a): two with one digest wait for one another, and
  /// nothing worse.
  func lease(_ key: String) -> String {
    let digest = key.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 as UInt64 }
    return prefix + "lock:" + String(digest, radix: 16)
  }
}
