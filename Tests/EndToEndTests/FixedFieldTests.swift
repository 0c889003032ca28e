// API keys and Basic credentials in place of tokens: the built program between curl and an nginx that demands them.

import Bytes
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct FixedFieldTests {
  private static let (key, newKey, password) = ("first-key-0123456789", "second-key-0123456789", "open sesame")
  private let directory: TemporaryDirectory
  private let api: Int
  private let nginx: ChildProcess

  /// An API at `/keyed/` that takes the second key alone once `changed` is there, and one at `/basic/`.
  init() async throws {
    directory = try TemporaryDirectory()
    api = try freePort()
    for secret in [Self.key, Self.newKey, Self.password] { ProxyLedger.current?.add(secret: secret) }
    let hash = try await succeed(["openssl", "passwd", "-apr1", Self.password])
    let users = try directory.write("proxy:\(hash)", to: "users")
    nginx = try await TestSupport.nginx(
      serving: """
        server {
          listen 127.0.0.1:\(api);
          default_type text/plain;
          location /keyed/ {
            set $expected "\(Self.key)";
            if (-f \(directory.file("changed"))) { set $expected "\(Self.newKey)"; }
            add_header X-Echo $http_x_api_key always;
            add_header WWW-Authenticate 'ApiKey realm="weather"' always;
            if ($http_x_api_key != $expected) { return 401 "refused"; }
            return 200 "authorization=$http_authorization tenant=$http_x_tenant agent=$http_user_agent";
          }
          location /basic/ {
            auth_basic weather;
            auth_basic_user_file \(users);
            try_files $uri =404;
          }
        }
        """, at: api, in: directory)
  }

  private func proxy(_ top: String = "", more: String = "", rules: String = "") async throws
    -> ProxyUnderTest
  {
    try directory.replace("key", with: Self.key + "\n")
    try directory.replace("password", with: Self.password + "\n")
    return try await ProxyUnderTest(
      in: directory,
      """
      \(top)
      routes:
        - name: keyed
          path: /keyed/
          upstream: "http://127.0.0.1:\(api)/keyed/"
          token: {header: X-API-Key, value_file: key\(rules)}\(more)
        - name: basic
          path: /basic/
          upstream: "http://127.0.0.1:\(api)/basic/"
          token: {basic: {username: proxy, password_file: password}}
      """)
  }

  @Test func `an API gets its key or password, whatever the caller sends, and the key comes back to no caller`()
    async throws
  {
    let proxy = try await proxy(
      more: "\n    request_headers: {set: {X-Tenant: contoso}, remove: [User-Agent]}")
    for fields in [[], ["X-API-Key: own"], ["x-api-key: own", "X-Tenant: evil", "User-Agent: evil"]] {
      let answer = try await proxy.get("/keyed/a", fields.flatMap { ["-H", $0] })
      #expect(answer.status == 200 && answer.body == "authorization= tenant=contoso agent=")
      #expect(answer["x-echo"] == nil)
    }
    // Another field is the caller's own matter.
    let own = try await proxy.get("/keyed/a", ["-H", "Authorization: Bearer own"])
    #expect(own.body.hasPrefix("authorization=Bearer own "))
    // nginx let the credentials in: there is no such file.
    #expect(try await proxy.get("/basic/a").status == 404)
    #expect(try await proxy.get("/basic/a", ["-u", "own:own"]).status == 404)
    #expect(try await eventually { proxy.accessRecords.count == 6 })
    #expect(proxy.accessRecords.allSatisfy { $0["credential"] == .string("fixed") })
    let status = try await proxy.admin("/status").body
    #expect(
      status.contains("keyed    ready, adds X-API-Key\n") && status.contains("basic    ready, adds Authorization\n"))
    #expect(try await proxy.admin("/status?format=json").body.contains(#""field":"X-API-Key""#))
    #expect(try await proxy.admin("/readyz").status == 200)
  }

  @Test func `api-keys: each API gets its credential`() async throws {
    try directory.replace("key", with: Self.key + "\n")
    try directory.replace("password", with: Self.password + "\n")
    let text = try recipe(
      "api-keys",
      [
        ("https://weather.example/v2/", "http://127.0.0.1:\(api)/keyed/"),
        ("https://archive.example/", "http://127.0.0.1:\(api)/basic/"), ("username: reports", "username: proxy"),
        ("/etc/bearer-proxy/secrets/weather", directory.file("key")),
        ("/etc/bearer-proxy/secrets/archive", directory.file("password")),
      ])
    let proxy = try await ProxyUnderTest(in: directory, text)
    let check = try await proxy.command(["check"])
    #expect(check.status == 0 && !check.errors.contains("warning"), "\(check.errors)")
    #expect(try await proxy.get("/weather/today").status == 200)
    #expect(try await proxy.get("/archive/a").status == 404)
  }

  @Test(arguments: [(", existing: keep", 401, 200), (", existing: reject", 400, 200), ("", 200, 200)])
  func `a caller's field of that name is replaced, kept or rejected`(
    rules: String, status: Int, without: Int
  ) async throws {
    let proxy = try await proxy(rules: rules)
    let answer = try await proxy.get("/keyed/a", ["-H", "X-Api-Key: own-key"])
    #expect(answer.status == status)
    if rules.contains("keep") { #expect(answer["vary"] == "X-API-Key" && answer["x-echo"] == "own-key") }
    #expect(try await proxy.get("/keyed/a").status == without)
  }

  @Test func `a refusal is passed on, and a changed file takes over`() async throws {
    let proxy = try await proxy()
    #expect(try await proxy.get("/keyed/a").status == 200)
    try directory.write("", to: "changed")
    let refused = try await proxy.get("/keyed/a")
    #expect(refused.status == 401 && refused.body == "refused")
    #expect(refused["www-authenticate"] == #"ApiKey realm="weather""#)
    try directory.replace("key", with: Self.newKey)
    #expect(try await eventually { try await proxy.get("/keyed/a").status == 200 })
  }

  @Test func `check --live shows the field and tries it`() async throws {
    let proxy = try await proxy()
    let words = ["check", "-c", proxy.configuration, "--live", "--route", "keyed", "--probe", "a"]
    let good = try await run([binary()] + words)
    #expect(good.status == 0, "\(good.output)")
    #expect(good.output.contains("the field X-API-Key of the configuration\n"))
    #expect(good.output.contains("is answered with 200\n"))
    try directory.replace("key", with: "wrong-key-0123456789")
    let wrong = try await run([binary()] + words)
    #expect(wrong.status == 1)
    #expect(wrong.output.contains("The upstream does not take the key or password."))
    #expect(!wrong.output.contains("wrong-key"))
    let token = try await proxy.command(["token", "--route", "keyed"])
    #expect(token.status == 2 && token.errors.contains("adds X-API-Key, which the configuration has, and no token"))
  }

  @Test func `an engine gets the field by its name, and another one when the file has changed`() async throws {
    let front = try freePort()
    let top = """
      listeners:
        - address: 127.0.0.1:PORT
          hand_out: proxies
          callers: {header: {name: X-Engine, value: engine-secret-0123456789}}
      """
    let proxy = try await proxy(top, more: "\n    hand_out: proxies")
    func ask(_ fields: String...) async throws -> Answer {
      try await curl(
        ["-H", "X-Engine: engine-secret-0123456789"] + fields.flatMap { ["-H", $0] }
          + [proxy.url("/.bearer/authorize/keyed")])
    }
    let first = try await ask("X-API-Key: own")
    #expect(first.status == 200 && first["x-api-key"] == Self.key && first["cache-control"] == "no-store")
    #expect(first["authorization"] == nil && first["x-bearer-expires"] == nil)
    let refused = try await ask(
      "X-Bearer-Refused: \(Self.key)", "X-Bearer-Status: 401", "X-Bearer-Challenge: ApiKey realm=x")
    #expect(refused.status == 401 && refused["www-authenticate"] == "ApiKey realm=x" && refused["x-api-key"] == nil)
    #expect(try await ask("X-Bearer-Refused: former-key").status == 200)
    #expect(try await ask("Origin: https://evil.example").status == 403)
    #expect(try await metricSum(proxy, "bearer_proxy_tokens_handed_out_total", "keyed") == 2)

    let printed = try await run([binary(), "engine", "nginx", "-c", proxy.configuration])
    let part = try EngineStage.replacing(
      printed.output, [("127.0.0.1:8000", "127.0.0.1:\(front)"), ("\"SECRET\"", "engine-secret-0123456789")])
    let engine = try await TestSupport.nginx(serving: part, at: front)
    func through(_ fields: String...) async throws -> Answer {
      try await curl(fields.flatMap { ["-H", $0] } + ["http://127.0.0.1:\(front)/keyed/a"])
    }
    #expect(try await through("X-API-Key: own").status == 200)
    try directory.write("", to: "changed")
    let late = try await through()
    #expect(late.status == 401 && late.body == "refused")
    try directory.replace("key", with: Self.newKey)
    #expect(try await eventually { try await through().status == 200 })
    _ = engine
  }
}
