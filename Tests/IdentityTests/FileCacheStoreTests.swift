// The store and its file: what it reads, what it writes over, and what it does when it cannot.

import Bytes
import FoundationEssentials
import Glibc
import Platform
import Telemetry
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct FileCacheStoreTests {
  static let now = UnixTime(1_700_000_000)
  let directory: TemporaryDirectory
  let path: String
  let failures = Locked<[(error: CacheStoreError, kept: Int, isNews: Bool)]>([])
  let recoveries = Locked(0)
  let waits = Locked<[(lock: CacheLock, duration: Duration)]>([])
  /// Events of every store that `open` has opened.
  let events = Tally()
  let alice = SignedInPerson("alice")
  let bob = SignedInPerson("bob")

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("cache.json")
  }

  private func open(_ name: String = "cache.json", lockWait: TimeSpan = .milliseconds(500)) async -> CacheStore {
    await CacheStore.file(path: directory.file(name), lockWait: lockWait) {
      [failures, recoveries, waits, events] event in
      switch event {
      case .failed(let error, let kept, let isNews): failures.withLock { $0.append((error, kept, isNews)) }
      case .recovered: recoveries.withLock { $0 += 1 }
      case .waited(let lock, let duration): waits.withLock { $0.append((lock, duration)) }
      case .read, .written, .refusedRenewal: break
      }
      events.signal()
    }
  }

  private func add(_ person: SignedInPerson, _ generation: Int = 0, to store: CacheStore) async throws {
    let issued = try person.issued(generation: generation, now: Self.now)
    try await store.modify { document in _ = document.add(issued, now: Self.now) }
  }

  @Test func `work on the file is traced under the request that waits for it`() async throws {
    let heard = Locked<[String]>([])
    let store = await CacheStore.file(path: path) { event in
      if case .written = event { heard.withLock { $0.append(RequestScope.current?.request.requestID ?? "nobody") } }
    }
    try await add(alice, to: store)
    try await RequestScope.around(RequestScope(LogRequest(requestID: "waiting", traceID: ""))) {
      () async throws in try await add(bob, to: store)
    }
    try await add(alice, 1, to: store)
    #expect(heard.withLock { $0 } == ["nobody", "waiting", "nobody"])
  }

  private func onDisk() throws -> CacheDocument {
    try CacheDocument(text: Array(directory.read("cache.json").utf8))
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
  }

  @Test func `entries of one store are read by another, with mode 0600 and no lock left`() async throws {
    let one = await open()
    try await add(alice, to: one)
    #expect(alice.generation(in: try onDisk()) == 0)
    #expect(alice.generation(in: await open().snapshot()) == 0)
    #expect(try names == ["cache.json"])
    #expect(waits.withLock { $0.map(\.lock) } == [.file])
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
  }

  @Test(
    "missing-empty-partial: a file that is not there or holds nothing is an empty cache",
    arguments: [nil, "", " \n", "{}"])
  func missingEmpty(text: String?) async throws {
    if let text { try directory.write(text, to: "cache.json") }
    let store = await open(lockWait: .seconds(60))
    #expect(await store.snapshot().homeAccountIDs.isEmpty)
    #expect(store.trouble == nil)
    try await add(alice, to: store)
    #expect(alice.generation(in: try onDisk()) == 0)
  }

  @Test("missing-empty-partial: a file that is no cache is reported with its place, and left alone")
  func partial() async throws {
    let half = "{\n    \"AccessToken\": {\n        \"a\": {\"secret\": \"x"
    try directory.write(half, to: "cache.json")
    let began = MonotonicTime.now
    let store = await open(lockWait: .seconds(60))
    #expect(MonotonicTime.now - began >= .milliseconds(200))
    let trouble = try #require(store.trouble)
    #expect(trouble.description(path: "F") == "F:3:27: the text ends too early")
    await #expect(throws: trouble) { try await add(alice, to: store) }
    #expect(directory.read("cache.json") == half)
    #expect(try names == ["cache.json"])
    // Served from memory, and written as soon as the file has been repaired.
    #expect(alice.generation(in: await store.snapshot()) == 0)
    #expect(failures.withLock { $0.count { $0.isNews } } == 1)
    // Renamed into its place: without the lock a file that is written in place is empty for as long as that takes.
    #expect(rename(try directory.write("{\"Unknown\": {\"kept\": 1}}", to: "next"), path) == 0)
    try await events.wait { try alice.generation(in: onDisk()) == 0 && recoveries.withLock { $0 } == 1 }
    #expect(directory.read("cache.json").contains("kept"))
    #expect(store.trouble == nil)
  }

  @Test func `a file that was no cache, and is emptied to be written again, is no empty cache yet`() throws {
    var file = CacheFile(path: path)
    var time = MonotonicTime(nanoseconds: 0)
    func look(_ lock: LockSight = .free, after span: TimeSpan) throws(CacheStoreError) -> CacheFileLook {
      time = time + span
      return try file.look(at: time) { lock }
    }
    try directory.write("{\n", to: "cache.json")
    #expect(try look(after: .zero) == .unfinished(.free))
    #expect(throws: CacheStoreError.self) { try look(after: .seconds(1)) }
    try directory.write("", to: "cache.json")
    #expect(try look(after: .zero) == .unfinished(.free))
    // Its writer holds the lock for as long as it wants.
    #expect(try look(.held(nil), after: .seconds(60)) == .unfinished(.held(nil)))
    // It stays empty.
    #expect(try look(after: .seconds(1)) == .different)
  }

  @Test func `a file that is removed to be written again is no empty cache while its writer holds the lock`()
    async throws
  {
    try await add(alice, to: await open())
    var file = CacheFile(path: path)
    #expect(try file.look { .free } == .different)
    unlink(path)
    #expect(try file.look { .held(nil) } == .unfinished(.held(nil)))
    #expect(alice.generation(in: file.document) == 0)
    #expect(try file.look { .free } == .different)
    #expect(file.document.isEmpty)
  }

  @Test func `an ended writer's incomplete text is replaced by the last whole one`() async throws {
    try await add(alice, to: await open())
    let whole = directory.read("cache.json")
    var file = CacheFile(path: path)
    #expect(try file.look { .free } == .different)
    try directory.write(String(whole.prefix(40)), to: "cache.json")
    let now = MonotonicTime.now
    #expect(try file.look(at: now) { .abandoned } == .unfinished(.abandoned))
    #expect(try file.look(at: now + .seconds(1)) { .abandoned } == .abandoned)
    // Once its lock is taken over, too.
    #expect(try file.look(at: now + .seconds(2)) { .free } == .abandoned)
    file.takeOverAbandoned()
    #expect(try file.look(at: now + .seconds(2)) { .free } == .same)
    #expect(try file.write(file.document) == whole.utf8.count)
    #expect(directory.read("cache.json") == whole)
  }

  @Test func `a lock that is never released ends the wait, and what waits after that is told at once`() async throws {
    let store = await open()
    try await add(alice, to: store)
    let whole = directory.read("cache.json")
    try directory.write("\(getpid()) az", to: "cache.json.lockfile")
    try directory.write("", to: "cache.json")
    await store.look()
    let reason = CacheStoreError.locked(LockHolder(process: getpid(), name: "az"))
    #expect(store.blindness == reason)
    #expect(alice.generation(in: await store.snapshot()) == 0)
    let count = waits.withLock { $0.count { $0.lock == .reading } }
    #expect(count >= 1)
    await store.look()
    #expect(store.blindness == reason)
    #expect(waits.withLock { $0.count { $0.lock == .reading } } == count)
    // It ends without a word: the file is as it was, and no event tells of the lock.
    try directory.write(whole, to: "cache.json")
    unlink(directory.file("cache.json.lockfile"))
    await events.wait { store.blindness == nil }
    #expect(alice.generation(in: await store.snapshot()) == 0)
  }

  @Test func `half a write that is whole a moment later is no trouble`() async throws {
    let whole =
      #"{"Account": {"k": {"home_account_id": "h", "environment": "login.microsoftonline.com", "realm": "r"}}}"#
    // A writer that takes longer than two hundred milliseconds has left half a file; then the attempt is made again.
    var took = Duration.seconds(60)
    for _ in 0..<50 where took >= .milliseconds(150) {
      try directory.write("", to: "cache.json")
      // Its own list: the stores of slower attempts report later.
      let failed = Locked<[CacheStoreError]>([])
      let store = await CacheStore.file(path: path) { event in
        if case .failed(let error, _, _) = event { failed.withLock { $0.append(error) } }
        events.signal()
      }
      failed.withLock { $0 = [] }
      let began = ContinuousClock.now
      try directory.write(String(whole.prefix(30)), to: "cache.json")
      // The store looks at the half meanwhile.
      repeat { _ = await store.snapshot() } while ContinuousClock.now - began < .milliseconds(60)
      try directory.write(whole, to: "cache.json")
      took = ContinuousClock.now - began
      await events.wait { await !store.snapshot().homeAccountIDs.isEmpty }
      if took < .milliseconds(150) { #expect(failed.withLock { $0.isEmpty }) }
    }
    #expect(took < .milliseconds(150))
  }

  @Test func `a file that is emptied before it is written again signs no account out`() async throws {
    let store = await open()
    try await add(alice, to: store)
    let text = directory.read("cache.json")
    let emptied = ContinuousClock.now
    try directory.write("", to: "cache.json")
    while true {
      let isHeld = alice.generation(in: await store.snapshot()) == 0
      // A file that is left empty for a second is empty for good.
      guard ContinuousClock.now - emptied < .milliseconds(900) else { break }
      #expect(isHeld)
    }
    try directory.write(text, to: "cache.json")
    await events.wait { alice.generation(in: await store.snapshot()) == 0 }
  }

  @Test("external-sign-in: what another process writes is heard of, however it writes")
  func externalChanges() async throws {
    let store = await open()
    let stream = store.changes
    let other = await open()
    try await add(alice, to: other)
    await events.wait { alice.generation(in: await store.snapshot()) == 0 }
    var changes = stream.makeAsyncIterator()
    await changes.next()
    // In place, as msal-extensions does.
    let replaced = directory.read("cache.json").replacing("rt-alice-0", with: "rt-alice-7")
    try directory.write(replaced, to: "cache.json")
    await events.wait { alice.generation(in: await store.snapshot()) == 7 }
    await changes.next()
    // Deleted, as `az account clear` does.
    unlink(path)
    await events.wait { alice.generation(in: await store.snapshot()) == nil }
  }

  @Test func `a directory that comes back is watched again`() async throws {
    let inner = directory.file("inner")
    mkdir(inner, 0o700)
    let store = await open("inner/cache.json")
    try await add(alice, to: store)
    // At once, as a mount goes away: the people in it are still served. Removed file by file, they would have been
    // signed out first.
    #expect(rename(inner, directory.file("away")) == 0)
    await events.wait { store.trouble == .file(.noDirectory) }
    #expect(alice.generation(in: await store.snapshot()) == 0)
    mkdir(inner, 0o700)
    let other = await CacheStore.file(path: inner + "/cache.json") { _ in }
    try await add(bob, to: other)
    await events.wait { bob.generation(in: await store.snapshot()) == 0 }
  }

  @Test func `other processes' writes are merged, also those not yet seen here`() async throws {
    let store = await open()
    try await add(alice, to: store)
    // Written and at once changed: no event can have arrived.
    let other = try CacheDocument(text: Array(directory.read("cache.json").utf8))
    var changed = other
    _ = changed.add(try bob.issued(generation: 0, now: Self.now), now: Self.now)
    try Data(changed.text()).write(to: URL(filePath: path))
    try await add(alice, 1, to: store)
    #expect(bob.generation(in: try onDisk()) == 0)
    #expect(alice.generation(in: try onDisk()) == 1)
  }

  @Test func `changes that come together are written together`() async throws {
    let written = Locked<[Int]>([])
    let store = await CacheStore.file(path: path) { event in
      if case .written(let changes, _, _) = event { written.withLock { $0.append(changes) } }
    }
    try await withThrowingTaskGroup { group in
      for index in 0..<100 {
        group.addTask { try await add(SignedInPerson("p\(index)"), to: store) }
      }
      try await group.waitForAll()
    }
    #expect(try onDisk().homeAccountIDs.count == 100)
    let counts = written.withLock { $0 }
    #expect(counts.reduce(0, +) == 100)
    #expect(counts.count < 20)
  }

  @Test func `a change that changes nothing leaves the file as it is`() async throws {
    let store = await open()
    try await add(alice, to: store)
    let before = try #require(try SharedFile(path: path).identity())
    try await store.modify { _ in }
    #expect(try SharedFile(path: path).identity() == before)
  }

  @Test("stale-lock of a live process: the change is kept in memory, and written when the lock is free")
  func lockedOut() async throws {
    try directory.write("\(getpid()) somebody", to: "cache.json.lockfile")
    let store = await open()
    let reason = CacheStoreError.locked(LockHolder(process: getpid(), name: "somebody"))
    await #expect(throws: reason) { try await add(alice, to: store) }
    await #expect(throws: reason) { try await add(bob, to: store) }
    #expect(alice.generation(in: await store.snapshot()) == 0)
    #expect(failures.withLock { $0.map(\.isNews) } == [true, false])
    #expect(failures.withLock { $0.map(\.kept) } == [1, 2])
    unlink(directory.file("cache.json.lockfile"))
    try await add(SignedInPerson("carol"), to: store)
    #expect(store.trouble == nil)
    #expect(try onDisk().homeAccountIDs.count == 3)
    #expect(recoveries.withLock { $0 } == 1)
  }

  @Test func `a file that others can write is not read, and not written`() async throws {
    let store = await open()
    try await add(alice, to: store)
    chmod(path, 0o666)
    let reason = CacheStoreError.file(.untrusted(.writable(mode: 0o666)))
    await #expect(throws: reason) { try await add(bob, to: store) }
    #expect(bob.generation(in: try onDisk()) == nil)
    #expect(alice.generation(in: await store.snapshot()) == 0)
    chmod(path, 0o600)
    try await events.wait { try bob.generation(in: onDisk()) == 0 }
  }

  @Test func `a directory that is not there costs nothing but the file`() async throws {
    let store = await open("later/cache.json")
    await #expect(throws: CacheStoreError.self) { try await add(alice, to: store) }
    #expect(alice.generation(in: await store.snapshot()) == 0)
    mkdir(directory.file("later"), 0o700)
    await events.wait { directory.read("later/cache.json").contains("rt-alice-0") }
  }

  @Test func `the refresh lock lets one in at a time, for each key, and shows what the other left`() async throws {
    let stores = [await open(), await open(), await open()]
    let requests = Locked(0)
    try await withThrowingTaskGroup { group in
      for store in stores {
        group.addTask {
          try await store.withRefreshLock(alice.home, within: .seconds(240)) { () -> Result<Void, any Error> in
            do {
              if alice.generation(in: await store.snapshot()) == 1 { return .success(()) }
              requests.withLock { $0 += 1 }
              for _ in 0..<100 { await Task.yield() }
              return .success(try await add(alice, 1, to: store))
            } catch {
              return .failure(error)
            }
          }.get()
        }
      }
      try await group.waitForAll()
    }
    #expect(requests.withLock { $0 } == 1)
    #expect(await stores[0].withRefreshLock("other key") { 7 } == 7)
  }
}
