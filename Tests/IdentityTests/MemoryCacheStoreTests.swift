// The cache that ends with the process.

import Bytes
import Identity
import TestSupport
import Testing
import Tokens

@Suite struct MemoryCacheStoreTests {
  @Test func `the next reader sees a change, and waiting readers are woken`() async throws {
    let store = CacheStore.memory()
    var changes = store.changes.makeAsyncIterator()
    let alice = SignedInPerson("alice")
    let issued = try alice.issued(generation: 3, now: UnixTime(1_700_000_000))
    let wasFiled = try await store.modify { document in document.add(issued, now: UnixTime(1_700_000_000)) }
    #expect(wasFiled)
    #expect(alice.generation(in: await store.snapshot()) == 3)
    await changes.next()
  }
}
