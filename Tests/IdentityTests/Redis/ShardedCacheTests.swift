// The shards that a change concerns, and the repair if a server lost something.

import Bytes
import TestSupport
import Testing

@testable import Identity
@testable import Tokens

@Suite struct ShardedCacheTests {
  static let now = UnixTime(1_700_000_000)
  let alice = SignedInPerson("alice")
  let bob = SignedInPerson("bob")

  private func name(_ person: SignedInPerson) -> String { "account:\(SignedInPerson.environment):\(person.home)" }

  /// A cache with both, each shard at the version of its write.
  private func cache() throws -> ShardedCache {
    var cache = ShardedCache()
    for (index, person) in [alice, bob].enumerated() {
      let issued = try person.issued(generation: 0, now: Self.now)
      let (writes, document) = cache.writes { _ = $0.add(issued, now: Self.now) }
      cache.settle(writes, version: Int64(index + 1))
      cache.commit(document)
    }
    return cache
  }

  @Test func `a sign-in concerns the person's shard and the application's, and the next one the person's alone`()
    throws
  {
    let empty = ShardedCache()
    let issued = try alice.issued(generation: 0, now: Self.now)
    let (first, _) = empty.writes { _ = $0.add(issued, now: Self.now) }
    #expect(first.map(\.name) == [name(alice), "application:\(SignedInPerson.client)"])
    #expect(first.allSatisfy { $0.expected == 0 && !$0.text.isEmpty })
    #expect(
      first.map(\.names) == [
        [.called("alice@contoso.example"), .called(alice.uid), .user(of: SignedInPerson.client)], [],
      ])
    // No other library reads it.
    #expect(!first[0].text.contains(0x0A))
    let cache = try cache()
    let renewed = try bob.issued(generation: 1, now: Self.now)
    let (second, document) = cache.writes { _ = $0.add(renewed, now: Self.now) }
    #expect(second.map(\.name) == [name(bob)])
    #expect(second.first?.expected == 2)
    #expect(bob.generation(in: document) == 1 && alice.generation(in: document) == 0)
    let part = try CacheDocument(text: second.first?.text ?? [])
    #expect(bob.generation(in: part) == 1 && alice.generation(in: part) == nil)
  }

  @Test func `a change that makes no difference is not written`() throws {
    let cache = try cache()
    let issued = try alice.issued(generation: 0, now: Self.now)
    #expect(cache.writes { _ = $0.add(issued, now: Self.now) }.writes.isEmpty)
    #expect(cache.writes { _ in }.writes.isEmpty)
  }

  @Test func `a sign-out empties the person's shard`() throws {
    var cache = try cache()
    let (writes, document) = cache.writes {
      $0.removeAccount(home: alice.home, environments: [SignedInPerson.environment], clientID: SignedInPerson.client)
    }
    #expect(writes.map(\.name) == [name(alice)] && writes.allSatisfy { $0.text.isEmpty })
    cache.settle(writes, version: 9)
    cache.commit(document)
    #expect(cache.version(of: name(alice)) == 0 && !cache.names.contains(name(alice)))
    #expect(alice.generation(in: cache.document) == nil && bob.generation(in: cache.document) == 0)
  }

  @Test func `a shard that others wrote takes the place of what was there, entries that are gone included`() throws {
    var cache = try cache()
    try cache.take(name(alice), version: 5, text: [])
    #expect(alice.generation(in: cache.document) == nil && bob.generation(in: cache.document) == 0)
    #expect(cache.version(of: name(alice)) == 5)
    cache.remove(name(bob))
    #expect(cache.document.homeAccountIDs.isEmpty)
    #expect(throws: CacheDocumentError.self) { try cache.take(name(bob), version: 6, text: Array("{".utf8)) }
  }

  @Test func `a lost shard is restored over what the server has`() throws {
    let cache = try cache()
    #expect(cache.restoring(name(bob), held: 1).expected == 1)
    var other = ShardedCache()
    for name in cache.names {
      let write = cache.restoring(name, held: 0)
      try other.take(write.name, version: 1001, text: write.text)
    }
    #expect(alice.generation(in: other.document) == 0 && bob.generation(in: other.document) == 0)
  }

  @Test func `of two servers' entries the newer one stays, and what one of them lacks`() throws {
    var (ours, theirs) = (try cache(), try cache())
    let later = UnixTime(Self.now.seconds + 10)
    let next = try alice.issued(generation: 1, now: later)
    let (writes, document) = theirs.writes { _ = $0.add(next, now: later) }
    theirs.settle(writes, version: 5)
    theirs.commit(document)
    try ours.merge(name(alice), text: theirs.restoring(name(alice), held: 0).text)
    #expect(alice.generation(in: ours.document) == 1)
    try theirs.merge(name(alice), text: try cache().restoring(name(alice), held: 0).text)
    #expect(alice.generation(in: theirs.document) == 1)
  }

  @Test func `of a change, shards that are not wanted stay`() throws {
    let cache = try cache()
    let issued = try [alice, bob].map { try $0.issued(generation: 1, now: Self.now) }
    let (writes, document) = cache.writes { document in
      for one in issued { _ = document.add(one, now: Self.now) }
    } where: { [name = name(bob)] in
      $0 == name
    }
    #expect(writes.map(\.name) == [name(bob)])
    #expect(alice.generation(in: document) == 0 && bob.generation(in: document) == 1)
  }
}
