// A Redis server with more people than a process holds: it holds those that it is asked for.

import Bytes
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(10)))
struct RedisPeopleTests {
  static let count = 12
  let loop: EventLoop
  let authority: Authority
  let people = (0..<count).map { SignedInPerson("p\($0)") }

  init() throws {
    loop = try EventLoop()
    authority = try Authority("https://\(SignedInPerson.environment)/\(SignedInPerson.tenant)")
  }

  private func open(_ redis: RedisPeer, limit: Int = 3, seal: CacheSeal = .none) async throws -> CacheStore {
    var server = try RedisServer("redis://127.0.0.1:\(redis.port)")
    (server.keyPrefix, server.user, server.password) = ("bp:", "bp", Secret("s3cret"))
    return await CacheStore.redis(server, seal: seal, loop: loop, resolver: Resolver(), holdLimit: limit)
  }

  /// A server whose user has the rights that the documents list.
  private func start() async throws -> RedisPeer {
    try await RedisPeer(
      user: "bp on >s3cret ~bp:* resetchannels \(RedisPeer.commands)",
      client: ["--user", "bp", "--pass", "s3cret", "--no-auth-warning"])
  }

  private func signOut(_ person: SignedInPerson, of store: CacheStore) async throws {
    let (home, authority) = (person.home, authority)
    try await store.modify(about: interest(.called(home))) { document in
      document.removeAccount(home: home, at: authority, clientID: SignedInPerson.client)
    }
  }

  private func interest(_ people: CacheInterest.People) -> CacheInterest {
    CacheInterest(people, at: authority, clientID: SignedInPerson.client)
  }

  private func name(_ person: SignedInPerson) -> String { "\(person.uid)@contoso.example" }

  /// The people that a document holds.
  private func held(_ document: CacheDocument) -> Set<String> {
    Set(people.filter { $0.generation(in: document) != nil }.map(\.uid))
  }

  private func fill(_ redis: RedisPeer) async throws {
    let store = try await open(redis, limit: 1000)
    for person in people { try await store.add(person) }
  }

  @Test func `a person is read when asked for, by user name, local id or home id`() async throws {
    let redis = try await start()
    try await fill(redis)
    let names = [("P3@Contoso.Example", 3), (people[4].uid, 4), (people[5].home, 5)]
    let store = try await open(redis)
    #expect(!store.isComplete && store.trouble == nil)
    #expect(held(await store.snapshot()) == [])
    for (index, (name, person)) in names.enumerated() {
      let (document, isKnown) = await store.snapshot(of: interest(.called(name)))
      #expect(isKnown && people[person].generation(in: document) == 0, "\(name)")
      #expect(held(document) == Set(names.prefix(index + 1).map { people[$0.1].uid }))
      #expect(document[.appMetadata].count == 1)
    }
    let (document, isKnown) = await store.snapshot(of: interest(.called("nobody@contoso.example")))
    #expect(isKnown && held(document).count == 3)
    // No account is named: several are possible.
    let some = await store.snapshot(of: interest(.some)).document
    #expect(some.choice(named: nil, authority: authority, clientID: SignedInPerson.client).count > 1)
  }

