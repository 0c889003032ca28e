// `check --live`: what it says of each link of the chain when it holds, and when it breaks.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LiveCheckTests {
  struct Report: Decodable {
    struct Step: Decodable {
      var step: String
      var verdict: String
      var detail: String
      var ms: Double?
      var advice: String?
    }
    struct Route: Decodable {
      var name: String
      var steps: [Step]
    }
    var verdict: String
    var routes: [Route]
    var cache: [Step]?

    func step(_ name: String, of route: String) -> Step? {
      routes.first { $0.name == route }?.steps.first { $0.step == name }
    }
  }

  func check(_ file: String, _ options: [String] = []) async throws -> (status: Int32, Report) {
    let result = try await run([try binary(), "check", "-c", file, "--live", "--json"] + options)
    #expect(result.errors == "")
    return (result.status, try JSONDecoder().decode(Report.self, from: Data(result.output.utf8)))
  }

  @Test func `a chain that holds is shown link by link, with times, and exits 0`() async throws {
    let scene = try await Scene()
    let file = scene.proxy.configuration
    let words = ["check", "-c", file, "--live", "--route", "orders", "--probe", "seen?secret=1"]
    let text = try await run([try binary()] + words)
    #expect(text.status == 0)
    let lines = text.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "orders" && lines.last == "\(file): everything works (1 route)")
    let order = [
      "configuration", "authority", "token", "upstream name", "upstream connection", "upstream tls", "probe",
    ]
    for (line, name) in zip(lines.dropFirst(), order) {
      #expect(line.hasPrefix("  ok      \(name) "), "\(line)")
      #expect(line.contains(" ms ") == (name != "configuration"))
    }
    #expect(text.output.contains(", certificate good for "))
    #expect(text.output.contains("from the identity provider, good for "))
    #expect(text.output.contains("GET /echo/seen is answered with 200\n") && !text.output.contains("secret=1"))

    let (status, report) = try await check(file, ["--route", "open"])
    #expect(status == 0 && report.verdict == "ok")
    #expect(report.routes.map(\.name) == ["open"])
    #expect(report.routes[0].steps.map(\.step) == ["configuration", "upstream_name", "upstream_connection"])
    #expect(report.routes[0].steps.dropFirst().allSatisfy { ($0.ms ?? -1) >= 0 })
  }

  @Test func `every broken link is found, each with what to do, and the others are still tried`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let authority = try await CertificateAuthority(in: directory)
    let other = try await CertificateAuthority()
    let nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let dead = try freePort()
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications:
        contoso: {authority: "\(provider.issuer)", client_id: \(OpenIDProvider.client), client_secret: \
      "\(OpenIDProvider.secret)"}
        expired: {authority: "\(provider.issuer)", client_id: another-app, client_secret: another-secret-of-old}
        away: {authority: "http://127.0.0.1:\(dead)", client_id: x, client_secret: y-of-the-away-application}
        wrong: {authority: "http://127.0.0.1:\(upstream.port)/nothing", client_id: x, client_secret: y-of-the-wrong-one}
      routes:
        - {name: expired, path: /a/, upstream: "http://127.0.0.1:\(upstream.port)/", application: expired, probe: seen,
           token: {as: application, scopes: [orders.read]}}
        - {name: away, path: /b/, upstream: "http://127.0.0.1:\(upstream.port)/", application: away,
           token: {as: application, scopes: [orders.read]}}
        - {name: wrong, path: /c/, upstream: "http://127.0.0.1:\(dead)/", application: wrong,
           token: {as: application, scopes: [orders.read]}}
        - {name: distrusted, path: /d/, upstream: "https://127.0.0.1:\(nginx.tlsPort)/", token: none,
           tls: {ca_file: "\(other.file)"}}
        - {name: nowhere, path: /e/, upstream: "https://nowhere.invalid/", token: none, tls: {ca_file: "\(other.file)"}}
        - {name: silent, path: /f/, upstream: "http://127.0.0.1:\(upstream.port)/", application: contoso, probe: \
      hang-up,
           token: {as: application, scopes: [orders.read]}}
      """, to: "broken.yaml")
    let (status, report) = try await check(file)
    #expect(status == 1 && report.verdict == "failed")
    func failure(_ step: String, _ route: String, _ words: String, _ advice: String) {
      let found = report.step(step, of: route)
      #expect(found?.verdict == "failed", "\(step) of \(route)")
      #expect(found?.detail.contains(words) == true, "\(found?.detail ?? "")")
      #expect(found?.advice?.contains(advice) == true, "\(found?.advice ?? "")")
    }
    failure("token", "expired", "invalid_client", "client secret of application 'expired'")
    failure("authority", "away", "accepted no connection", "firewall")
    failure("authority", "wrong", "metadata", "Check 'authority' of application 'wrong'")
    failure("upstream_connection", "wrong", "refused", "Nothing listens")
    failure("upstream_tls", "distrusted", "TLS", "ca_file")
    failure("upstream_name", "nowhere", "does not resolve", "spelt right")
    failure("probe", "silent", "no answer", "protocol")
    // The possible steps were tried.
    #expect(report.step("authority", of: "expired")?.verdict == "ok")
    #expect(report.step("upstream_connection", of: "away")?.verdict == "ok")
    #expect(report.step("probe", of: "expired")?.verdict == "skipped")
    #expect(report.step("token", of: "silent")?.verdict == "ok")
  }

  @Test func `the health of a gRPC server is its own word, and that it tells none is no failure`() async throws {
    let directory = try TemporaryDirectory()
    let states = ["SERVING", "NOT_SERVING", "UNIMPLEMENTED"]
    var routes = ""
    var servers: [PythonPeer] = []
    for (index, state) in states.enumerated() {
      servers.append(try await PythonPeer("grpc_peer.py", ["health", state], in: directory))
      routes += """
          - {name: \(state.lowercased()), path: /\(index)/, token: none, protocol: http2,
             upstream: "http://127.0.0.1:\(servers[index].port)/"}

        """
    }
    let plain = try await PythonPeer("scripted_upstream.py", in: directory)
    for version in ["http2", "http1"] {
      routes +=
        "  - {name: \(version), path: /\(version)/, upstream: \"http://127.0.0.1:\(plain.port)/\", token: none, "
      routes += "protocol: \(version)}\n"
    }
    let file = try directory.write("listeners: [{address: \"127.0.0.1:0\"}]\nroutes:\n\(routes)", to: "health.yaml")
    let (status, report) = try await check(file)
    #expect(status == 1 && report.verdict == "failed")
    for (state, verdict) in zip(states, ["ok", "failed", "skipped"]) {
      let step = report.step("health", of: state.lowercased())
      #expect(step?.verdict == verdict && step?.detail.contains(state) == true, "\(step?.detail ?? "")")
    }
    #expect(report.step("health", of: "not_serving")?.advice?.contains("its own log") == true)
    for name in ["http1", "http2"] { #expect(report.step("health", of: name) == nil) }
    #expect(try await check(file, ["--route", "unimplemented"]).status == 0)
  }

  @Test func `of two applications with one client id each asks with its own secret, and no good one hides a bad one`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let identity = "authority: \"\(provider.issuer)\", client_id: \(OpenIDProvider.client)"
    // The bad one is the first to be asked for, and the first in the file.
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: cache.json}
      applications:
        withdrawn: {\(identity), client_secret: withdrawn-s3cret-of-old}
        present: {\(identity), client_secret: "\(OpenIDProvider.secret)"}
      routes:
        - {name: bad, path: /bad/, upstream: "http://127.0.0.1:\(upstream.port)/", application: withdrawn,
           token: {as: application, scopes: [orders.read]}}
        - {name: good, path: /good/, upstream: "http://127.0.0.1:\(upstream.port)/", application: present,
           token: {as: application, scopes: [orders.read]}}
      """)
    #expect(try await proxy.get("/good/bytes/1").status == 200)
    // The good one's token lies in the cache that both have in common.
    #expect(try await eventually { textOfFile(directory.file("cache.json")).contains("orders.read") })
    let (status, report) = try await check(proxy.configuration)
    #expect(status == 1)
    #expect(report.step("token", of: "bad")?.detail.contains("invalid_client") == true)
    #expect(report.step("token", of: "good")?.verdict == "ok")
    #expect(report.cache?.map(\.step) == ["cache_reading", "cache_lock"])
    #expect(report.cache?.allSatisfy { $0.verdict == "ok" && ($0.ms ?? -1) >= 0 } == true)
  }

  @Test func `a missing sign-in alone exits 3 and names the command, and what is wrong with the cache is told before`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(
      in: directory, ["--signs-in", OpenIDProvider.client, "--person", "ann:pw", "--scope", "mail.read"])
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let redis = try await RedisPeer(
      in: directory, user: "proxy on >kept-s3cret ~desk:* resetchannels \(RedisPeer.commands)")
    let damaged = try directory.write("no cache", to: "damaged.json")
    let foreign = try directory.write("{}", to: "held.json")
    try await succeed(["chmod", "600", damaged, foreign])
    try await succeed(["mkdir", foreign + ".lockfile"])
    let server = "redis: \"redis://127.0.0.1:\(redis.port)\", user: proxy, key_prefix: \"desk:\""
    func check(_ cache: String) async throws -> (status: Int32, Report) {
      try await self.check(
        try directory.write(
          """
          listeners: [{address: "127.0.0.1:0"}]
          cache: {\(cache)}
          \(application(provider.issuer))
          routes:
            - {name: mail, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", application: contoso,
               token: {account: alice@contoso.example, scopes: [mail.read]}}
          """, to: "cached.yaml"))
    }
    let (status, report) = try await check("\(server), password: kept-s3cret")
    // A missing sign-in alone.
    #expect(status == 3 && report.verdict == "interaction_required")
    #expect(
      report.step("token", of: "mail")?.advice
        == "Sign in with: bearer-proxy login -c \(directory.file("cached.yaml")) --route mail")
    let misspelt = try await run(
      [try binary(), "check", "-c", directory.file("cached.yaml"), "--live", "--route", "mial"])
    #expect(misspelt.status == 2)
    #expect(misspelt.errors.contains("no route 'mial'; did you mean 'mail'? (routes: mail)"))
    #expect(
      report.cache?.map { "\($0.step) \($0.verdict)" } == [
        "cache_name ok", "cache_connection ok", "cache_reading ok", "cache_lock ok",
      ])
    #expect(
      try await redis.cli("--user", "proxy", "--pass", "kept-s3cret", "--no-auth-warning", "GET", "desk:version")
        == "\n")

    let cases: [(cache: String, step: String, words: String, advice: String)] = [
      ("\(server), password: wrong-s3cret", "cache_reading", "WRONGPASS", "access control list"),
      (server.replacing("desk:", with: "other:") + ", password: kept-s3cret", "cache_reading", "NOPERM", "key_prefix"),
      ("redis: \"redis://127.0.0.1:\(try freePort())\"", "cache_connection", "refused", "Does the server run"),
      ("redis: \"rediss://127.0.0.1:\(redis.port)\"", "cache_tls", "", "speak TLS"),
      ("file: damaged.json", "cache_reading", "damaged.json:1:2", "move it away"),
    ]
    for (cache, step, words, advice) in cases {
      let (status, report) = try await check(cache)
      let last = try #require(report.cache?.last)
      #expect(status == 1 && last.step == step && last.verdict == "failed", "\(report)")
      #expect(last.detail.contains(words) && last.advice?.contains(advice) == true, "\(last)")
      let token = report.step("token", of: "mail")
      #expect(token?.verdict == "failed" && token?.advice?.contains("about the cache above") == true, "\(report)")
    }
    let (locked, lock) = try await check("file: held.json")
    #expect(locked == 1 && lock.cache?.last?.step == "cache_lock" && lock.cache?.last?.verdict == "failed", "\(lock)")
  }

  @Test func `a redirect URI and an application that the provider does not know have their own cures`() async throws {
    let scene = try DemoScene()
    func check(_ scope: String, client: String, publicURL: String) async throws -> (status: Int32, Report) {
      try await self.check(
        try scene.directory.write(
          """
          listeners: [{address: "127.0.0.1:0", hosts: [proxy.example], sign_in: {public_url: "\(publicURL)"}}]
          applications:
            desk: \(scene.application(client))
          routes:
            - {name: mail, path: /, upstream: "\(scene.services.apiOrigin)/api/", application: desk,
               \(scene.tls), token: {scopes: ["\(scope)"]}}
          """, to: "redirect.yaml"))
    }
    let read = "api://orders/Orders.Read"
    let (known, good) = try await check(read, client: DemoDirectory.Sample.desk, publicURL: "https://localhost")
    #expect(known == 3 && good.step("sign_in", of: "mail")?.verdict == "ok", "\(good)")
    let (_, foreign) = try await check(read, client: DemoDirectory.Sample.desk, publicURL: "https://proxy.example")
    let redirect = foreign.step("sign_in", of: "mail")
    #expect(redirect?.verdict == "failed", "\(foreign)")
    #expect(redirect?.advice?.contains("Register the redirect URI https://proxy.example/.bearer/callback") == true)
    let stranger = "00000000-0000-4000-8000-00000000dead"
    let (_, unknown) = try await check(read, client: stranger, publicURL: "https://localhost")
    #expect(unknown.step("sign_in", of: "mail")?.advice?.contains("check 'client_id'") == true, "\(unknown)")
  }

  @Test func `a probe tells a refused token from a path that is not there`() async throws {
    let scene = try await Scene()
    for (path, status, words) in [("/nothing-here", 404, "Set 'probe'"), ("refused", 401, "no token")] {
      let (exit, report) = try await check(scene.proxy.configuration, ["--route", "open", "--probe", path])
      let step = report.step("probe", of: "open")
      #expect(step?.detail.contains("is answered with \(status)") == true, "\(step?.detail ?? "")")
      #expect(exit == 1 && step?.advice?.contains(words) == true)
    }
  }
}
