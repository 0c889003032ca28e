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

  @Test func `a server that speaks TLS 1.1 only is refused`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("old")
    let port = try freePort()
    let server = try ChildProcess(
      "s_server",
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.certificateFile, "-key",
        certificate.keyFile, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0", "-www",
      ], in: directory)
    try await waitForPort(port, of: server)
    let proxy = try await proxy(directory, upstream: "https://127.0.0.1:\(port)/", tls: "{ca_file: \(authority.file)}")
    #expect(try await proxy.get("/").status == 502)
    try await server.stop()
  }
}
