// The store and a real server: what it reads, what it writes over, what it does while the server is away, and whom it
// lets in.

import Bytes
import Glibc
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct RedisCacheStoreTests {
  let loop: EventLoop
  let failures = Locked<[(error: CacheStoreError, kept: Int, isNews: Bool)]>([])
  let recoveries = Locked(0)
  let alice = SignedInPerson("alice")
  let bob = SignedInPerson("bob")

  init() throws {
    loop = try EventLoop()
  }

  private func open(
    _ port: Int, tls: TLSContext? = nil, user: String? = nil, password: String? = nil, prefix: String = "bp:",
    timing: RedisTiming = RedisTiming()
  ) async throws -> CacheStore {
    var server = try RedisServer("\(tls == nil ? "redis" : "rediss")://127.0.0.1:\(port)/1")
    server.user = user
    server.password = password.map { Secret($0) }
    server.keyPrefix = prefix
    return await CacheStore.redis(server, tls: tls, loop: loop, resolver: Resolver(), timing: timing) {
      [failures, recoveries] event in
      switch event {
      case .failed(let error, let kept, let isNews): failures.withLock { $0.append((error, kept, isNews)) }
      case .recovered: recoveries.withLock { $0 += 1 }
      case .read, .written, .waited, .refusedRenewal: break
      }
    }
  }

  @Test func `entries of one store are read by another, with a key for each person`() async throws {
    let redis = try await RedisPeer()
    let one = try await open(redis.port)
    try await one.add(alice)
    try await one.add(bob)
    #expect(alice.generation(in: try await open(redis.port).snapshot()) == 0)
    let keys = try await redis.cli("-n", "1", "--raw", "keys", "*").split(separator: "\n").sorted()
    #expect(
      keys == [
        "bp:account:login.microsoftonline.com:\(alice.home)", "bp:account:login.microsoftonline.com:\(bob.home)",
        "bp:application:\(SignedInPerson.client)", "bp:index", "bp:numbering", "bp:people", "bp:version",
      ])
    // Another prefix is another cache.
    #expect(try await open(redis.port, prefix: "other:").snapshot().places.isEmpty)
    #expect(one.trouble == nil && failures.withLock { $0.isEmpty })
  }

  @Test func `writes and removals of another replica are seen within a second`() async throws {
    let redis = try await RedisPeer()
    let (one, two) = (try await open(redis.port), try await open(redis.port))
    let stream = one.changes
    try await two.add(alice)
    let limit = Duration.seconds(1)
    #expect(try await eventually(within: limit) { alice.generation(in: await one.snapshot()) == 0 })
    var changes = stream.makeAsyncIterator()
    await changes.next()
    try await two.remove(alice)
    #expect(try await eventually(within: limit) { alice.generation(in: await one.snapshot()) == nil })
    // A request at once does not get the old answer.
    try await two.add(bob)
    await one.look()
    #expect(bob.generation(in: await one.snapshot()) == 0)
  }

  @Test func `replicas that rotate the same and other tokens at once lose none`() async throws {
    let redis = try await RedisPeer()
    let stores = [try await open(redis.port), try await open(redis.port), try await open(redis.port)]
    try await stores[0].add(alice)
    try await withThrowingTaskGroup { group in
      for (index, store) in stores.enumerated() {
        group.addTask {
          for generation in 1...20 {
            try await store.rotate(alice, to: generation)
            try await store.add(SignedInPerson("p\(index)-\(generation)"))
          }
        }
      }
      try await group.waitForAll()
    }
    let document = try await open(redis.port).snapshot()
    #expect(alice.generation(in: document) == 20)
    #expect(document.homeAccountIDs.count == 61)
  }

  @Test func `while the server is away changes are kept, and written when it returns`() async throws {
    var redis = try await RedisPeer()
    let (one, two) = (try await open(redis.port), try await open(redis.port))
    try await one.add(alice)
    #expect(try await eventually { alice.generation(in: await two.snapshot()) == 0 })
    try await redis.kill()
    await #expect(throws: CacheStoreError.self) { try await one.rotate(alice, to: 1) }
    // Served from memory.
    #expect(alice.generation(in: await one.snapshot()) == 1)
    #expect(alice.generation(in: await two.snapshot()) == 0)
    let ran = await one.withRefreshLock("k") { true }
    #expect(ran)
    try await redis.restart()
    #expect(try await eventually { alice.generation(in: await two.snapshot()) == 1 })
    #expect(try await eventually { one.trouble == nil && two.trouble == nil })
    #expect(alice.generation(in: try await open(redis.port).snapshot()) == 1)
    // Two stores, one piece of news each.
    #expect(failures.withLock { $0.count { $0.isNews } } == 2)
    #expect(try await eventually { recoveries.withLock { $0 } == 2 })
  }

  @Test func `a server that comes back without its data is given it again, once`() async throws {
    var redis = try await RedisPeer()
    let (one, two) = (try await open(redis.port), try await open(redis.port))
    try await one.add(alice)
    try await one.add(bob)
    #expect(try await eventually { bob.generation(in: await two.snapshot()) == 0 })
    try await redis.kill()
    try await redis.restart(isEmpty: true)
    #expect(
      try await eventually {
        let document = try await open(redis.port).snapshot()
        return alice.generation(in: document) == 0 && bob.generation(in: document) == 0
      })
    for store in [one, two] {
      #expect(try await eventually { store.trouble == nil })
      // One of them may have read the server while the other was still giving back.
      #expect(
        try await eventually {
          let document = await store.snapshot()
          return alice.generation(in: document) == 0 && bob.generation(in: document) == 0
        })
    }
    // And goes on from there.
    try await two.rotate(alice, to: 1)
    #expect(try await eventually { alice.generation(in: await one.snapshot()) == 1 })
  }

  @Test func `one replica at a time holds the lock, and one that died holds it no longer than its lease`() async throws
  {
    let redis = try await RedisPeer()
    // A process that cannot reach the server, or waits too long, continues without the lock. That is no fault.
    var timing = RedisTiming()
    (timing.connect, timing.command, timing.lease) = (.seconds(60), .seconds(60), .seconds(60))
    var stores: [CacheStore] = []
    for _ in 1...3 { stores.append(try await open(redis.port, timing: timing)) }
    let (inside, most, runs) = (Locked(0), Locked(0), Locked(0))
    await withTaskGroup { group in
      for store in stores {
        for _ in 0..<3 {
          group.addTask {
            await store.withRefreshLock("alice", within: .seconds(60)) {
              let now = inside.withLock { value in
                value += 1
                return value
              }
              most.withLock { $0 = max($0, now) }
              runs.withLock { $0 += 1 }
              do { try await Task.sleep(for: .milliseconds(30)) } catch {}
              inside.withLock { $0 -= 1 }
            }
          }
        }
      }
    }
    #expect((most.withLock { $0 }, runs.withLock { $0 }) == (1, 9))
    #expect(try await redis.cli("-n", "1", "--raw", "keys", "bp:lock:*") == "\n")
    // A lease whose holder is gone.
    await stores[0].withRefreshLock("bob") {}
    let digest = "bob".utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 as UInt64 }
    let lock = "bp:lock:\(String(digest, radix: 16))"
    _ = try await redis.cli("-n", "1", "set", lock, "somebody", "PX", "1500")
    let holder = await stores[1].withRefreshLock("bob") { try? await redis.cli("-n", "1", "--raw", "get", lock) }
    #expect(holder != "somebody\n")
  }

  @Test func `a lease is lengthened as long as its holder works, and only its holder's`() async throws {
    let redis = try await RedisPeer()
    let pauses = LeasePauses()
    var timing = RedisTiming()
    timing.leasePause = { _ in await pauses.pause() }
    let store = try await open(redis.port, timing: timing)
    let outcome = await store.withRefreshLock("carol") { () -> Result<Void, any Error> in
      do {
        await pauses.begin()
        let lock = try await redis.cli("-n", "1", "--raw", "keys", "bp:lock:*").trimming("\n")
        #expect(lock.hasPrefix("bp:lock:"))
        // Longer than any lease, so that a shorter time is the renewal's doing.
        try await redis.cli("-n", "1", "pexpire", lock, "600000")
        pauses.end()
        await pauses.begin()
        #expect(try await redis.milliseconds(of: lock) <= 6000)
        // Another replica's by now.
        try await redis.cli("-n", "1", "set", lock, "another", "PX", "600000")
        pauses.end()
        await pauses.begin()
        #expect(try await redis.cli("-n", "1", "--raw", "get", lock) == "another\n")
        #expect(try await redis.milliseconds(of: lock) > 6000)
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
    #expect(try await redis.cli("-n", "1", "--raw", "keys", "bp:lock:*") != "\n")
  }

  @Test func `a key that holds no cache is reported, and left alone`() async throws {
    let redis = try await RedisPeer()
    let one = try await open(redis.port)
    try await one.add(alice)
    let key = "bp:account:login.microsoftonline.com:\(alice.home)"
    _ = try await redis.cli("-n", "1", "hset", key, "version", "700000", "entries", "{\"half")
    _ = try await redis.cli("-n", "1", "zadd", "bp:index", "700000", String(key.dropFirst(3)))
    _ = try await redis.cli("-n", "1", "set", "bp:version", "700000")
    #expect(try await eventually { one.trouble != nil })
    #expect(one.trouble?.description(path: "redis").hasSuffix("\(alice.home) is no token cache") == true)
    await #expect(throws: CacheStoreError.self) { try await one.rotate(alice, to: 1) }
    #expect(try await redis.cli("-n", "1", "hget", key, "entries") == "{\"half\n")
    #expect(alice.generation(in: await one.snapshot()) == 1)
  }

  @Test(arguments: ["9223372036854775807", "-1"])
  func `a number that is no version is reported, and the cache serves when it is gone`(number: String) async throws {
    let redis = try await RedisPeer()
    let one = try await open(redis.port)
    try await one.add(alice)
    _ = try await redis.cli("-n", "1", "set", "bp:version", number)
    #expect(try await eventually { one.trouble == .server(.notVersion(key: "bp:version")) })
    await #expect(throws: CacheStoreError.self) { try await one.rotate(alice, to: 1) }
    _ = try await redis.cli("-n", "1", "del", "bp:version")
    let two = try await open(redis.port)
    #expect(try await eventually { await two.has(alice, 1) && one.trouble == nil })
  }

  @Test func `a user with the documented access control list gets in, and no other user`() async throws {
    let redis = try await RedisPeer(
      user: "proxy on >s3cret-pass ~bp:* resetchannels \(RedisPeer.commands)")
    let store = try await open(redis.port, user: "proxy", password: "s3cret-pass")
    try await store.add(alice)
    await store.withRefreshLock("k") {}
    try await store.remove(alice)
    #expect(store.trouble == nil, "\(String(describing: store.trouble))")

    let wrong = try await open(redis.port, user: "proxy", password: "wrong")
    #expect(wrong.trouble == .server(.credentials(code: "WRONGPASS")))
    #expect(wrong.trouble?.description(path: "P") == "P: user or password are wrong (WRONGPASS)")
    #expect(try await open(redis.port).trouble == .server(.credentials(code: "NOAUTH")))
    let elsewhere = try await open(redis.port, user: "proxy", password: "s3cret-pass", prefix: "not-ours:")
    #expect(elsewhere.trouble == .server(.refused(command: "MGET", code: "NOPERM")))
  }

  @Test func `sign-in requirements reach every replica, end when met or old, and hold no token`()
    async throws
  {
    let redis = try await RedisPeer()
    let application = Application(
      name: "demo", authority: try Authority("https://login.microsoftonline.com/11111111-aaaa-4aaa-8aaa-111111111111"),
      clientID: "client", credential: nil,
      fetch: { request throws(FetchError) in throw .malformed(host: request.url.host) })
    let wish = TokenSubscription(application: application, subject: .account(nil), scopes: try ScopeSet(["A"]))
    var memories: [SignInRequirements] = []
    var stores: [CacheStore] = []
    for _ in 0..<2 {
      stores.append(try await open(redis.port))
      memories.append(
        SignInRequirements(
          beside: stores[stores.count - 1], subscriptions: ["r": wish, "s": wish], now: { CacheStore.start }))
    }
    let needs = try (1...2).map {
      SignInRequirement(claims: try Claims(json: #"{"n\#($0)":1}"#), since: CacheStore.start)
    }
    // Both at once, of different routes and of the same.
    memories[0].remember(needs[0], route: "r")
    memories[1].remember(needs[1], route: "r")
    memories[1].remember(needs[1], route: "s")
    for memory in memories {
      #expect(
        try await eventually {
          let known = await memory.all()
          return known["r"]?.claims?.text == #"{"n1":1,"n2":1}"# && known["s"] == needs[1]
        })
    }
    let left = try await redis.cli("-n", "1", "PTTL", "bp:challenges")
    #expect(Int(left.filter(\.isNumber)).map { (1...86_400_000).contains($0) } == true, "\(left)")
    await memories[1].met(by: try #require(await memories[1].requirement(of: "r")), routes: ["r", "s"])
    #expect(await memories[0].all().keys.sorted() == ["s"])
    await memories[0].met(by: needs[1], routes: ["s"])
    #expect(await memories[1].all().isEmpty)
    #expect(try await redis.cli("-n", "1", "EXISTS", "bp:challenges") == "0\n")

    // A server that hangs delays no request, and known requirements stay known.
    memories[0].remember(needs[0], route: "r")
    #expect(try await eventually { await memories[1].requirement(of: "r") != nil })
    try await redis.process.standStill()
    let began = ContinuousClock.now
    #expect(await memories[1].requirement(of: "r") == needs[0])
    #expect(ContinuousClock.now - began < .seconds(4))
    redis.process.send(SIGCONT)
    withExtendedLifetime(stores) {}
  }

  @Test func `a valid token serves after a restart while the provider is down`() async throws {
    let redis = try await RedisPeer()
    let authority = try Authority("https://login.microsoftonline.com/contoso.onmicrosoft.com")
    let tenant = "\(authority.url.origin)/11111111-aaaa-4aaa-8aaa-111111111111"
    let up: Fetch = { request throws(FetchError) in
      let text =
        if case .get = request.method {
          #"{"issuer": "\#(tenant)/v2.0", "token_endpoint": "\#(tenant)/oauth2/v2.0/token"}"#
        } else {
          #"{"token_type": "Bearer", "access_token": "token-1", "expires_in": 3600}"#
        }
      return FetchResponse(status: 200, fields: [], body: Array(text.utf8))
    }
    let down: Fetch = { request throws(FetchError) in throw .malformed(host: request.url.host) }
    func bearer(_ fetch: @escaping Fetch) async throws -> BearerValue {
      let broker = TokenBroker(
        TokenBroker.Surroundings(now: { CacheStore.start }, jitter: { 0 }), store: try await open(redis.port))
      let application = Application(
        name: "contoso", authority: authority, clientID: "client", credential: .secret(Secret("s3cret")), fetch: fetch)
      return try await broker.bearer(
        for: TokenSubscription(application: application, scopes: try ScopeSet(["api://orders/.default"])))
    }
    let value = try await bearer(up)
    let store = try await open(redis.port)
    #expect(try await eventually { await KnownTenants(text: store.text(.providers)).tenant(of: authority) != nil })
    let served = try await bearer(down)
    #expect(served.token == value.token && served.origin.source == .cache)
  }

  @Test func `a server with TLS is verified, and shown our certificate`() async throws {
    let authority = try await CertificateAuthority()
    let server = try await authority.issue("redis")
    let client = try await authority.issue("proxy")
    let redis = try await RedisPeer(
      RedisPeer.tls(server, of: authority, asks: true))
    let identity = TLSIdentity(certificatePath: client.certificateFile, keyPath: client.keyFile)
    let store = try await open(redis.port, tls: try TLSContext.client(trustPath: authority.file, identity: identity))
    try await store.add(alice)
    #expect(store.trouble == nil, "\(String(describing: store.trouble))")
    let stranger = try await open(redis.port, tls: try TLSContext.client(identity: identity))
    let sentence = stranger.trouble?.description(path: "P") ?? ""
    #expect(sentence.hasPrefix("P: TLS: certificate verify failed"), "\(sentence)")
    // Plain text to a port with TLS.
    #expect(try await open(redis.port).trouble != nil)
  }
}

extension RedisPeer {
  /// A key's time to live; below 0 if there is none.
  fileprivate func milliseconds(of key: String) async throws -> Int {
    try #require(Int(await cli("-n", "1", "--raw", "pttl", key).trimming("\n")))
  }
}

extension String {
  fileprivate func trimming(_ end: Character) -> String { filter { $0 != end } }
}
