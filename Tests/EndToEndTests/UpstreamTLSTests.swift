// The proxy as a TLS client: whom it believes, what it shows, and that it resumes.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct UpstreamTLSTests {
  private func proxy(_ upstream: String, tls: String, more: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      """
      routes:
        - name: secure
          path: /
          upstream: https://\(upstream)/
          token: none
          tls: {\(tls)}\(more)
      """)
  }

  @Test func `another authority, another name and no authority at all are refused, with the reason in the log`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let other = try await CertificateAuthority("other", in: directory)
    let nginx = try await NginxUpstream(
      in: directory, certificate: authority.issue("named", for: ["DNS:orders.example"]))
    let rows = [
      ("ca_file: \(other.file), server_name: orders.example", "certificate verify failed"),
      ("ca_file: \(authority.file)", "mismatch"),
      ("server_name: orders.example", "certificate verify failed"),
    ]
    for (tls, reason) in rows {
      let proxy = try await proxy("127.0.0.1:\(nginx.tlsPort)", tls: tls)
      let answer = try await proxy.get("/echo")
      #expect(answer.status == 502)
      #expect(answer.body.contains("upstream-unreachable"))
      #expect(try await eventually { proxy.process.errors.contains(reason) })
      try await proxy.process.stop()
    }
    #expect(nginx.accessLog.isEmpty)
    let trusted = try await proxy(
      "127.0.0.1:\(nginx.tlsPort)", tls: "ca_file: \(authority.file), server_name: orders.example")
    let answer = try await trusted.get("/echo")
    #expect(answer.status == 200)
    #expect(answer.echoed("sni") == "orders.example")
  }

  @Test func `a client certificate is shown to an upstream that asks, and sessions are resumed`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let client = try await authority.issue("client")
    let nginx = try await NginxUpstream(
      in: directory, certificate: authority.issue("upstream"), clientAuthority: authority.file)
    let anonymous = try await proxy("localhost:\(nginx.tlsPort)", tls: "ca_file: \(authority.file)")
    #expect(try await anonymous.get("/echo").status == 400)
    try await anonymous.process.stop()
    let known = try await proxy(
      "localhost:\(nginx.tlsPort)", tls: "ca_file: \(authority.file), \(client.tls)",
      more: "\n    pool: {max_idle: 0}\nloops: 1")
    #expect(try await known.get("/echo").echoed("reused") == ".")
    #expect(try await known.get("/echo").echoed("reused") == "r")
  }

  @Test(arguments: [("localhost", "DNS:localhost"), ("127.0.0.1", "IP:127.0.0.1")])
  func `a certificate is for its alternative names alone, whatever its common name says`(
    host: String, alternative: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let tls = "ca_file: \(authority.file)"
    let rows = [
      (try await authority.issue("common", for: [], commonName: host), 502),
      (try await authority.issue("mail", for: ["email:a@example.org"], commonName: host), 502),
      (try await authority.issue("alternative", for: [alternative], commonName: "other.example"), 200),
    ]
    for (certificate, status) in rows {
      let nginx = try await NginxUpstream(in: directory, certificate: certificate)
      let proxy = try await proxy("\(host):\(nginx.tlsPort)", tls: tls)
      #expect(try await proxy.get("/echo").status == status)
      if status == 502 { #expect(try await eventually { proxy.process.errors.contains("mismatch") }) }
      #expect(nginx.accessLog.isEmpty == (status == 502))
      try await proxy.process.stop()
    }
  }

  /// Suites of TLS 1.2 that lack forward secrecy or authenticated encryption, and such as have both.
  private static let suites = [
    ("AES128-SHA", false), ("AES256-GCM-SHA384", false), ("ECDHE-RSA-AES128-SHA", false),
    ("ECDHE-RSA-AES256-SHA384", false), ("DHE-RSA-AES128-SHA", false), ("ECDHE-RSA-AES128-GCM-SHA256", true),
    ("ECDHE-RSA-AES256-GCM-SHA384", true), ("ECDHE-RSA-CHACHA20-POLY1305", true),
  ]

  @Test func `an upstream gets no handshake without forward secrecy and authenticated encryption`() async throws {
    let authority = try await CertificateAuthority()
    let certificate = try await authority.issue("rsa", key: "rsa")
    var (servers, routes) = ([OpenSSLServer](), "routes:\n")
    for (suite, _) in Self.suites {
      let server = try await OpenSSLServer(
        certificate, ["-tls1_2", "-cipher", "\(suite):@SECLEVEL=0"])
      servers.append(server)
      routes += """
          - {name: \(suite), path: /\(suite)/, upstream: "https://127.0.0.1:\(server.port)/", token: none,
             tls: {ca_file: \(authority.file)}}

        """
    }
    let proxy = try await ProxyUnderTest(routes)
    for (suite, isGood) in Self.suites {
      #expect(try await proxy.get("/\(suite)/").status == (isGood ? 200 : 502), "\(suite)")
    }
  }

  @Test func `a listener offers nothing without forward secrecy and authenticated encryption`() async throws {
    let scene = try await SecureScene(key: "rsa")
    for (suite, isGood) in Self.suites {
      let answer = try await scene.get("/seen", ["--tls-max", "1.2", "--ciphers", "\(suite):@SECLEVEL=0"])
      #expect(answer.status == (isGood ? 200 : 0), "\(suite)")
    }
    #expect(try await scene.get("/seen", ["--tlsv1.3"]).status == 200)
  }
}
