// The store and a network that falls into two parts: the primary takes writes on one side, and another one is chosen on
// the other.

import Bytes
import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: geteuid() == 0, "not run: takes root, to cut networks from each other"))
struct RedisPartitionTests {
  static let now = UnixTime(1_700_000_000)
  let loop: EventLoop

  init() throws {
    loop = try EventLoop()
  }

  private func open(_ partition: RedisPartition) async throws -> CacheStore {
    try await CacheStore.open(partition.url, partition.form, isGuarded: false, loop: loop)
  }

  private func add(_ person: SignedInPerson, to store: CacheStore) async throws {
    let issued = try person.issued(generation: 0, now: Self.now)
    try await store.modify { document in _ = document.add(issued, now: Self.now) }
  }

  /// The same, once the servers take it: after a failover each learns later than others that the cluster is whole.
  private func add(_ people: [SignedInPerson], soonTo store: CacheStore) async throws {
    for person in people {
      let issued = try person.issued(generation: 0, now: Self.now)
      let isAdded = try await eventually {
        do throws(CacheStoreError) {
          try await store.modify { document in _ = document.add(issued, now: Self.now) }
          return true
        } catch {
          return false
        }
      }
      try #require(isAdded, "\(person.uid)")
    }
  }

  /// As after a renewal: the refresh token that was used is replaced. What cannot be written is kept.
  private func rotate(_ person: SignedInPerson, to generation: Int, in store: CacheStore) async throws {
    let time = Self.now + Int64(generation)
    let issued = try person.issued(generation: generation, isSignIn: false, now: time)
    guard let held = await store.snapshot().refreshTokens(person.query).first, let next = issued.reply.refreshToken
    else { throw TestSupportError("\(person.uid) is not there") }
    do throws(CacheStoreError) {
      try await store.modify { document in
        document.add(issued, now: time)
        document.rotate(held, to: next, obtainedAt: time)
      }
    } catch {}
  }

  private func isEverywhere(_ stores: [CacheStore], _ person: SignedInPerson, _ generation: Int) async throws -> Bool {
    for store in stores {
      let isRight = try await eventually {
        let document = await store.snapshot()
        return store.trouble == nil && person.generation(in: document) == generation
      }
      if !isRight { return false }
    }
    return true
  }

  @Test(arguments: [RedisGroup.Form.sentinels, .cluster], [true, false])
  func `what both sides of a partition wrote is there when it heals`(
    form: RedisGroup.Form, isWriterThere: Bool
  ) async throws {
    let partition = try await RedisPartition(form)
    var one = try await open(partition)
    let two = try await open(partition)
    // In a cluster, a third of them are on the server that is cut off.
    let people = (0..<12).map { SignedInPerson("p\($0)") }
    for person in people { try await add(person, to: one) }
    for person in people { try #require(try await isEverywhere([one, two], person, 0)) }
    try await partition.cut()
    // The former primary takes them, and loses them later.
    for person in people { try await rotate(person, to: 1, in: one) }
    if form == .sentinels { #expect(one.trouble == nil) }
    for person in people { try #require(try await isEverywhere([two], person, 1), "\(person.uid)") }
    // The process that wrote them ends, and another one has only read them.
    if !isWriterThere { one = two }
    #expect(try await eventually { try await partition.isReplaced() })
    let three = try await open(partition)
    let bob = SignedInPerson("bob")
    // The server counts further than the other one.
    try await add([bob] + (0..<60).map { SignedInPerson("q\($0)") }, soonTo: three)
    let carol = SignedInPerson("carol")
    do { try await add(carol, to: one) } catch {}
    try await partition.heal()
    #expect(try await eventually { try await partition.isDemoted() })
    for person in people { try #require(try await isEverywhere([one, two, three], person, 1), "\(person.uid)") }
    for person in [bob, carol] { try #require(try await isEverywhere([one, two, three], person, 0), "\(person.uid)") }
    let document = try await open(partition).snapshot()
    #expect(people.allSatisfy { $0.generation(in: document) == 1 })
    #expect([bob, carol].allSatisfy { $0.generation(in: document) == 0 })
  }
}
