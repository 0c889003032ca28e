// The store and Redis as clouds run it: one server, a primary with sentinels, a cluster. What is lost when a server is
// killed, paused, full or cut off: nothing.

import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(10)))
struct RedisGroupTests {
  let loop: EventLoop
  let alice = SignedInPerson("alice")

  init() throws {
    loop = try EventLoop()
  }

  private func open(_ group: RedisGroup, trust: String? = nil) async throws -> CacheStore {
    try await CacheStore.open(group.url, group.form, trust: trust, loop: loop)
  }

  /// True if a store that knows nothing finds this generation of a person's tokens.
  private func has(_ group: RedisGroup, _ person: SignedInPerson, _ generation: Int) async throws -> Bool {
    try await eventually { try await open(group).has(person, generation) }
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `entries of one store are read and removed by another`(form: RedisGroup.Form) async throws {
    let group = try await RedisGroup(form)
    let (one, two) = (try await open(group), try await open(group))
    #expect(one.trouble == nil, "\(String(describing: one.trouble))")
    for index in 0..<20 { try await (index % 2 == 0 ? one : two).add(SignedInPerson("p\(index)")) }
    try await one.add(alice)
    #expect(try await allHave([one, two], alice, 0))
    let document = try await open(group).snapshot()
    #expect(document.homeAccountIDs.count == 21)
    try await two.remove(alice)
    #expect(try await eventually { alice.generation(in: await one.snapshot()) == nil })
    try await one.tryLock()
    #expect(one.trouble == nil && two.trouble == nil)
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `a server that is killed takes no rotated token with it`(form: RedisGroup.Form) async throws {
    var group = try await RedisGroup(form)
    let (one, two) = (try await open(group), try await open(group))
    try await one.add(alice)
    try await one.renew(alice, to: 1)
    let owner = try await group.owner(of: alice.home)
    try await group.servers[owner].kill()
    try await one.renew(alice, to: 2)
    #expect(alice.generation(in: await one.snapshot()) == 2)
    if form == .single { try await group.restart(owner) }
    #expect(try await has(group, alice, 2))
    #expect(try await allHave([one, two], alice, 2))
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `a server that is paused takes no rotated token with it`(form: RedisGroup.Form) async throws {
    let group = try await RedisGroup(form)
    let (one, two) = (try await open(group), try await open(group))
    try await one.add(alice)
    let owner = try await group.owner(of: alice.home)
    try await group.servers[owner].process.standStill()
    try await one.renew(alice, to: 1)
    #expect(alice.generation(in: await one.snapshot()) == 1)
    if form != .single { #expect(try await has(group, alice, 1)) }
    group.servers[owner].process.send(SIGCONT)
    #expect(try await has(group, alice, 1))
    #expect(try await allHave([one, two], alice, 1))
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `a full server is given what was kept, once it has room`(form: RedisGroup.Form) async throws {
    let group = try await RedisGroup(form)
    let (one, two) = (try await open(group), try await open(group))
    try await one.add(alice)
    try await group.all("config", "set", "maxmemory", "1")
    try await one.renew(alice, to: 1)
    #expect(one.trouble == .server(.refused(command: "EVAL", code: "OOM")))
    #expect(alice.generation(in: await one.snapshot()) == 1)
    try await group.all("config", "set", "maxmemory", "0")
    #expect(try await has(group, alice, 1))
    #expect(try await allHave([one, two], alice, 1))
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `a changed password keeps changes back until it is right`(form: RedisGroup.Form) async throws {
    let group = try await RedisGroup(form)
    let store = try await open(group)
    try await store.add(alice)
    try await group.all("acl", "setuser", RedisGroup.user, "resetpass", ">another-s3cret")
    try await group.all("client", "kill", "user", RedisGroup.user)
    #expect(try await eventually { store.trouble == .server(.credentials(code: "WRONGPASS")) })
    try await store.renew(alice, to: 1)
    try await group.all("acl", "setuser", RedisGroup.user, "resetpass", ">" + RedisGroup.password)
    #expect(try await has(group, alice, 1))
    #expect(try await allHave([store], alice, 1))
  }

  @Test(arguments: [RedisGroup.Form.sentinels, .cluster])
  func `a failover during a renewal: the next in turn finds the new token`(form: RedisGroup.Form) async throws {
    let group = try await RedisGroup(form)
    let (one, two) = (try await open(group), try await open(group))
    try await one.add(alice)
    #expect(try await allHave([two], alice, 0))
    let key = "alice"
    let taken = AsyncStream.makeStream(of: Void.self)
    let seen = Locked<Int?>(nil)
    try await withThrowingTaskGroup { tasks in
      tasks.addTask {
        for await _ in taken.stream { break }
        await two.withRefreshLock(key, within: .seconds(120)) {
          let generation = alice.generation(in: await two.snapshot())
          seen.withLock { $0 = generation }
        }
      }
      let renewed = await one.withRefreshLock(key, within: .seconds(120)) { () -> Result<Void, any Error> in
        do {
          taken.continuation.yield()
          try await group.servers[try await group.owner(of: alice.home)].kill()
          // The provider's answer comes while no server is there.
          try await one.renew(alice, to: 1)
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      try renewed.get()
      try await tasks.waitForAll()
    }
    #expect(seen.withLock { $0 } == 1)
    #expect(try await has(group, alice, 1))
  }

  @Test func `a primary without a replica serves renewals of many keys`() async throws {
    let group = try await RedisGroup(.sentinels)
    let store = try await open(group)
    try await store.add(alice)
    try await group.servers[1].kill()
    for generation in 1...30 {
      await store.withRefreshLock("key \(generation)", within: .seconds(60)) {}
      try await store.renew(alice, to: generation)
    }
    #expect(try await has(group, alice, 30))
  }

  @Test(arguments: RedisGroup.Form.allCases)
  func `servers, nodes and sentinels are reached by TLS, and verified`(form: RedisGroup.Form) async throws {
    let authority = try await CertificateAuthority()
    let certificate = try await authority.issue("redis")
    let group = try await RedisGroup(form, tls: RedisPeer.tls(certificate, of: authority))
    let store = try await open(group, trust: authority.file)
    #expect(store.trouble == nil, "\(String(describing: store.trouble))")
    try await store.add(alice)
    #expect(alice.generation(in: try await open(group, trust: authority.file).snapshot()) == 0)
    let other = try await CertificateAuthority("other")
    let stranger = try await open(group, trust: other.file)
    let sentence = stranger.trouble?.description(path: "P") ?? ""
    #expect(sentence.contains("TLS: certificate verify failed"), "\(sentence)")
  }
}
