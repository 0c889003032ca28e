// One cache file and several programs that write it: ours, and msal with msal-extensions in both its flavours.

import Bytes
import FoundationEssentials
import Identity
import Platform
import TestSupport
import Testing
import Tokens

@Suite(.timeLimit(.minutes(5)))
struct SharedCacheTests {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("cache.json")
  }

  private func writer(_ name: String, _ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(name, [binary("cache-writer")] + arguments, in: directory)
  }

  private func msal(_ arguments: [String]) async throws -> String {
    try await succeed(peer("cache_peer.py", arguments)).split(separator: "\n").joined(separator: "\n")
  }

  /// The accounts, and the number of tokens of each kind.
  private func people() throws -> Set<String> {
    let document = try CacheDocument(text: Array(directory.read("cache.json").utf8))
    let homes = document.homeAccountIDs
    for section in [CacheSection.accessToken, .refreshToken, .idToken] {
      #expect(document[section].count == homes.count, "\(section)")
    }
    return Set(homes.map { String($0.prefix { $0 != "." }) })
  }

  private func add(_ person: SignedInPerson, _ generation: Int, to store: CacheStore) async throws {
    let now = UnixTime.now
    let issued = try person.issued(generation: generation, now: now)
    try await store.modify { document in _ = document.add(issued, now: now) }
  }

  @Test("lock-contention: four processes write, a fifth reads, and nothing is lost")
  func contention() async throws {
    let troubles = Locked<[CacheStoreError]>([])
    let store = await CacheStore.file(path: path) { event in
      if case .failed(let error, _, _) = event { troubles.withLock { $0.append(error) } }
    }
    let writers = try (0..<4).map { try writer("writer-\($0)", ["add", path, "p\($0)x", "15"]) }
    for writer in writers { #expect(try await writer.wait(within: .seconds(90)) == 0, "\(writer.output)") }
    let expected = Set((0..<4).flatMap { writer in (0..<15).map { "p\(writer)x\($0)" } })
    #expect(try people() == expected)
    #expect(
      try await eventually {
        await store.snapshot().homeAccountIDs.count == 60
      })
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.contains("lock") } == [])
    // Asked while the directory is there: what a reader says of its removal is no trouble.
    #expect(troubles.withLock { $0 } == [])
  }

  @Test func `processes with keys share an encrypted file while the key is replaced, and nothing is lost`() async throws
  {
    // Half of the writers encrypt with the new key, half with the former one; each reads both.
    let writers = try (0..<4).map { number in
      try ChildProcess(
        "writer-\(number)", [binary("cache-writer"), "add", path, "p\(number)x", "15"], in: directory,
        environment: ["KEYS": number % 2 == 0 ? "1,2" : "2,1"])
    }
    for writer in writers { #expect(try await writer.wait(within: .seconds(90)) == 0, "\(writer.output)") }
    let secrets = [UInt8(2), 1].map { Secret([UInt8](repeating: $0, count: 32)) }
    let store = await CacheStore.file(path: path, seal: try CacheSeal(secrets)) { _ in }
    #expect(await store.snapshot().homeAccountIDs.count == 60)
    try await add(SignedInPerson("last"), 0, to: store)
    // The new key alone is enough from then on.
    let newest = await CacheStore.file(path: path, seal: try CacheSeal([secrets[0]])) { _ in }
    #expect(newest.trouble == nil)
    #expect(await newest.snapshot().homeAccountIDs.count == 61)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasPrefix("writer-") }
    for name in names { #expect(!directory.read(name).contains("p0x0"), "\(name)") }
  }

  @Test("single flight: of four processes one asks the provider, the others find what it left")
  func singleFlight() async throws {
    let writers = try (0..<4).map { try writer("writer-\($0)", ["flight", path, "alice", "1"]) }
    for writer in writers { #expect(try await writer.wait() == 0, "\(writer.output)") }
    #expect(writers.map(\.output).joined().split(separator: "\n").count { $0 == "request" } == 1)
  }

  @Test("msal-extensions and this store write at once, and nothing is lost")
  func peersAtOnce() async throws {
    let python = try pinnedPython()
    let script = testsDirectory + "/peers/cache_peer.py"
    let writers = [
      try writer("ours-a", ["add", path, "a", "20"]),
      try ChildProcess("msal-plain", [python, script, "--plain", "add", path, "plain", "6"], in: directory),
      try ChildProcess("msal-portalocker", [python, script, "add", path, "port", "6"], in: directory),
      try writer("ours-b", ["add", path, "b", "20"]),
    ]
    for writer in writers { #expect(try await writer.wait(within: .seconds(120)) == 0, "\(writer.errors)") }
    #expect(
      try people()
        == Set((0..<20).flatMap { ["a\($0)", "b\($0)"] } + (0..<6).flatMap { ["plain\($0)", "port\($0)"] }))
  }

  @Test("what msal-extensions writes is found here, and what is written here, there")
  func bothWays() async throws {
    _ = try await msal(["add", path, "python", "2"])
    let store = await CacheStore.file(path: path) { _ in }
    let python = SignedInPerson("python1")
    #expect(python.generation(in: await store.snapshot()) == 0)
    try await add(SignedInPerson("swift"), 4, to: store)
    #expect(try await msal(["generation", path, "swift"]) == "rt-swift-4-")
    #expect(try await msal(["silent", path, "swift"]) == "at-swift-4-")
    #expect(try await msal(["silent", path, "python1"]) == "at-python1")
    // Renewed under msal's key: no second entry, and msal finds the new one.
    let now = UnixTime.now + 1
    let held = try #require(await store.snapshot().refreshTokens(python.query).first)
    try await store.modify { $0.rotate(held, to: Secret("rt-python1-1-"), obtainedAt: now) }
    #expect(try await msal(["generation", path, "python1"]) == "rt-python1-1-")
    #expect(try people() == ["python0", "python1", "swift"])
  }

  @Test("external-sign-in: who signs in with msal is served by the running store")
  func externalSignIn() async throws {
    let store = await CacheStore.file(path: path) { _ in }
    try await add(SignedInPerson("swift"), 0, to: store)
    _ = try await msal(["--plain", "add", path, "late", "1"])
    #expect(
      try await eventually {
        SignedInPerson("late0").generation(in: await store.snapshot()) == 0
      })
  }

  @Test(
    "rename-mtime: a reader of msal-extensions that is overtaken finds the new contents next time", arguments: 1...3)
  func renameMtime(round: Int) async throws {
    let store = await CacheStore.file(path: path) { _ in }
    let alice = SignedInPerson("alice")
    try await add(alice, 0, to: store)
    // Past the moment for which the file is dated ahead.
    try await Task.sleep(for: .milliseconds(300))
    let reader = try ChildProcess("reader", peer("cache_peer.py", ["overtaken", path, "alice"]), in: directory)
    #expect(try await eventually { reader.output.contains("loaded") })
    try await add(alice, round, to: store)
    #expect(try await reader.wait() == 0, "\(reader.errors)")
    #expect(reader.output == "loaded\nfirst rt-alice-0-\nnext rt-alice-\(round)-\n")
  }
}
