// The demonstration's certificates, as the `openssl` command sees them.

import DemoProvider
import Testing

@Suite("Certificate authority") struct DemoCertificateAuthorityTests {
  private let openssl: OpenSSLCommand
  private let authority: DemoCertificateAuthority

  init() throws {
    openssl = try OpenSSLCommand()
    authority = try DemoCertificateAuthority(name: "demo root", days: 2)
    try openssl.write(authority.certificate(), to: "root.pem")
  }

  @Test(arguments: [
    ("-verify_hostname localhost", true), ("-verify_ip 127.0.0.1", true), ("-verify_ip ::1", true),
    ("-verify_hostname example.com", false), ("-purpose sslserver", true), ("-purpose sslclient", false),
  ]) func `a server certificate is valid for its names and its purpose only`(option: String, accepted: Bool) throws {
    let server = try authority.issue(name: "demo api", .server(names: ["localhost", "127.0.0.1", "::1"]), days: 1)
    try openssl.write(server.certificate, to: "server.pem")
    let result = try openssl.run("verify -x509_strict -CAfile root.pem \(option) server.pem")
    #expect((result.status == 0) == accepted, "\(result.output)")
  }

  @Test func `a client certificate is no server's`() throws {
    try openssl.write(authority.issue(name: "caller", .client, days: 1).certificate, to: "client.pem")
    #expect(try openssl.run("verify -CAfile root.pem -purpose sslclient client.pem").status == 0)
    #expect(try openssl.run("verify -CAfile root.pem -purpose sslserver client.pem").status != 0)
  }

  @Test func `another authority of the same name is not believed`() throws {
    try openssl.write(DemoCertificateAuthority(name: "demo root", days: 2).certificate(), to: "root.pem")
    try openssl.write(
      authority.issue(name: "api", .server(names: ["localhost"]), days: 1).certificate, to: "server.pem")
    #expect(try openssl.run("verify -CAfile root.pem server.pem").status != 0)
  }

  @Test func `the key belongs to the certificate`() throws {
    let pair = try authority.issue(name: "api", .server(names: ["localhost"]), days: 1)
    try openssl.write(pair.certificate, to: "server.pem")
    try openssl.write(pair.key, to: "key.pem")
    let certified = try openssl.run("x509 -in server.pem -noout -pubkey").output
    #expect(try certified == openssl.run("pkey -in key.pem -pubout").output)
    #expect(certified.hasPrefix("-----BEGIN PUBLIC KEY-----"))
  }
}
