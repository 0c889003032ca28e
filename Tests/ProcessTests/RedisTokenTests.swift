// A Redis server that takes tokens in the place of a password, as Azure's does: an access control list whose passwords
// the test changes to the tokens that the server is to take next.

import Bytes
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct RedisTokenTests {
  static let object = "6b1f2c3d-0000-4000-8000-0000000000aa"
  let loop: EventLoop
  let provider = TokenSource()
  let alice = SignedInPerson("alice")
  let bob = SignedInPerson("bob")
  let refusals = Locked<[String]>([])

  init() throws {
    loop = try EventLoop()
  }

  /// A server whose one useful user is the application, with no password yet.
  private func server() async throws -> RedisPeer {
    let redis = try await RedisPeer()
    _ = try await redis.cli(["acl", "setuser", Self.object, "on", "~bp:*", "resetchannels"] + Self.commands)
    return redis
  }

  private static let commands = RedisPeer.commands.split(separator: " ").map(String.init)

  private func take(_ number: Int, _ redis: RedisPeer) async throws {
    try await redis.cli("acl", "setuser", Self.object, "resetpass", ">" + TokenSource.token(number))
  }

  private func tokens(user: String? = nil) throws -> RedisTokens {
    let application = Application(
      name: "cache", authority: try Authority("https://login.microsoftonline.com/contoso.onmicrosoft.com"),
      clientID: "client", credential: .secret(Secret("s3cret")), fetch: provider.fetch)
    return RedisTokens(
      TokenSubscription(application: application, scopes: .azureRedis), user: user,
      TokenBroker.Surroundings(
        now: { [provider] in provider.now }, jitter: { 0 },
        sleep: { _ in do { try await Task.sleep(for: .milliseconds(50)) } catch {} }))
  }

  private func open(_ redis: RedisPeer, user: String? = nil) async throws -> CacheStore {
    var server = try RedisServer("redis://127.0.0.1:\(redis.port)")
    server.keyPrefix = "bp:"
    return await CacheStore.redis(server, tokens: try tokens(user: user), loop: loop, resolver: Resolver()) {
      [refusals] event in
      if case .refusedRenewal(let code) = event { refusals.withLock { $0.append(code) } }
    }
  }

  /// The number of AUTH commands that the server got, and of those it refused.
  private func entries(_ redis: RedisPeer) async throws -> (calls: Int, refused: Int) {
    let lines = try await redis.cli("info", "commandstats").split(whereSeparator: \.isNewline)
    let line = lines.first { $0.hasPrefix("cmdstat_auth:") }
    func number(_ name: String) -> Int {
      let fields = (line ?? "").split { ":,\r".contains($0) }
      return fields.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) } ?? 0
    }
    return (number("calls"), number("failed_calls") + number("rejected_calls"))
  }

  @Test func `the object id of the token and the token open the server, for the scope of Azure's`() async throws {
    let redis = try await server()
    try await take(1, redis)
    let store = try await open(redis)
    try await store.add(alice)
    #expect(store.trouble == nil, "\(String(describing: store.trouble))")
    #expect(provider.forms.withLock { $0 }.allSatisfy { $0.contains("scope=https%3A%2F%2Fredis.azure.com%2F.default") })
    #expect(try await redis.cli("--raw", "keys", "*").contains("bp:account:"))
    // The cache that it opens does not hold it.
    let key = "bp:account:login.microsoftonline.com:\(alice.home)"
    #expect(try await !redis.cli("hget", key, "entries").contains(TokenSource.token(1)))
    #expect(try await !redis.cli("--raw", "keys", "*").contains("bp:application:client"))
  }

  @Test func `another user than the token's is the configuration's`() async throws {
    let redis = try await server()
    try await take(1, redis)
    #expect(try await open(redis, user: "stranger").trouble == .server(.credentials(code: "WRONGPASS")))
  }

  @Test func `a token that names no object id needs a user`() async throws {
    let redis = try await server()
    provider.isNameless.withLock { $0 = true }
    #expect(try await open(redis).trouble == .server(.nameless(application: "cache")))
  }

  @Test func `an open connection authenticates again before its token ends`() async throws {
    let redis = try await server()
    try await take(1, redis)
    let store = try await open(redis)
    try await store.add(alice)
    try await take(2, redis)
    // Five minutes before its end.
    provider.clock.withLock { $0 = CacheStore.start + 3300 }
    #expect(try await eventually { try await entries(redis) == (2, 0) })
    try await store.add(bob)
    #expect(store.trouble == nil && refusals.withLock { $0.isEmpty })
    let clients = try await redis.cli("client", "list").split(whereSeparator: \.isNewline)
    #expect(clients.count { $0.contains("user=\(Self.object)") } == 1)
  }

  @Test func `a refused renewal loses nothing: the connection serves until it is cut, and changes are kept`()
    async throws
  {
    let redis = try await server()
    try await take(1, redis)
    let store = try await open(redis)
    try await store.add(alice)
    // The server does not take the next token.
    try await take(9, redis)
    provider.clock.withLock { $0 = CacheStore.start + 3300 }
    #expect(try await eventually { try await entries(redis) == (2, 1) })
    try await store.add(bob)
    #expect(store.trouble == nil && refusals.withLock { $0 } == ["WRONGPASS"])
    // Cut, and refused.
    try await redis.cli("client", "kill", "user", Self.object)
    #expect(try await eventually { store.trouble == .server(.credentials(code: "WRONGPASS")) })
    let carol = SignedInPerson("carol")
    await #expect(throws: CacheStoreError.self) { try await store.add(carol) }
    #expect(carol.generation(in: await store.snapshot()) == 0)
    // Taken again.
    try await take(2, redis)
    #expect(try await eventually { store.trouble == nil })
    let keys = try await redis.cli("--raw", "keys", "*")
    #expect([alice, bob, carol].allSatisfy { keys.contains($0.home) })
  }

  @Test func `while the provider is away the open connection serves, and a new one waits for a token`() async throws {
    let redis = try await server()
    try await take(1, redis)
    let store = try await open(redis)
    provider.isAway.withLock { $0 = true }
    provider.clock.withLock { $0 = CacheStore.start + 4000 }
    try await store.add(alice)
    #expect(store.trouble == nil)
    try await redis.cli("client", "kill", "user", Self.object)
    #expect(
      try await eventually {
        guard case .server(.token("cache", _)) = store.trouble else { return false }
        return true
      }, "\(String(describing: store.trouble))")
    await #expect(throws: CacheStoreError.self) { try await store.add(bob) }
    try await take(2, redis)
    provider.isAway.withLock { $0 = false }
    provider.clock.withLock { $0 = CacheStore.start + 4100 }
    #expect(try await eventually { store.trouble == nil })
    #expect(try await redis.cli("--raw", "keys", "*").contains(bob.home))
  }
}