  @Test func `changes of others are seen for people who were asked for, also for those who were not there`()
    async throws
  {
    let redis = try await start()
    try await fill(redis)
    let (one, two) = (try await open(redis), try await open(redis))
    let newcomer = SignedInPerson("newcomer")
    for name in [name(people[1]), name(people[2]), name(newcomer)] {
      _ = await two.snapshot(of: interest(.called(name)))
    }
    try await one.add(people[1], 1)
    try await one.add(people[9], 1)
    try await signOut(people[2], of: one)
    try await one.add(newcomer)
    #expect(
      try await eventually {
        let document = await two.snapshot()
        return people[1].generation(in: document) == 1 && people[2].generation(in: document) == nil
          && newcomer.generation(in: document) == 0 && people[9].generation(in: document) == nil
      })
  }

  @Test func `a write about a person who is not held goes over what is there, and other entries stay`() async throws {
    let redis = try await start()
    try await fill(redis)
    let store = try await open(redis)
    let other = try people[7].issued(generation: 3, scopes: "Mail.Read", now: CacheStore.start)
    try await store.modify { document in _ = document.add(other, now: CacheStore.start) }
    let document = await (try await open(redis, limit: 1000)).snapshot()
    #expect(held(document).count == Self.count)
    #expect(
      document.accessToken(people[7].query, scopes: try ScopeSet(parameter: "User.Read"), now: CacheStore.start) != nil)
    #expect(
      document.accessToken(people[7].query, scopes: try ScopeSet(parameter: "Mail.Read"), now: CacheStore.start) != nil)
  }

  @Test func `a cache that grows too large keeps what was asked for, and forgets the rest`() async throws {
    let redis = try await start()
    let store = try await open(redis, limit: 6)
    for person in people.prefix(4) { try await store.add(person) }
    _ = await store.snapshot(of: interest(.called(name(people[0]))))
    let other = try await open(redis, limit: 1000)
    for person in people.dropFirst(4) { try await other.add(person) }
    #expect(
      try await eventually {
        let held = held(await store.snapshot())
        return !store.isComplete && held == [people[0].uid]
      })
    let last = await store.snapshot(of: interest(.called(name(people[11])))).document
    #expect(held(last) == [people[0].uid, people[11].uid])
  }

  @Test func `a server that lost its data gets back the people who were asked for`() async throws {
    var redis = try await start()
    try await fill(redis)
    let store = try await open(redis)
    for person in people.prefix(2) { _ = await store.snapshot(of: interest(.called(name(person)))) }
    try await redis.kill()
    try await redis.restart(isEmpty: true)
    #expect(
      try await eventually {
        let fresh = try await open(redis)
        return held(await fresh.snapshot(of: interest(.called(name(people[1])))).document).contains(people[1].uid)
      })
  }

  @Test func `pages have everyone once, also while people change`() async throws {
    let redis = try await start()
    try await fill(redis)
    let store = try await open(redis)
    let writer = try await open(redis)
    let application = Application(
      name: "desk", authority: authority, clientID: SignedInPerson.client, credential: nil,
      fetch: { request throws(FetchError) in throw .malformed(host: request.url.host) })
    var listed: [String] = []
    try await SignedInAccounts(application, store: store).pages { page in
      listed += page.map(\.account.username)
      do { try await writer.add(people[0], 1) } catch { Issue.record(error) }
      return true
    }
    #expect(listed.sorted() == people.map(name).sorted())
    #expect(held(await store.snapshot()) == [])
    #expect(await SignedInAccounts(application, store: store).accounts(called: name(people[8])).count == 1)
  }

  @Test func `entries of an earlier version, and of a former key, are numbered and encrypted before the first answer`()
    async throws
  {
    let redis = try await start()
    try await fill(redis)
    try await redis.cli("del", "bp:people", "bp:numbering")
    let wanted = interest(.called(name(people[6])))
    let first = try await open(redis)
    #expect(held(await first.snapshot(of: wanted).document) == [people[6].uid])
    // It follows what others write after that.
    try await (try await open(redis)).add(people[6], 1)
    #expect(try await eventually { people[6].generation(in: await first.snapshot()) == 1 })
    let keys = [Secret([UInt8](repeating: 1, count: 32)), Secret([UInt8](repeating: 2, count: 32))]
    let sealed = try await open(redis, seal: try CacheSeal([keys[0]]))
    #expect(held(await sealed.snapshot(of: wanted).document) == [people[6].uid])
    #expect(sealed.trouble == nil)
    let numbers = try await redis.cli("zrangebyscore", "bp:people", "-inf", "+inf", "withscores")
    let next = try await open(redis, seal: try CacheSeal([keys[1], keys[0]]))
    #expect(held(await next.snapshot(of: wanted).document) == [people[6].uid])
    #expect(try await redis.cli("zrangebyscore", "bp:people", "-inf", "+inf", "withscores") != numbers)
    // Nothing needs the former key.
    let last = try await open(redis, limit: 1000, seal: try CacheSeal([keys[1]]))
    #expect(held(await last.snapshot()).count == Self.count && last.trouble == nil)
  }

  @Test func `while keys are replaced, proxies with either order of them find people, and do not write for ever`()
    async throws
  {
    let redis = try await start()
    let keys = [Secret([UInt8](repeating: 1, count: 32)), Secret([UInt8](repeating: 2, count: 32))]
    let seals = [try CacheSeal(keys), try CacheSeal(keys.reversed())]
    let writer = try await open(redis, limit: 1000, seal: seals[0])
    for person in people { try await writer.add(person) }
    var stores: [CacheStore] = []
    for seal in seals { stores.append(try await open(redis, seal: seal)) }
    for (index, store) in stores.enumerated() {
      let document = await store.snapshot(of: interest(.called(name(people[index])))).document
      #expect(held(document) == [people[index].uid])
      // Writes of the other one are found by their numbers.
      let newcomer = SignedInPerson("newcomer\(index)")
      try await stores[1 - index].add(newcomer)
      let found = await store.snapshot(of: interest(.called(name(newcomer)))).document
      #expect(newcomer.generation(in: found) == 0)
    }
    let version = try await redis.cli("get", "bp:version")
    for store in stores { for _ in 0..<3 { await store.look() } }
    #expect(try await redis.cli("get", "bp:version") == version && stores.allSatisfy { $0.trouble == nil })
  }

  @Test func `of many who ask for a person at once, each finds that person`() async throws {
    let redis = try await start()
    try await fill(redis)
    let store = try await open(redis)
    for person in people {
      let wanted = interest(.called(name(person)))
      let found = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<50 {
          group.addTask { person.generation(in: await store.snapshot(of: wanted).document) == 0 }
        }
        return await group.reduce(true) { $0 && $1 }
      }
      #expect(found, "\(person.uid)")
    }
  }

  @Test func `while the server is away, a person who was never read may be there`() async throws {
    let redis = try await start()
    try await fill(redis)
    let store = try await open(redis)
    _ = await store.snapshot(of: interest(.called(name(people[0]))))
    try await redis.kill()
    #expect(try await eventually { store.trouble != nil })
    let (held, isHeldKnown) = await store.snapshot(of: interest(.called(name(people[0]))))
    #expect(isHeldKnown && people[0].generation(in: held) == 0)
    #expect(!(await store.snapshot(of: interest(.called(name(people[1])))).isKnown))
  }
}
