// An application that its certificate proves in the TLS handshake (RFC 8705), at a provider of Authlib's behind
// OpenSSL, with tokens that are of use only to who shows the same certificate; nginx and the provider's own API want to
// see it.

import Glibc
import TestSupport
import Testing

@Suite("Mutual TLS with the provider", .keepsSecrets, .timeLimit(.minutes(5)))
struct MutualTLSTests {
  private let directory: TemporaryDirectory
  private let authority: CertificateAuthority
  private let provider: OpenIDProvider
  private let mutualPort: Int
  private let third: CertificateAuthority.Certificate

  init() async throws {
    directory = try TemporaryDirectory()
    authority = try await CertificateAuthority(in: directory)
    mutualPort = try freePort()
    for name in ["first", "second"] { _ = try await authority.issue(name, for: []) }
    third = try await authority.issue("third", for: [])
    let server = try await authority.issue("provider")
    for name in ["app", "known"] { try directory.replace("\(name).pem", with: directory.read("first.pem")) }
    try directory.replace("app.key", with: directory.read("first.key"))
    provider = try await OpenIDProvider(
      in: directory, https: server,
      [
        "--handshake-client", "handshake-app:\(directory.file("known.pem"))", "--mutual-port", "\(mutualPort)",
        "--mutual-ca", authority.file, "--ca-file", authority.file,
      ])
  }

  private func configuration(_ upstream: String, options: String = ", bound_tokens: true") -> String {
    """
    applications:
      contoso:
        authority: "\(provider.issuer)"
        client_id: handshake-app
        credential: {mutual_tls: {certificate_file: app.pem, key_file: app.key\(options)}}
        tls: {ca_file: "\(authority.file)"}
    routes:
      - {name: orders, path: /orders/, upstream: "\(upstream)", application: contoso,
         token: {as: application, scopes: [orders.read]}, tls: {ca_file: "\(authority.file)"}}

    """
  }

  private var api: String { "https://127.0.0.1:\(mutualPort)/api/" }

