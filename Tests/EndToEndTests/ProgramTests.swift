// A listener for programs, through curl: what it answers, whom it refuses, and what changes with the provider, a reload
// and a restart.

import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ProgramTests {
  @Test func `a client gets its tokens at the token endpoint, each counted, and no other`() async throws {
    let stage = try await ProgramStage()
    let answer = try await stage.ask("grant_type=client_credentials")
    let first = answer.json
    #expect(answer.status == 200 && answer["cache-control"] == "no-store" && answer["pragma"] == "no-cache")
    #expect(answer["content-type"] == "application/json")
    #expect(first["token_type"]?.text == "Bearer" && first["scope"] == nil)
    #expect((3500...3600).contains(first["expires_in"]?.seconds ?? 0))
    #expect(try await stage.isKnown(first["access_token"]?.text ?? ""))
    let second = try await stage.ask("grant_type=client_credentials&scope=orders.write").json
    #expect(second["scope"]?.text == "orders.write" && second["access_token"] != first["access_token"])
    #expect(try await stage.isKnown(second["access_token"]?.text ?? ""))
    for scope in ["orders.read orders.write", "openid", "person"] {
      let refused = try await stage.ask("grant_type=client_credentials&scope=\(scope.replacing(" ", with: "+"))")
      #expect(refused.status == 400)
      #expect(refused.json["error"]?.text == "invalid_scope")
    }
    #expect(try await stage.provider.requests(to: "token") == 2)
    #expect(try await stage.given(to: "consumer") == 2)
    let status = try await stage.proxy.admin("/status").body
    #expect(status.contains("(program consumer)  gets tokens of route orders, application contoso"))
    #expect(try await stage.proxy.get("/oauth2/token", ["-d", "grant_type=client_credentials"]).status == 404)
  }

  @Test func `a wrong secret, a browser and a request of others get none, and nothing of them is repeated`()
    async throws
  {
    let stage = try await ProgramStage()
    let wrong = try await stage.ask("grant_type=client_credentials", ["-u", "consumer:\(ProgramStage.otherSecret)"])
    #expect(wrong.status == 401 && wrong["www-authenticate"] == #"Basic realm="bearer-proxy""#)
    #expect(wrong.json["error"]?.text == "invalid_client")
    let url = "\(stage.origin)/msi/token?api-version=2019-08-01&resource=\(ProgramStage.resource)"
    let header = ["-H", "X-IDENTITY-HEADER: \(ProgramStage.otherSecret)"]
    #expect(try await curl(header + [url]).status == 200)
    for (more, status) in [
      (["-H", "Origin: http://127.0.0.1:\(stage.port)"], 403), (["-H", "Sec-Fetch-Site: none"], 403),
      (["-H", "X-Forwarded-For: 10.0.0.1"], 400), (["-H", "Host: rebound.example"], 421),
      (["-X", "OPTIONS", "-H", "Origin: http://a.example", "-H", "Access-Control-Request-Method: GET"], 403),
      (["-X", "OPTIONS"], 405), (["-H", "Transfer-Encoding: chunked", "-X", "GET", "-d", "a"], 400),
    ] {
      let answer = try await curl(header + more + [url])
      #expect(answer.status == status, "\(more) \(answer.body)")
      #expect(!answer.fields.contains { $0.name.hasPrefix("access-control-") })
      #expect(!answer.body.contains("access_token"))
    }
    let imds = "http://127.0.0.1:\(stage.machinePort)/metadata/identity/oauth2/token?api-version=2018-02-01"
    for fields in [[], ["-H", "Metadata: true", "-H", "X-Forwarded-For: 10.0.0.1"]] {
      let answer = try await curl(fields + ["\(imds)&resource=\(ProgramStage.resource)"])
      #expect(answer.status == 400 && !answer.body.contains("access_token"))
    }
    #expect(try await stage.given(to: "reports") == 1)
    #expect(try await stage.given(to: "machine") == 0)
  }

  @Test func `a token that is missing for a person says what the person does, once, and status shows who waits`()
    async throws
  {
    let stage = try await ProgramStage(top: "cache: {file: cache.json}")
    let answer = try await curl([
      "-H", "X-IDENTITY-HEADER: \(ProgramStage.otherSecret)",
      "\(stage.origin)/msi/token?api-version=2019-08-01&resource=https://person.example",
    ])
    #expect(answer.status == 400)
    #expect(answer.json["error"]?.text == "invalid_grant")
    #expect(answer.json["error_description"]?.text?.contains("'bearer-proxy login --route person'") == true)
    let status = try await stage.proxy.admin("/status").body
    #expect(status.contains("(program reports)   waits for a sign-in: see route person"), "\(status)")
    #expect(status.contains("(program consumer)  gets tokens of"))
  }

  @Test func `a client that waits for 100 before its form gets it, and no other expectation is met`() async throws {
    let stage = try await ProgramStage()
    let form = "grant_type=client_credentials"
    let waiting = try RawConnection(port: stage.port)
    let basic = Data("consumer:\(ProgramStage.secret)".utf8).base64EncodedString()
    let head =
      "POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nAuthorization: Basic \(basic)\r\n"
      + "Content-Length: \(form.utf8.count)\r\n"
    try await waiting.send(head + "Expect: 100-continue\r\n\r\n")
    #expect(try await waiting.receive { $0.hasSuffix("\r\n\r\n") } == "HTTP/1.1 100 Continue\r\n\r\n")
    try await waiting.send(form)
    #expect(try await waiting.receive { $0.hasSuffix("}") }.hasPrefix("HTTP/1.1 200"))
    // One that has sent its form already needs none.
    try await waiting.send(head + "Expect: 100-continue\r\n\r\n" + form)
    #expect(try await waiting.receive { $0.hasSuffix("}") }.hasPrefix("HTTP/1.1 200"))
    let more = ["-u", "consumer:\(ProgramStage.secret)", "--expect100-timeout", "120"]
    for version in ["--http1.1", "--http2-prior-knowledge"] {
      #expect(try await stage.ask(form, more + [version, "-H", "Expect: 100-continue"]).status == 200)
    }
    #expect(try await stage.ask(form, more + ["-H", "Expect: magic"]).status == 417)
  }

  @Test func `a reload changes secrets and programs for the next request`() async throws {
    let stage = try await ProgramStage()
    let form = "grant_type=client_credentials"
    #expect(try await stage.ask(form).status == 200)
    let new = "another-secret-of-the-consumer"
    ProxyLedger.current?.add(secret: new)
    try Data(new.utf8).write(to: URL(filePath: stage.directory.file("consumer")))
    #expect(try await eventually { try await stage.ask(form, ["-u", "consumer:\(new)"]).status == 200 })
    #expect(try await stage.ask(form).status == 401)
    try stage.proxy.reconfigure { $0.replacing("      consumer:\n", with: "      kafka:\n") }
    #expect(try await eventually { try await stage.ask(form, ["-u", "kafka:\(new)"]).status == 200 })
    #expect(try await stage.ask(form, ["-u", "consumer:\(new)"]).status == 401)
    // The token of the route stays through all of it.
    #expect(try await stage.provider.requests(to: "token") == 2)
  }

  @Test func `a caller's token is exchanged at the token endpoint, after it was verified`() async throws {
    let provider = try await ExchangeProvider()
    let proxy = try await ProxyUnderTest(
      environment: ["FRONT_SECRET": ProgramStage.secret, "OWN_SECRET": ExchangeProvider.secret],
      """
      listeners:
        - address: "127.0.0.1:PORT"
          callers: {bearer: {authority: "\(provider.issuer("enterprise"))", audiences: [\(ExchangeProvider.client)]}}
          programs: {front: {secret: "${FRONT_SECRET}", tokens: [{route: api}]}}
      applications:
        own: {authority: "\(provider.issuer("enterprise"))", client_id: \(ExchangeProvider.client),
              client_secret: "${OWN_SECRET}"}
      routes:
        - {name: api, path: /api/, upstream: "\(provider.issuer("enterprise"))/api/", application: own,
           token: {as: caller, scopes: [orders.read]}}

      """)
    let type = "subject_token_type=urn:ietf:params:oauth:token-type:access_token"
    let grant = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&\(type)&subject_token="
    func ask(_ form: String) async throws -> Answer {
      try await curl(["-u", "front:\(ProgramStage.secret)", "-d", form, proxy.url("/oauth2/token")])
    }
    let token = try await provider.callersToken()
    let answer = try await ask(grant + token)
    #expect(answer.status == 200, "\(answer.body)")
    #expect(answer.body.contains(#""issued_token_type":"urn:ietf:params:oauth:token-type:access_token""#))
    let exchanged = answer.json["access_token"]?.text ?? ""
    let seen = try await curl([
      "-H", "Authorization: Bearer \(exchanged)", provider.issuer("enterprise") + "/api/whoami",
    ])
    #expect(seen.status == 200 && seen.body.contains(ExchangeProvider.caller))
    // The same caller's next token costs no exchange; another's does.
    let forms = try await provider.forms("enterprise").count
    #expect(try await ask(grant + token).json["access_token"]?.text == exchanged)
    #expect(try await provider.forms("enterprise").count == forms)
    let other = try await provider.callersToken()
    #expect(try await ask(grant + other).json["access_token"]?.text != exchanged)
    for (form, error) in [
      (grant + token.dropLast(4) + "AAAA", "invalid_request"), (grant + "a.b.c", "invalid_request"),
      (grant + exchanged, "invalid_request"), ("grant_type=client_credentials", "invalid_scope"),
      ("grant_type=client_credentials&scope=orders.read", "unsupported_grant_type"),
    ] {
      let refused = try await ask(String(form))
      #expect(refused.status == 400, "\(form)")
      #expect(refused.json["error"]?.text == error, "\(refused.body)")
    }
    let metadata = try await proxy.get("/.well-known/oauth-authorization-server").body
    #expect(metadata.contains("urn:ietf:params:oauth:grant-type:token-exchange"))
  }
}
