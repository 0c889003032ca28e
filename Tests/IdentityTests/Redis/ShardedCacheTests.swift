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
      cache.commit(writes, document, version: Int64(index + 1))
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
      $0.removeAccount(
        home: alice.home, environments: [SignedInPerson.environment], clientID: SignedInPerson.client)
    }
    #expect(writes.map(\.name) == [name(alice)] && writes.allSatisfy { $0.text.isEmpty })
    cache.commit(writes, document, version: 9)
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

  @Test func `what a server has not counted to is put back over what it has, and the rest is its own`() throws {
    let cache = try cache()
    #expect(cache.restoring(after: 2, held: [:]).isEmpty)
    let one = cache.restoring(after: 1, held: [name(bob): 1])
    #expect(one.map(\.name) == [name(bob)] && one.first?.expected == 1)
    let all = cache.restoring(after: 0, held: [:])
    #expect(all.count == 3 && all.allSatisfy { $0.expected == 0 })
    var other = ShardedCache()
    for write in all { try other.take(write.name, version: 1001, text: write.text) }
    #expect(alice.generation(in: other.document) == 0 && bob.generation(in: other.document) == 0)
  }
}