  @Test func `the certificate alone proves the application, and goes with its bound tokens to the upstream`()
    async throws
  {
    let proxy = try await ProxyUnderTest(in: directory, configuration(api))
    let answer = try await proxy.get("/orders/whoami")
    #expect(answer.status == 200 && answer.body.contains(#""client_id":"handshake-app""#), "\(answer.body)")
    #expect(try await provider.requests(to: "token") == 1)
    let status = try await proxy.admin("/status").body
    #expect(
      status.contains("(certificate of application contoso)") && status.contains("ends soon: valid for "), "\(status)")
    #expect(try await metricSum(proxy, "bearer_proxy_certificate_expiry_seconds") > 86_400)
    let live = try await proxy.command(["check", "--live"])
    #expect(live.status == 0, "\(live.output)\(live.errors)")
  }

  @Test func `nginx is shown the certificate, too`() async throws {
    let nginx = try await NginxUpstream(
      in: directory, certificate: authority.issue("upstream"), clientAuthority: authority.file)
    let proxy = try await ProxyUnderTest(in: directory, configuration("https://127.0.0.1:\(nginx.tlsPort)/echo/"))
    let answer = try await proxy.get("/orders/x")
    #expect(answer.status == 200 && answer.body.contains("authorization=Bearer eyJ"), "\(answer.status) \(answer.body)")
  }

  // self_signed_tls_client_auth: nginx compares the certificate itself, and knows no authority of it.
  @Test func `a self-signed certificate in an archive proves the application to nginx, at the alias alone`()
    async throws
  {
    let files = ["self.key", "self.pem", "self.pfx"].map { directory.file($0) }
    try await succeed([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", files[0], "-out", files[1], "-subj",
      "/CN=self", "-days", "60",
    ])
    try await succeed([
      "openssl", "pkcs12", "-export", "-inkey", files[0], "-in", files[1], "-out", files[2], "-passout",
      "pass:kettle-harbour",
    ])
    chmod(files[2], 0o600)
    ProxyLedger.current?.add(secret: "kettle-harbour")
    let fingerprint = try await succeed(["openssl", "x509", "-in", files[1], "-noout", "-fingerprint", "-sha1"])
    let digits = (fingerprint.split(separator: "=").last ?? "").filter(\.isHexDigit).lowercased()
    let (port, alias) = (try freePort(), try freePort())
    let nginx = try await nginx(port, alias, fingerprint: digits)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory, environment: ["PASSPHRASE": "kettle-harbour"],
      """
      applications:
        contoso:
          authority: "https://127.0.0.1:\(port)"
          client_id: self-signed
          credential: {mutual_tls: {pfx_file: self.pfx, passphrase: "${PASSPHRASE}"}}
          tls: {ca_file: "\(authority.file)"}
      routes:
      \(route("orders", to: upstream.port))
      """)
    let body = try await proxy.get("/orders/seen").body
    #expect(body.contains("Authorization: Bearer opaque-1"), "\(body) \(proxy.process.errors) \(nginx.errors)")
    let live = try await proxy.command(["check", "--live"])
    #expect(live.status == 0, "\(live.output)\(live.errors)")
  }

  @Test func `a server in C knows the application by its certificate, at the alias alone`() async throws {
    for name in ["desk", "other"] { _ = try await authority.issue(name, for: ["DNS:\(name).example"]) }
    let glewlwyd = try await PeerProvider(
      .glewlwyd, in: directory, https: authority.issue("glewlwyd"), method: "tls_client_auth", lifetime: 3600,
      ["--ca-file", authority.file, "--shown-name", "desk.example"])
    for (name, isKnown) in [("desk", true), ("other", false)] {
      let result = try await token(
        at: glewlwyd.issuer, client: PeerProvider.client, scope: "email",
        credential: "mutual_tls: {certificate_file: \(name).pem, key_file: \(name).key, bound_tokens: true}",
        ", tls: {ca_file: \"\(authority.file)\"}", in: directory)
      #expect((result.status == 0) == isKnown, "\(result.output)\(result.errors)")
    }
    // It knew whose certificate it was not: nothing went wrong sooner.
    let refusals = textOfFile(directory.file("glewlwyd/glewlwyd.log")).split(separator: "\n").filter {
      $0.contains("Authorization invalid for client_id \(PeerProvider.client) ")
    }
    #expect(refusals.count >= 1, "\(refusals)")
  }

  /// A provider that is all nginx: metadata at one port, and at another tokens for who shows a certificate.
  private func nginx(_ port: Int, _ alias: Int, fingerprint: String) async throws -> ChildProcess {
    let pair =
      "ssl_certificate \(directory.file("provider.pem")); ssl_certificate_key \(directory.file("provider.key"));"
    let base = "https://127.0.0.1:\(port)"
    let metadata =
      #"{"issuer": "\#(base)", "token_endpoint": "\#(base)/token", "mtls_endpoint_aliases": "#
      + #"{"token_endpoint": "https://127.0.0.1:\#(alias)/token"}}"#
    return try await TestSupport.nginx(
      serving: """
        server {
          listen 127.0.0.1:\(port) ssl;
          \(pair)
          location = /.well-known/openid-configuration { return 200 '\(metadata)'; }
          location = /token { return 401 '{"error": "invalid_client"}'; }
        }
        server {
          listen 127.0.0.1:\(alias) ssl;
          \(pair)
          ssl_verify_client optional_no_ca;
          location = /token {
            if ($ssl_client_fingerprint != "\(fingerprint)") { return 401 '{"error": "invalid_client"}'; }
            return 200 '{"access_token": "opaque-1", "token_type": "Bearer", "expires_in": 3600}';
          }
        }
        """, at: alias, in: directory)
  }

  @Test func `a bound token goes to no upstream that is not shown the certificate`() async throws {
    let nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    let proxy = try await ProxyUnderTest(
      in: directory, configuration("https://127.0.0.1:\(nginx.tlsPort)/echo/", options: ""))
    let answer = try await proxy.get("/orders/x")
    #expect(answer.status == 502 && answer.body.contains("certificate_bound_token"), "\(answer.status) \(answer.body)")
    #expect(nginx.accessLog.isEmpty)
    #expect(try await eventually { proxy.process.errors.contains("Set 'bound_tokens: true' under 'mutual_tls'") })
    let live = try await proxy.command(["check", "--live"])
    #expect(live.status != 0 && live.output.contains("bound to the certificate with x5t#S256"), "\(live.output)")
  }

  @Test func `a changed certificate takes over when it has obtained a token, and the former one serves until then`()
    async throws
  {
    let proxy = try await ProxyUnderTest(in: directory, configuration(api))
    #expect(try await proxy.get("/orders/whoami").status == 200)
    try directory.replace("app.pem", with: directory.read("second.pem"))
    #expect(
      try await eventually { proxy.records("configuration not reloaded, the one before stays in force") >= 1 })
    // The pair is whole, and the provider does not know it yet.
    try directory.replace("app.key", with: directory.read("second.key"))
    #expect(
      try await eventually(within: .seconds(30)) {
        proxy.records("changed certificate obtained no token, the former one stays in use") >= 1
      }, "\(proxy.process.errors)")
    #expect(try await proxy.get("/orders/whoami").status == 200)
    // The provider knows another pair, which is tried at once.
    try directory.replace("known.pem", with: directory.read("third.pem"))
    try directory.replace("app.key", with: directory.read("third.key"))
    try directory.replace("app.pem", with: directory.read("third.pem"))
    #expect(
      try await eventually(within: .seconds(30)) {
        let answer = try await proxy.get("/orders/whoami")
        return answer.status == 200 && proxy.records("configuration reloaded") >= 2
      }, "\(proxy.process.errors)")
    #expect(try await proxy.admin("/status").body.contains(third.fingerprint("sha1")))
  }
}
