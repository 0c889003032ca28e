// The sign-in pages on listeners with rules for callers: browsers that satisfy a rule sign in, by themselves or behind
// nginx, which adds what no browser brings; all others see no page.

import Glibc
import TestSupport
import Testing

/// A stage whose listener is behind nginx, as browsers reach it, which adds a field to each request.
private func behindNginx(
  callers: String, adding field: String, socket: String? = nil
) async throws -> (stage: SignInStage, nginx: ChildProcess) {
  let port = try freePort()
  let origin = "http://localhost:\(port)"
  let stage = try await SignInStage(
    SignInStage.Listener(
      address: socket.map { "unix:\($0)" }, signIn: "{public_url: \"\(origin)\"}", more: ", callers: \(callers)",
      origin: origin))
  let listener = socket.map { "http://unix:\($0):" } ?? "http://127.0.0.1:\(stage.proxy.port)"
  let front = try await nginx(
    serving: """
      server {
        listen 127.0.0.1:\(port);
        location / {
          proxy_pass \(listener);
          proxy_set_header Host $http_host;
          proxy_set_header \(field);
        }
      }
      """, at: port)
  return (stage, front)
}

@Suite("Sign-in pages of listeners with rules for callers", .keepsSecrets, .timeLimit(.minutes(5)))
struct SignInCallerTests {
  private static let secret = "correct-horse-battery-staple"

  /// Signs a person in from the refusal on, and returns the answer.
  private func walk(_ stage: SignInStage) async throws {
    let refused = try await stage.browse("/my/orders/list", ["-H", "Sec-Fetch-Mode: navigate"])
    #expect(refused.status == 401)
    #expect(refused.body.contains("<form method=\"post\" action=\"/.bearer/sign-in\">"), "\(refused.body)")
    #expect(refused.body.between("name=\"route\" value=\"", "\"") == "my-orders")
    #expect(refused.body.between("name=\"return\" value=\"", "\"") == "/my/orders/list")
    let end = try await stage.signIn()
    #expect(end["location"] == stage.origin + "/my/orders/list?a=1&b=2", "\(end.status) \(end.body)")
    #expect(try await stage.browse("/my/orders/list").status == 200)
    #expect(!stage.proxy.everythingWritten.contains(Self.secret))
  }

  /// The answers of the pages and the routes to a caller without the proof.
  private func refusals(_ url: String, _ arguments: [String] = []) async throws -> [Answer] {
    var answers: [Answer] = []
    for (path, more) in [
      (SignInStage.link, []), (SignInStage.link, ["-H", "Accept: text/html", "-H", "Sec-Fetch-Mode: navigate"]),
      ("/.bearer/sign-in", ["-d", "route=my-orders"]), ("/.bearer/callback?state=x&code=y", []), ("/.bearer/x", []),
      ("/my/orders/list", []),
    ] { answers.append(try await curl(arguments + more + [url + path])) }
    return answers
  }

  @Test func `a person signs in with the browser's certificate, and not without it`() async throws {
    let files = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: files)
    let listener = try await authority.issue("listener")
    let person = try await authority.issue("alices-browser", for: ["email:alice@contoso.example"])
    let other = try await authority.issue("bobs-browser", for: ["email:bob@contoso.example"])
    func shown(_ certificate: CertificateAuthority.Certificate) -> [String] {
      ["--cacert", authority.file, "--cert", certificate.certificateFile, "--key", certificate.keyFile]
    }
    let stage = try await SignInStage(
      SignInStage.Listener(
        more: """
          , tls: {certificate_file: "\(listener.certificateFile)", key_file: "\(listener.keyFile)"}, \
          callers: {certificate: {ca_file: "\(authority.file)", subjects: ["email:alice@contoso.example"]}}
          """, scheme: "https", manner: shown(person)))
    for answer in try await refusals(stage.origin, shown(other)) {
      #expect(answer.status == 403 && !answer.body.contains("<form"))
    }
    for answer in try await refusals(stage.origin, ["--cacert", authority.file]) { #expect(answer.status == 0) }
    #expect(!stage.hasWritten)
    try await walk(stage)
    #expect(stage.directory.read("jar").contains("__Host-bearer-sign-in-"))
  }

