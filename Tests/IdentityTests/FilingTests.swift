// Tokens that have arrived while the cache's lock is another process's.

import Bytes
import FoundationEssentials
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(2))) struct FilingTests {
  @Test func `a caller whose token has arrived is served while another process holds the cache's lock`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("cache.json")
    let bench = try AccountBench.signedIn()
    // Held for longer than the test may last, unless it is given back.
    let store = await CacheStore.file(path: path, lockWait: .seconds(600)) { _ in }
    let document = try CacheDocument.ofAlice()
    try await store.modify { $0 = document }
    let broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { [clock = bench.clock] in clock.now }, jitter: { 0 }, filingPatience: .milliseconds(1)), store: store)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])

    let lock = LockFile(path: path + ".lockfile", name: "another", queue: FileQueue("another"))
    let held = try await lock.take()
    let subscription = try bench.subscription()
    let value = try await broker.bearer(for: subscription)
    #expect(value.revealedToken() == "AT-2")
    // The next caller has it too, and nothing of it is in the file.
    #expect(try await broker.bearer(for: subscription).id == value.id)
    #expect(directory.read("cache.json").contains("RT-alice") && !directory.read("cache.json").contains("RT-2"))
    held.release()
    await broker.settle()
    #expect(directory.read("cache.json").contains("RT-2") && directory.read("cache.json").contains("AT-2"))
    #expect(await bench.redeemed() == ["RT-alice"])
  }

  @Test func `without patience a caller has its token when it is filed`() async throws {
    let directory = try TemporaryDirectory()
    let bench = try AccountBench.signedIn()
    let store = await CacheStore.file(path: directory.file("cache.json"))
    let document = try CacheDocument.ofAlice()
    try await store.modify { $0 = document }
    let broker = TokenBroker(at: bench.clock, store: store)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])
    #expect(try await broker.bearer(for: bench.subscription()).revealedToken() == "AT-2")
    #expect(directory.read("cache.json").contains("RT-2"))
  }
}
