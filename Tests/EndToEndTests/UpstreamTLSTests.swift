// The proxy as a TLS client: whom it believes, what it shows, and that it resumes.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct UpstreamTLSTests {
  private func proxy(_ directory: TemporaryDirectory, upstream: String, tls: String) async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      """
      routes:
        - name: secure
          path: /
          upstream: \(upstream)
          token: none
          tls: \(tls)
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
      ("{ca_file: \(other.file), server_name: orders.example}", "certificate verify failed"),
      ("{ca_file: \(authority.file)}", "mismatch"),
      ("{server_name: orders.example}", "certificate verify failed"),
    ]
    for (tls, reason) in rows {
      let proxy = try await proxy(directory, upstream: "https://127.0.0.1:\(nginx.tlsPort)/", tls: tls)
      let answer = try await proxy.get("/echo")
      #expect(answer.status == 502)
      #expect(answer.body.contains("upstream-unreachable"))
      #expect(try await eventually { proxy.process.errors.contains(reason) })
      try await proxy.process.stop()
    }
    #expect(nginx.accessLog.isEmpty)
    let trusted = try await proxy(
      directory, upstream: "https://127.0.0.1:\(nginx.tlsPort)/",
      tls: "{ca_file: \(authority.file), server_name: orders.example}")
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
    let anonymous = try await proxy(
      directory, upstream: "https://localhost:\(nginx.tlsPort)/", tls: "{ca_file: \(authority.file)}")
    #expect(try await anonymous.get("/echo").status == 400)
    try await anonymous.process.stop()
    let known = try await ProxyUnderTest(
      in: directory,
      """
      loops: 1
      routes:
        - name: secure
          path: /
          upstream: https://localhost:\(nginx.tlsPort)/
          token: none
          tls: {ca_file: \(authority.file), certificate_file: \(client.certificateFile), key_file: \(client.keyFile)}
          pool: {max_idle: 0}
      """)
    #expect(try await known.get("/echo").echoed("reused") == ".")
    #expect(try await known.get("/echo").echoed("reused") == "r")
  }

  @Test(arguments: [("localhost", "DNS:localhost"), ("127.0.0.1", "IP:127.0.0.1")])
  func `a certificate is for its alternative names alone, whatever its common name says`(
    host: String, alternative: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let tls = "{ca_file: \(authority.file)}"
    let rows = [
      (try await authority.issue("common", for: [], commonName: host), 502),
      (try await authority.issue("mail", for: ["email:a@example.org"], commonName: host), 502),
      (try await authority.issue("alternative", for: [alternative], commonName: "other.example"), 200),
    ]
    for (certificate, status) in rows {
      let nginx = try await NginxUpstream(in: directory, certificate: certificate)
      let proxy = try await proxy(directory, upstream: "https://\(host):\(nginx.tlsPort)/", tls: tls)
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
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("rsa", key: "rsa")
    var (servers, routes) = ([ChildProcess](), "routes:\n")
    for (suite, _) in Self.suites {
      let port = try freePort()
      let server = try ChildProcess(
        "s_server-\(suite)",
        [
          "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.certificateFile, "-key",
          certificate.keyFile, "-tls1_2", "-cipher", "\(suite):@SECLEVEL=0", "-www",
        ], in: directory)
      try await waitForPort(port, of: server)
      servers.append(server)
      routes += """
          - {name: \(suite), path: /\(suite)/, upstream: "https://127.0.0.1:\(port)/", token: none,
             tls: {ca_file: \(authority.file)}}

        """
    }
    let proxy = try await ProxyUnderTest(in: directory, routes)
    for (suite, isGood) in Self.suites {
      #expect(try await proxy.get("/\(suite)/").status == (isGood ? 200 : 502), "\(suite)")
    }
  }

  @Test func `a listener offers nothing without forward secrecy and authenticated encryption`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("rsa", key: "rsa")
    let upstream = try await ScriptedUpstream(in: directory)
    let port = try freePort()
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners:
        - address: "127.0.0.1:\(port)"
          tls: {certificate_file: \(certificate.certificateFile), key_file: \(certificate.keyFile)}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    for (suite, isGood) in Self.suites {
      let answer = try await curl([
        "--cacert", authority.file, "--tls-max", "1.2", "--ciphers", "\(suite):@SECLEVEL=0",
        "https://localhost:\(port)/seen",
      ])
      #expect(answer.status == (isGood ? 200 : 0), "\(suite)")
    }
    let newest = try await curl(["--cacert", authority.file, "--tlsv1.3", "https://localhost:\(port)/seen"])
    #expect(newest.status == 200)
    withExtendedLifetime(proxy) {}
  }
}