  @Test func `a person signs in through a proxy that adds the secret field, and not past it`() async throws {
    let (stage, nginx) = try await behindNginx(
      callers: "{header: {name: X-Proxy-Key, value: \(Self.secret)}}",
      adding: "X-Proxy-Key \(Self.secret)")
    for answer in try await refusals("http://localhost:\(stage.proxy.port)") {
      #expect(answer.status == 403 && answer.body.contains("caller-refused"))
    }
    // A second one of the caller's own does not help, and does not hurt: nginx replaces it.
    #expect(try await stage.browse(SignInStage.link, ["-H", "X-Proxy-Key: another"]).status == 200)
    #expect(!stage.hasWritten)
    try await walk(stage)
    withExtendedLifetime(nginx) {}
  }

  @Test func `a person signs in through a proxy that adds a token, and not past it`() async throws {
    let files = try TemporaryDirectory()
    let issuer = try await OpenIDProvider(in: files)
    let reply = try await curl([
      "-u", "\(OpenIDProvider.client):\(OpenIDProvider.secret)", "-d", "grant_type=client_credentials",
      "-d", "scope=orders.read", "\(issuer.issuer)/token",
    ])
    let token = try #require(
      reply.body.between("\"access_token\": \"", "\"") ?? reply.body.between("\"access_token\":\"", "\""))
    ProxyLedger.current?.add(secret: token)
    let (stage, nginx) = try await behindNginx(
      callers: "{bearer: {authority: \"\(issuer.issuer)\", audiences: [\"https://orders.example\"]}}",
      adding: "Authorization \"Bearer \(token)\"")
    for arguments in [[], ["-H", "Authorization: Bearer \(token)x"]] {
      for answer in try await refusals("http://localhost:\(stage.proxy.port)", arguments) {
        #expect(answer.status == 401 && !answer.body.contains("<form"))
        #expect(answer["www-authenticate"]?.contains("realm=\"bearer-proxy\"") == true)
      }
    }
    #expect(!stage.hasWritten)
    try await walk(stage)
    withExtendedLifetime(nginx) {}
  }

  @Test func `a unix socket has pages for those behind what may connect to it`() async throws {
    let files = try TemporaryDirectory()
    let socket = files.file("proxy.sock")
    let (stage, nginx) = try await behindNginx(
      callers: "{unix: {uids: [\(getuid())]}}", adding: "X-Front nginx", socket: socket)
    try await walk(stage)
    withExtendedLifetime(nginx) {}
  }

  @Test func `pages of allowed origins cannot press the button`() async throws {
    let stage = try await SignInStage(
      SignInStage.Listener(more: ", callers: {origins: [\"https://app.example\"]}, hosts: [\"*\"]"))
    let page = try await stage.browse(SignInStage.link)
    for from in ["https://app.example", "https://evil.example"] {
      for fields in [["-H", "Origin: \(from)"], ["-H", "Origin: \(from)", "-H", "Sec-Fetch-Site: cross-site"]] {
        let answer = try await stage.press(page, [:], fields)
        #expect(answer.heading == "Refused", "\(answer.status) \(answer.body)")
        #expect(answer["location"] == nil)
        #expect(answer["access-control-allow-origin"] == nil)
      }
      let read = try await stage.browse(
        SignInStage.link, ["-H", "Origin: \(from)", "-H", "Sec-Fetch-Site: cross-site", "-H", "Sec-Fetch-Mode: cors"])
      #expect(read["access-control-allow-origin"] == nil, "a seal is nothing for another page to read")
    }
    #expect(!stage.hasWritten)
    try await walk(stage)
  }

  @Test func `a listener with a secret and no pages links to the pages of another, whose sign-in serves it`()
    async throws
  {
    let stage = try await SignInStage(
      SignInStage.Listener(
        more: """
          }
            - {address: "127.0.0.1:PORT3", callers: {header: {name: X-Proxy-Key, value: \(Self.secret)}}
          """))
    let key = ["-H", "X-Proxy-Key: \(Self.secret)"]
    let url = "http://localhost:\(stage.proxy.ports[2])"
    let refused = try await curl(key + [url + "/my/orders/list"])
    #expect(refused.status == 401)
    #expect(
      refused.body.replacing("\\/", with: "/").contains("\(stage.origin)/.bearer/sign-in?route=my-orders"),
      "\(refused.body)")
    #expect(try await curl(key + [url + SignInStage.link]).status == 404)
    #expect(try await stage.signIn("/.bearer/sign-in?route=my-orders").heading == "You are signed in")
    #expect(try await curl(key + [url + "/my/orders/list"]).status == 200)
  }
}
