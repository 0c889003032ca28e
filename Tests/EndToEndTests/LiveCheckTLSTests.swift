// `check --live` when TLS fails, at the upstream and at the provider.

import TestSupport
import Testing

extension LiveCheckTests {
  @Test func `each way in which TLS fails has its own cure, at the upstream and at the provider`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let other = try await CertificateAuthority("other", in: directory)
    let good = try await authority.issue("good")
    let servers = [
      "expired": try await OpenSSLServer(authority.issue("expired", days: -1), in: directory),
      "misnamed": try await OpenSSLServer(authority.issue("misnamed", for: ["DNS:elsewhere.example"]), in: directory),
      "good": try await OpenSSLServer(good, in: directory),
    ]
    let nginx = try await NginxUpstream(in: directory, certificate: good)
    func port(_ name: String) -> Int { servers[name]?.port ?? 0 }
    let cases: [(name: String, url: String, trust: String, words: String, cure: String)] = [
      ("expired", "https://127.0.0.1:\(port("expired"))", authority.file, "certificate has expired", "has to renew it"),
      ("misnamed", "https://127.0.0.1:\(port("misnamed"))", authority.file, "mismatch", "that the certificate names"),
      (
        "unknown", "https://127.0.0.1:\(port("good"))", other.file, "certificate",
        "add that authority's certificate to the file"
      ),
      ("plain", "https://127.0.0.1:\(nginx.port)", authority.file, "wrong version number", "http: instead of https:"),
      ("closed", "https://127.0.0.1:\(try freePort())", authority.file, "refused", "Nothing listens"),
    ]
    let token = "token: {as: application, scopes: [orders.read]}"
    let applications = cases.map { row in
      "  \(row.name): {authority: \"\(row.url)/\", client_id: x, client_secret: y-of-\(row.name), "
        + "tls: {ca_file: \"\(row.trust)\"}}"
    }
    let routes = cases.map { row in
      "  - {name: \(row.name), path: /\(row.name)/, upstream: \"\(row.url)/\", tls: {ca_file: \"\(row.trust)\"}, "
        + "application: \(row.name), \(token)}"
    }
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications:
      \(applications.joined(separator: "\n"))
      routes:
      \(routes.joined(separator: "\n"))
        - {name: reverse, path: /r/, upstream: "http://127.0.0.1:\(port("good"))/", token: none, probe: me}
        - {name: nginx, path: /n/, upstream: "http://127.0.0.1:\(nginx.tlsPort)/", token: none, probe: me}
      """, to: "failing.yaml")
    let (status, report) = try await check(file)
    #expect(status == 1)
    for row in cases {
      let isRefused = row.name == "closed"
      for step in [isRefused ? "upstream_connection" : "upstream_tls", "authority"] {
        let found = try #require(report.step(step, of: row.name), "\(step) of \(row.name)")
        #expect(found.verdict == "failed")
        #expect(found.detail.contains(row.words), "\(row.name): \(found)")
        #expect(found.advice?.contains(row.cure) == true, "\(row.name): \(found)")
        #expect(!found.detail.contains("errno"), "\(found)")
      }
    }
    for name in ["reverse", "nginx"] {
      let probe = report.step("probe", of: name)
      #expect(probe?.advice?.contains("write https: in 'upstream'") == true, "\(name): \(String(describing: probe))")
    }
    withExtendedLifetime(servers) {}
  }
}
