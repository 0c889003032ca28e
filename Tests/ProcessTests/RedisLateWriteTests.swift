// A write whose reply is lost: the server has it, and the process repeats it after others have written.

import Bytes
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct RedisLateWriteTests {
  /// A way to a server that loses the reply to the first write, and pauses until `resume`.
  private final class LosingTransport: RedisTransport {
    private let client: RedisClient
    private let state = Locked((hasLost: false, isPaused: false))

    init(_ client: RedisClient) { self.client = client }

    var pausing: RedisFailure? { state.withLock { $0.isPaused ? .timedOut : nil } }

    func resume() { state.withLock { $0.isPaused = false } }

    func perform(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer {
      if let pausing { throw pausing }
      let answer = try await client.perform(commands)
      let isLost = state.withLock { state in
        guard !state.hasLost, commands.contains(where: { $0.name == "EVAL" }) else { return false }
        state = (true, true)
        return true
      }
      if isLost { throw .timedOut }
      return answer
    }
  }

  /// An application's own token.
  private static func own(_ token: String) throws -> IssuedTokens {
    let body = #"{"token_type": "Bearer", "access_token": "\#(token)", "expires_in": 3600}"#
    return IssuedTokens(
      try TokenReply(ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: CacheStore.start),
      clientID: SignedInPerson.client, environment: SignedInPerson.environment, realm: SignedInPerson.tenant,
      grantType: "client_credentials", requested: try ScopeSet(["api://orders/.default"]), isSignIn: false)
  }

  @Test(arguments: [true, false])
  func `its repetition replaces no newer token of another process`(isSignIn: Bool) async throws {
    let redis = try await RedisPeer()
    let loop = try EventLoop()
    let server = try RedisServer("redis://127.0.0.1:\(redis.port)")
    let way = RedisWay(
      server: server, tokens: nil, tls: nil, loop: loop, resolver: Resolver(), timing: RedisTiming())
    let transport = LosingTransport(RedisClient(way, server.places[0]) { _ in })
    let one = await CacheStore.redis(over: transport, prefix: server.keyPrefix) { _ in }
    let two = await CacheStore.redis(server, loop: loop, resolver: Resolver())
    let alice = SignedInPerson("alice")

    let first = isSignIn ? try alice.issued(generation: 0, now: CacheStore.start) : try Self.own("first")
    await #expect(throws: CacheStoreError.self) {
      try await one.modify { document in _ = document.add(first, now: CacheStore.start, at: CacheStore.start + 20) }
    }
    // The other process sees it, and has a newer one.
    await two.look()
    if isSignIn {
      let next = try alice.issued(generation: 1, isSignIn: false, now: CacheStore.start)
      let held = try #require(await two.snapshot().refreshTokens(alice.query).first)
      try await two.modify { document in
        document.add(next, now: CacheStore.start + 10)
        document.rotate(held, to: Secret("\(alice.refreshToken(1))-"), obtainedAt: CacheStore.start + 10)
      }
    } else {
      let next = try Self.own("next")
      try await two.modify { document in _ = document.add(next, now: CacheStore.start + 10) }
    }
    transport.resume()
    #expect(try await eventually { one.trouble == nil && one.loss == nil })
    for store in [one, await CacheStore.redis(server, loop: loop, resolver: Resolver())] {
      let document = await store.snapshot()
      let secrets = document[.accessToken].values.compactMap { $0.secret?.revealed() }
      #expect(secrets == [isSignIn ? "at-alice-1-" : "next"])
      if isSignIn { #expect(alice.generation(in: document) == 1) }
    }
  }
}
