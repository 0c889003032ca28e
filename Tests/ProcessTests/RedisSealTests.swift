// Encrypted entries on a Redis server: what the server shows, and what it takes to read them.

import Bytes
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct RedisSealTests {
  let loop: EventLoop
  let alice = SignedInPerson("alice")
  let bob = SignedInPerson("bob")

  init() throws {
    loop = try EventLoop()
  }

  private func open(_ redis: RedisPeer, _ seal: CacheSeal) async throws -> CacheStore {
    var server = try RedisServer("redis://127.0.0.1:\(redis.port)")
    server.keyPrefix = "bp:"
    return await CacheStore.redis(server, seal: seal, loop: loop, resolver: Resolver())
  }

  private func seal(_ keys: UInt8...) throws -> CacheSeal {
    try CacheSeal(keys.map { Secret([UInt8](repeating: $0, count: 32)) })
  }

  private func key(_ person: SignedInPerson) -> String { "bp:account:login.microsoftonline.com:\(person.home)" }

  private func failure(of store: CacheStore) -> CacheSealError? {
    if case .server(.sealed(_, let error)) = store.trouble { error } else { nil }
  }

  /// True if a store that knows nothing finds this generation with these keys.
  private func has(_ redis: RedisPeer, _ seal: CacheSeal, _ person: SignedInPerson, _ generation: Int) async throws
    -> Bool
  {
    try await open(redis, seal).has(person, generation)
  }

  @Test func `encrypted entries show nothing, and belong to their keys`() async throws {
    let redis = try await RedisPeer()
    let one = try await open(redis, seal(1))
    try await one.add(alice)
    try await one.add(bob)
    _ = await one.text(.challenges)?.change { _ in Array("alice must sign in".utf8) }
    let entries = try await redis.cli("hget", key(alice), "entries")
    #expect(entries.contains("bearer-proxy cache 1") && !entries.contains("at-alice") && !entries.contains("secret"))
    let all = try await redis.cli("eval", Self.dump, "0")
    #expect(!all.contains("at-") && !all.contains("rt-") && !all.contains("sign in"))
    #expect(try await has(redis, seal(1), bob, 0))
    #expect(failure(of: try await open(redis, .none)) == .keyless(key: Self.name))
    let stranger = try await open(redis, seal(2))
    #expect(failure(of: stranger) == .otherKey(Self.name))
    let sentence = stranger.trouble?.description(path: "redis://r") ?? ""
    #expect(sentence.hasPrefix("redis://r: account:") && sentence.contains(Self.name), "\(sentence)")
    await #expect(throws: CacheStoreError.self) { try await stranger.add(alice, 1) }
    #expect(try await redis.cli("hget", key(alice), "entries") == entries)

    // Bob's entries under Alice's name.
    try await redis.cli("eval", Self.swap, "2", key(alice), key(bob))
    #expect(failure(of: try await open(redis, seal(1))) == .broken(key: Self.name))
  }

  /// Everything that a server holds.
  private static let dump = """
    local all = {}
    for _, key in ipairs(redis.call('KEYS', '*')) do
      local kind = redis.call('TYPE', key).ok
      if kind == 'hash' then all[#all + 1] = table.concat(redis.call('HGETALL', key), ' ')
      elseif kind == 'string' then all[#all + 1] = redis.call('GET', key)
      elseif kind == 'zset' then all[#all + 1] = table.concat(redis.call('ZRANGE', key, 0, -1), ' ') end
    end
    return table.concat(all, ' ')
    """
  private static let swap = "redis.call('HSET', KEYS[1], 'entries', redis.call('HGET', KEYS[2], 'entries'))"
  /// The name of the key 1.
  private static let name = "e211d99169b07a10"

  @Test func `entries in clear are taken over and encrypted, and do not become plain again`() async throws {
    let redis = try await RedisPeer()
    try await (try await open(redis, .none)).add(alice)
    let plain = try await redis.cli("hget", key(alice), "entries")
    let store = try await open(redis, seal(1))
    #expect(alice.generation(in: await store.snapshot()) == 0)
    #expect(store.trouble == nil)
    #expect(try await eventually { try await !isPlain(redis, alice) })
    #expect(try await has(redis, seal(1), alice, 0))
    // Another program puts tokens of its own there, with a version that is read.
    try await redis.cli("hset", key(alice), "version", "99999999999", "entries", plain)
    try await redis.cli("zadd", "bp:index", "99999999999", String(key(alice).dropFirst(3)))
    try await redis.cli("set", "bp:version", "99999999999")
    #expect(try await eventually { failure(of: store) == .plain })
    #expect(try await isPlain(redis, alice))
  }

  private func isPlain(_ redis: RedisPeer, _ person: SignedInPerson) async throws -> Bool {
    try await redis.cli("hget", key(person), "entries").hasPrefix("{")
  }

  @Test func `a key is replaced under load in three steps, and no change is lost`() async throws {
    let redis = try await RedisPeer()
    let people = (0..<40).map { SignedInPerson("p\($0)") }
    var stores = [try await open(redis, seal(1)), try await open(redis, seal(1))]
    for (index, person) in people.enumerated() { try await stores[index % 2].add(person) }
    var generation = 0
    // Each process is restarted in turn, while the other one and the new one write.
    for keys in [[1, 2], [2, 1], [2]] as [[UInt8]] {
      let next = try CacheSeal(keys.map { Secret([UInt8](repeating: $0, count: 32)) })
      for index in stores.indices {
        generation += 1
        stores[index] = try await open(redis, next)
        try await withThrowingTaskGroup { [stores, generation] group in
          for (number, person) in people.enumerated() {
            group.addTask { try await stores[number % 2].add(person, generation) }
          }
          try await group.waitForAll()
        }
        for store in stores { #expect(store.trouble == nil, "\(keys) \(String(describing: store.trouble))") }
      }
      if keys == [2, 1] {
        #expect(try await eventually { try await has(redis, seal(2), people[0], generation) })
      }
    }
    let document = try await open(redis, seal(2)).snapshot()
    for person in people { #expect(person.generation(in: document) == generation) }
  }

  @Test func `entries of a former key are encrypted again with the newer one`() async throws {
    let redis = try await RedisPeer()
    try await (try await open(redis, seal(1))).add(alice)
    let store = try await open(redis, seal(2, 1))
    #expect(try await eventually { try await has(redis, seal(2), alice, 0) })
    #expect(store.trouble == nil)
  }
}