/// Entra as far as a cache needs it: tokens that name an object, each with a number.
final class TokenSource: Sendable {
  let clock = Locked(CacheStore.start)
  let forms = Locked<[String]>([])
  let isAway = Locked(false)
  let isNameless = Locked(false)

  var now: UnixTime { clock.withLock { $0 } }

  static func token(_ number: Int, isNameless: Bool = false) -> String {
    let object = isNameless ? "" : #""oid":"\#(RedisTokenTests.object)","#
    return [#"{"alg":"RS256","typ":"JWT"}"#, #"{\#(object)"jti":"\#(number)"}"#, "signature"]
      .map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
  }

  var fetch: Fetch {
    { [self] request throws(FetchError) in
      if isAway.withLock({ $0 }) { throw .closed(host: request.url.host) }
      guard case .post(_, let body) = request.method else {
        let tenant = "https://login.microsoftonline.com/11111111-aaaa-4aaa-8aaa-111111111111"
        let text = #"{"issuer": "\#(tenant)/v2.0", "token_endpoint": "\#(tenant)/oauth2/v2.0/token"}"#
        return FetchResponse(status: 200, fields: [], body: Array(text.utf8))
      }
      let number = forms.withLock { forms in
        forms.append(String(decoding: body, as: UTF8.self))
        return forms.count
      }
      let token = Self.token(number, isNameless: isNameless.withLock { $0 })
      let text = #"{"token_type": "Bearer", "access_token": "\#(token)", "expires_in": 3600}"#
      return FetchResponse(status: 200, fields: [], body: Array(text.utf8))
    }
  }
}
