// The store and a network that falls into two parts: the primary takes writes on one side, and another one is chosen on
// the other.

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
  let loop: EventLoop

  init() throws {
    loop = try EventLoop()
  }

  private func open(_ partition: RedisPartition) async throws -> CacheStore {
    try await CacheStore.open(partition.url, partition.form, isGuarded: false, loop: loop)
  }

  /// Adds people, once the servers take it: after a failover each learns later than others that the cluster is whole.
  private func add(_ people: [SignedInPerson], soonTo store: CacheStore) async throws {
    for person in people {
      let isAdded = try await eventually {
        do { try await store.add(person) } catch is CacheStoreError { return false }
        return true
      }
      try #require(isAdded, "\(person.uid)")
    }
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
    for person in people { try await one.add(person) }
    for person in people { try #require(try await allHave([one, two], person, 0)) }
    try await partition.cut()
    // The former primary takes them, and loses them later.
    for person in people { try await one.renew(person, to: 1) }
    if form == .sentinels { #expect(one.trouble == nil) }
    for person in people { try #require(try await allHave([two], person, 1), "\(person.uid)") }
    // The process that wrote them ends, and another one has only read them.
    if !isWriterThere { one = two }
    #expect(try await eventually { try await partition.isReplaced() })
    let three = try await open(partition)
    let bob = SignedInPerson("bob")
    // The server counts further than the other one.
    try await add([bob] + (0..<60).map { SignedInPerson("q\($0)") }, soonTo: three)
    let carol = SignedInPerson("carol")
    do { try await one.add(carol) } catch {}
    try await partition.heal()
    #expect(try await eventually { try await partition.isDemoted() })
    for person in people { try #require(try await allHave([one, two, three], person, 1), "\(person.uid)") }
    for person in [bob, carol] { try #require(try await allHave([one, two, three], person, 0), "\(person.uid)") }
    let document = try await open(partition).snapshot()
    #expect(people.allSatisfy { $0.generation(in: document) == 1 })
    #expect([bob, carol].allSatisfy { $0.generation(in: document) == 0 })
  }
}
