// Replicas that have a Redis server in common: one token request for all, and what happens while the server is away.

import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RedisTests {
  /// The answers of all proxies to so many requests each, at once.
  private func storm(_ count: Int, _ proxies: [ProxyUnderTest]) async throws -> Set<Int> {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for proxy in proxies {
        for _ in 0..<count { group.addTask { try await proxy.get("/orders/all").status } }
      }
      return try await group.reduce(into: []) { $0.insert($1) }
    }
  }

  /// The number of a proxy's records with a message.
  private func count(_ message: String, _ proxy: ProxyUnderTest) -> Int {
    proxy.everythingWritten.split(separator: "\n").count { $0.contains("\"\(message)\"") }
  }

  @Test func `4 replicas make 1 token request at each expiry, though Redis is killed and restarted in between`()
    async throws
  {
    let scene = try await DeskScene()
    var redis = try await RedisPeer(in: scene.directory)
    try await scene.lifetime(8)
    let proxies = try await scene.proxies(4, place: "{redis: \"redis://127.0.0.1:\(redis.port)\"}")
    try await Task.sleep(for: .seconds(9))
    let first = try await scene.tokenRequests()
    #expect(try await storm(5, proxies) == [200])
    #expect(try await scene.tokenRequests() - first == 1)

    // Away: what is held serves, nothing is asked for, and each says so once.
    try await scene.lifetime(12)
    try await Task.sleep(for: .seconds(9))
    #expect(try await storm(1, proxies) == [200])
    try await redis.kill()
    let before = try await scene.tokenRequests()
    for proxy in proxies { #expect(try await proxy.get("/orders/away").status == 200) }
    for proxy in proxies {
      #expect(try await eventually { count("token cache cannot be used, serving from memory", proxy) == 1 })
      #expect(try await metricSum(proxy, "bearer_proxy_cache_failures_total", "unreachable") > 0)
    }
    #expect(try await scene.tokenRequests() == before)

    try await redis.restart()
    for proxy in proxies { #expect(try await eventually { count("token cache can be used again", proxy) == 1 }) }
    try await Task.sleep(for: .seconds(13))
    let after = try await scene.tokenRequests()
    #expect(try await storm(5, proxies) == [200])
    #expect(try await scene.tokenRequests() - after == 1)
    for proxy in proxies { #expect(count("token cache cannot be used, serving from memory", proxy) == 1) }

    try await scene.signOut(proxies[1], of: proxies)
  }

  @Test(arguments: [RedisGroup.Form.sentinels, .cluster])
  func `2 replicas make 1 token request at each expiry, though a primary is killed before it`(
    form: RedisGroup.Form
  ) async throws {
    let scene = try await DeskScene()
    let group = try await RedisGroup(form, prefix: "bearer-proxy:")
    for secret in [RedisGroup.password, RedisGroup.sentinelPassword] { ProxyLedger.current?.add(secret: secret) }
    try await scene.lifetime(10)
    let place = """
      {redis: "\(group.url)"\(group.keys), user: \(RedisGroup.user), password: \(RedisGroup.password)}
      """
    let proxies = try await scene.proxies(2, place: place)
    var before = try await scene.tokenRequests()
    try await group.servers[try await group.owner(of: "account:")].kill()
    try await Task.sleep(for: .seconds(11))
    for proxy in proxies { #expect(try await eventually { try await proxy.get("/orders/on").status == 200 }) }
    #expect(try await scene.tokenRequests() - before == 1)
    // The refresh token of that request is the one that is used now: the provider takes no other.
    try await Task.sleep(for: .seconds(11))
    before = try await scene.tokenRequests()
    #expect(try await storm(5, proxies) == [200])
    #expect(try await scene.tokenRequests() - before == 1)
  }

  @Test func `a proxy that starts without Redis asks for no sign-in, and serves when Redis is back`()
    async throws
  {
    let scene = try await DeskScene()
    var redis = try await RedisPeer(in: scene.directory)
    let place = "{redis: \"redis://127.0.0.1:\(redis.port)\"}"
    let one = try await scene.proxy(place: place)
    #expect(try await one.get("/orders/none").status == 401)
    try await scene.signIn(one)
    try await redis.kill()

    let two = try await scene.proxy(place: place)
    let answer = try await two.get("/orders/away")
    #expect(answer.status == 503 && answer.body.contains("urn:bearer-proxy:problem:token-cache-unavailable"))
    #expect(answer["retry-after"] == "2" && answer["www-authenticate"] == nil)
    let status = try await two.command(["status"])
    #expect(status.output.contains("so who is signed in is not known"), "\(status)")
    for words in [["accounts"], ["logout", "--account", "alice@contoso.example"]] {
      let refusal = try await two.command(words)
      #expect(refusal.status == 1 && refusal.errors.contains("so who is signed in is not known"), "\(refusal)")
    }
    let token = try await two.command(["token", "--route", "orders"])
    #expect(token.status == 1 && token.errors.contains("token-cache-unavailable"), "\(token)")

    try await redis.restart()
    #expect(try await eventually { try await two.get("/orders/back").status == 200 })
  }

  @Test func `the commands work on a Redis server with TLS, for a user of its access control list`() async throws {
    let scene = try await DeskScene()
    let authority = try await CertificateAuthority("redis-ca", in: scene.directory)
    let certificate = try await authority.issue("redis")
    let redis = try await RedisPeer(
      in: scene.directory,
      RedisPeer.tls(certificate, of: authority),
      user: "proxy on >kept-s3cret ~desk:* resetchannels \(RedisPeer.commands)")
    let page = textOfFile(testsDirectory + "/../config/cache.md")
    #expect(page.replacing("\n", with: " ").contains(RedisPeer.commands))
    ProxyLedger.current?.add(secret: "kept-s3cret")
    let password = try scene.directory.write("kept-s3cret\n", to: "redis-password")
    try await succeed(["chmod", "600", password])
    let place = """
      {redis: "rediss://127.0.0.1:\(redis.port)/0", user: proxy, password_file: "\(password)", key_prefix: "desk:",
       tls: {ca_file: "\(authority.file)"}}
      """
    let proxy = try await scene.proxy(place: place)
    let check = try await proxy.command(["check"])
    #expect(check.status == 0, "\(check.errors)")
    try await scene.signIn(proxy)

    let accounts = try await proxy.command(["accounts"])
    #expect(accounts.output.contains("alice@contoso.example") && accounts.errors.isEmpty, "\(accounts)")
    let token = try await proxy.command(["token", "--route", "orders"])
    #expect(token.status == 0 && token.errors.isEmpty, "\(token)")
    try await scene.signOut(proxy, of: [proxy])

    // Errors of the server, and our messages for them.
    let wrong = try scene.directory.write("another-s3cret", to: "wrong-password")
    try await succeed(["chmod", "600", wrong])
    let text = textOfFile(proxy.configuration)
    let cases: [(text: String, words: String)] = [
      (text.replacing("redis-password", with: "wrong-password"), "user or password are wrong (WRONGPASS)"),
      (text.replacing("tls: {ca_file: \"\(authority.file)\"}", with: "tls: {}"), "TLS: certificate verify failed"),
      (text.replacing("\"desk:\"", with: "\"other:\""), "the user may not use MGET on these keys (NOPERM)"),
      (text.replacing(":\(redis.port)/0", with: ":\(try freePort())/0"), "Connection refused"),
    ]
    for (text, words) in cases {
      let file = try scene.directory.write(text, to: "wrong.yaml")
      let answer = try await run([binary(), "accounts", "-c", file])
      #expect(answer.errors.contains("warning: rediss://127.0.0.1:"), "\(answer)")
      #expect(answer.errors.contains(words), "\(answer)")
    }
  }

  @Test func `on a server with more people than a proxy holds, a person signs in, is served, listed and signed out`()
    async throws
  {
    let scene = try await DeskScene()
    let redis = try await RedisPeer(in: scene.directory)
    // As an earlier version wrote them: without what people are found by.
    try await redis.cli(
      "eval",
      """
      for i = 1, 10001 do
        local home, host = i .. '.t', 'login.microsoftonline.com'
        local shard = 'account:' .. host .. ':' .. home
        local person = {home_account_id = home, environment = host, realm = 't', username = i .. '@x.example',
          local_account_id = tostring(i), authority_type = 'MSSTS'}
        redis.call('HSET', 'bearer-proxy:' .. shard, 'version', i, 'entries',
          cjson.encode({Account = {[home .. '-' .. host .. '-t'] = person}}))
        redis.call('ZADD', 'bearer-proxy:index', i, shard)
      end
      redis.call('SET', 'bearer-proxy:version', 10001)
      """, "0")
    let proxy = try await scene.proxy(place: "{redis: \"redis://127.0.0.1:\(redis.port)\"}")
    #expect(try await proxy.get("/orders/none").status == 401)
    try await scene.signIn(proxy)
    for words in [["accounts"], ["accounts", "--account", "alice@contoso.example"]] {
      let accounts = try await proxy.command(words)
      #expect(accounts.output.contains("  alice@contoso.example\n") && accounts.errors.isEmpty, "\(accounts)")
    }
    let live = try await run([binary(), "check", "--live", "-c", proxy.configuration])
    #expect(live.output.contains("/0: more than 10000 people"), "\(live)")
    try await scene.signOut(proxy, of: [proxy])
    // All the others, and the application.
    let last = try await redis.cli("zrangebyscore", "bearer-proxy:index", "-inf", "+inf", "limit", "10000", "9")
    #expect(last.split(separator: "\n").count == 2 && last.contains("application:"), "\(last)")
  }

  @Test func `an application's tokens open the server, and are in no cache`() async throws {
    let scene = try await DeskScene()
    let object = "c0a7050d-0000-4000-8000-0000000000c1"
    // Another test judges the token; here the name counts.
    let redis = try await RedisPeer(
      in: scene.directory, user: "\(object) on nopass ~bearer-proxy:* resetchannels \(RedisPeer.commands)")
    let portal = "  portal: \(scene.demo.application(DemoDirectory.Sample.portal, hasSecret: true))"
    let proxy = try await scene.proxy(
      place: "{redis: \"redis://127.0.0.1:\(redis.port)\", entra: portal}", applications: portal)
    try await scene.signIn(proxy)
    let accounts = try await proxy.command(["accounts"])
    #expect(accounts.output.contains("alice@contoso.example") && accounts.errors.isEmpty, "\(accounts)")
    let live = try await run([binary(), "check", "--live", "-c", proxy.configuration])
    #expect(live.output.contains("redis://127.0.0.1:\(redis.port)/0: 1 person"), "\(live)")

    let text = textOfFile(proxy.configuration)
    let circle = try scene.directory.write(text.replacing("entra: portal", with: "entra: desk"), to: "circle.yaml")
    let check = try await run([binary(), "check", "-c", circle])
    #expect(check.status == 2 && check.errors.contains("application 'desk' has no credential"), "\(check)")
    let unknown = try scene.directory.write(
      text.replacing(DemoDirectory.Sample.portal, with: DemoDirectory.Sample.visitor), to: "unknown.yaml")
    let refusal = try await run([binary(), "accounts", "-c", unknown])
    #expect(refusal.errors.contains("user or password are wrong (WRONGPASS)"), "\(refusal)")

    try await scene.signOut(proxy, of: [proxy])
  }
}
