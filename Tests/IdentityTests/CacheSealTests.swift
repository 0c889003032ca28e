// The encrypted form of a cache, and the files that have it.

import Bytes
import FoundationEssentials
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite struct CacheSealTests {
  static let now = UnixTime(1_700_000_000)
  let directory: TemporaryDirectory
  let path: String
  let alice = SignedInPerson("alice")
  let text = Array(#"{"Account": {}, "AccessToken": {}}"#.utf8)

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("cache")
  }

  private func seal(_ keys: UInt8...) throws -> CacheSeal {
    try CacheSeal(keys.map { Secret([UInt8](repeating: $0, count: 32)) })
  }

  /// The name of a key, as `sha256sum` tells it.
  private func name(_ key: UInt8) throws -> String {
    let text = Array("bearer-proxy cache key ".utf8) + [UInt8](repeating: key, count: 32)
    return try SHA256.digest(of: text.span).prefix(8).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  private func problem(_ seal: CacheSeal, _ form: [UInt8], at place: String = "here") -> CacheSealError? {
    do throws(CacheSealError) {
      _ = try seal.open(form, at: place)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the first key encrypts, and both decrypt`() throws {
    let form = try seal(1, 2).seal(text, at: "here")
    #expect(form.count == 21 + 8 + 24 + text.count + 16)
    #expect(!String(decoding: form, as: UTF8.self).contains("Account"))
    for keys in [try seal(1), try seal(1, 2), try seal(1, 3)] {
      let opened = try keys.open(form, at: "here")
      #expect(opened.text == text && opened.isSealed && opened.isCurrent)
    }
    let opened = try seal(3, 1).open(form, at: "here")
    #expect(opened.text == text && opened.isSealed && !opened.isCurrent)
    // A nonce of its own each time.
    #expect(try seal(1).seal(text, at: "here") != form)
  }

  @Test func `what cannot be decrypted is told apart`() throws {
    let form = try seal(1).seal(text, at: "here")
    #expect(problem(try seal(2, 3), form) == .otherKey(try name(1)))
    #expect(problem(.none, form) == .keyless(key: try name(1)))
    #expect(problem(try seal(1), form, at: "elsewhere") == .broken(key: try name(1)))
    for index in 21..<form.count {
      var changed = form
      changed[index] ^= 1
      #expect(problem(try seal(1), changed) != nil)
      #expect(problem(try seal(1), Array(form[..<index])) != nil)
    }
    // The name of another of the keys.
    let other = try seal(2).seal(text, at: "here")
    #expect(problem(try seal(1, 2), Array(form[..<21] + other[21..<29] + form[29...])) == .broken(key: try name(2)))
  }

  @Test func `a text that is not encrypted is read, and would be encrypted today`() throws {
    let opened = try seal(1).open(text, at: "here")
    #expect(opened.text == text && !opened.isSealed && !opened.isCurrent)
    #expect(try seal(1).open([], at: "here").isCurrent)
    #expect(try seal(1).seal([], at: "here") == [])
  }

  @Test func `without keys a text stays as it is`() throws {
    #expect(try CacheSeal.none.seal(text, at: "here") == text)
    let opened = try CacheSeal.none.open(text, at: "here")
    #expect(opened.text == text && opened.isCurrent)
  }

  // MARK: Files

  private func open(_ seal: CacheSeal) async -> CacheStore {
    await CacheStore.file(path: path, seal: seal) { _ in }
  }

  private func add(_ generation: Int, to store: CacheStore) async throws {
    let issued = try alice.issued(generation: generation, now: Self.now)
    try await store.modify { document in _ = document.add(issued, now: Self.now) }
  }

  private func bytes(_ name: String = "cache") throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: directory.file(name))))
  }

  @Test func `the file alone shows nothing, and the key opens it`() async throws {
    try await add(0, to: open(try seal(1)))
    let text = String(decoding: try bytes(), as: UTF8.self)
    for word in ["alice", "Token", SignedInPerson.client] { #expect(!text.contains(word), "\(word)") }
    #expect(alice.generation(in: await open(try seal(1)).snapshot()) == 0)
    // Nor does any file beside it, or one that a killed writer would leave.
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      #expect(!String(decoding: try bytes(name), as: UTF8.self).contains("alice"), "\(name)")
    }
  }

  @Test func `an unchanged document is not written again`() async throws {
    let store = await open(try seal(1))
    try await add(0, to: store)
    let before = try bytes()
    try await store.modify { _ in }
    #expect(try bytes() == before)
  }

  @Test func `a key is replaced in two steps`() async throws {
    try await add(0, to: open(try seal(1)))
    let both = await open(try seal(2, 1))
    #expect(alice.generation(in: await both.snapshot()) == 0)
    // The next write, also of the same document.
    try await both.modify { _ in }
    #expect(alice.generation(in: await open(try seal(2)).snapshot()) == 0)
  }

  @Test func `a plain file is taken over, encrypted with the next write, and does not become plain again`() async throws
  {
    try await add(0, to: open(.none))
    let plain = try bytes()
    let store = await open(try seal(1))
    #expect(alice.generation(in: await store.snapshot()) == 0)
    #expect(store.trouble == nil)
    #expect(try bytes() == plain)
    try await add(1, to: store)
    #expect(try bytes().starts(with: Array("bearer-proxy cache 1\n".utf8)))
    #expect(alice.generation(in: await open(try seal(1)).snapshot()) == 1)
    // Another program puts tokens of its own there.
    try Data(plain).write(to: URL(filePath: path))
    await store.look()
    #expect(store.trouble == .sealed(.plain))
    #expect(alice.generation(in: await store.snapshot()) == 1)
    #expect(try bytes() == plain)
  }

  @Test func `a wrong key, no key and another file's contents change nothing, and lose nothing`() async throws {
    try await add(0, to: open(try seal(1)))
    let before = try bytes()
    let (key, errors) = (try name(1), [CacheSealError.otherKey(try name(1)), .keyless(key: try name(1))])
    for (seal, error) in zip([try seal(2), .none], errors) {
      let store = await open(seal)
      #expect(store.trouble == .sealed(error))
      #expect(store.trouble?.description(path: path).contains("\(path): it is encrypted with key \(key)") == true)
      await #expect(throws: CacheStoreError.sealed(error)) { try await add(1, to: store) }
      // Served from memory.
      #expect(alice.generation(in: await store.snapshot()) == 1)
      #expect(try bytes() == before)
    }
    // The same file under another name, as if it were another proxy's.
    try Data(before).write(to: URL(filePath: directory.file("other")))
    let other = await CacheStore.file(path: directory.file("other"), seal: try seal(1)) { _ in }
    #expect(other.trouble == .sealed(.broken(key: key)))
  }

  @Test func `what a wrong key kept in memory is written once the file is gone`() async throws {
    try await add(0, to: open(try seal(1)))
    let store = await open(try seal(2))
    await #expect(throws: CacheStoreError.self) { try await add(1, to: store) }
    try FileManager.default.removeItem(atPath: path)
    try await store.modify { _ in }
    #expect(alice.generation(in: await open(try seal(2)).snapshot()) == 1)
  }

  @Test func `texts beside the cache are encrypted, taken over, and left alone by a wrong key`() async throws {
    func text(_ seal: CacheSeal) -> SealedText {
      SealedText(text: FileText(path: directory.file("cache.challenges")), seal: seal, place: "cache.challenges")
    }
    #expect(await text(.none).change { _ in Array("alice must sign in".utf8) })
    #expect(await text(try seal(1)).read() == Array("alice must sign in".utf8))
    // Unchanged, and encrypted from now on.
    #expect(await text(try seal(1)).change { $0 })
    let form = try bytes("cache.challenges")
    #expect(!String(decoding: form, as: UTF8.self).contains("alice"))
    #expect(await text(try seal(1)).change { $0 })
    #expect(try bytes("cache.challenges") == form)
    #expect(await text(try seal(2)).read() == nil)
    #expect(await !text(try seal(2)).change { _ in [1] })
    #expect(try bytes("cache.challenges") == form)
    #expect(await text(try seal(1)).read() == Array("alice must sign in".utf8))
  }
}
