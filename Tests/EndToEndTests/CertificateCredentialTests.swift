// An application without a secret: a certificate proves it to a provider of Authlib's, which knows the certificate
// alone. Certificate and key are replaced while the proxy serves.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct CertificateCredentialTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A proxy whose application is proved by `app.pem`, when it is ready.
  private func proxy(
    _ provider: OpenIDProvider, _ upstream: PythonPeer, _ options: String = ""
  ) async throws -> ProxyUnderTest {
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      applications:
        contoso:
          authority: "\(provider.issuer)"
          client_id: proven-app
          credential: {certificate: {certificate_file: app.pem, key_file: app.key\(options)}}
      routes:
      \(route("orders", to: upstream.port))
      """)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    return proxy
  }

  static let options: [(String, String)] = [
    ("P-256", "algorithm: ES256"), ("P-384", "algorithm: ES384"), ("P-521", "algorithm: ES512"),
    ("rsa", "algorithm: RS256, send_chain: true"),
    ("rsa", "algorithm: PS256, audience: issuer"),
  ]

  @Test(arguments: options)
  func `a certificate proves the application to another implementation, in each algorithm`(
    key: String, options: String
  ) async throws {
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("app", for: [], key: key)
    let provider = try await OpenIDProvider(
      in: directory, ["--proven-client", "proven-app:\(certificate.certificateFile)"])
    let upstream = try await PythonPeer("scripted_upstream.py")
    let proxy = try await proxy(provider, upstream, ", \(options)")
    #expect(try await proxy.ordersToken() != nil)
    let status = try await proxy.admin("/status").body
    #expect(
      status.contains("(certificate of application contoso)") && status.contains("ends soon: valid for "), "\(status)")
    #expect(proxy.records("a certificate ends within 7 days") == 1)
    #expect(try await metricSum(proxy, "bearer_proxy_certificate_expiry_seconds") > 86_400)
  }

  @Test func `a server in C verifies the signature, and believes the registered key alone`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    _ = try await authority.issue("app", for: [], key: "rsa")
    _ = try await authority.issue("other", for: [], key: "rsa")
    let key = try await succeed(["openssl", "x509", "-in", directory.file("app.pem"), "-pubkey", "-noout"])
    try directory.write(key, to: "public.pem")
    let provider = try await PeerProvider(
      .glewlwyd, in: directory, method: "private_key_jwt", lifetime: 3600,
      ["--public-key", directory.file("public.pem")])
    for (name, isBelieved) in [("app", true), ("other", false)] {
      let result = try await token(
        at: provider.issuer, client: PeerProvider.client, scope: "email",
        credential: "certificate: {certificate_file: \(name).pem, key_file: \(name).key}", in: directory)
      #expect((result.status == 0) == isBelieved, "\(result.output)\(result.errors)")
    }
  }

  @Test func `msal and the proxy prove the application with one certificate`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("app", for: [], key: "rsa")
    // msal wants https, and a path.
    let provider = try await OpenIDProvider(
      in: directory, https: authority.issue("provider"),
      ["--proven-client", "proven-app:\(certificate.certificateFile)", "--realm", "app"])
    let issuer = provider.issuer(ofRealm: "app")
    func ask(_ name: String) async throws -> CommandResult {
      try await run(
        peer(
          "msal_certificate.py",
          [
            "--ca", authority.file, "--issuer", issuer, "--client", "proven-app", "--certificate",
            directory.file("\(name).pem"), "--key", directory.file("\(name).key"), "--scope", "orders.read",
          ]))
    }
    let theirs = try await ask("app")
    #expect(theirs.status == 0 && theirs.output.contains("PS256"), "\(theirs.output)\(theirs.errors)")
    _ = try await authority.issue("other", for: [], key: "rsa")
    #expect(try await ask("other").status == 1)
    let ours = try await token(
      at: issuer, client: "proven-app", scope: "orders.read",
      credential: "certificate: {certificate_file: app.pem, key_file: app.key, algorithm: PS256}",
      ", tls: {ca_file: \"\(authority.file)\"}", in: directory)
    #expect(ours.status == 0, "\(ours.output)\(ours.errors)")
  }

  @Test
  func `a pair is taken up when both files fit, and the held token serves until the new one has obtained its own`()
    async throws
  {
    let authority = try await CertificateAuthority(in: directory)
    let first = try await authority.issue("first", for: [])
    let second = try await authority.issue("second", for: [])
    let third = try await authority.issue("third", for: [])
    try directory.replace("app.pem", with: textOfFile(first.certificateFile))
    try directory.replace("app.key", with: textOfFile(first.keyFile))
    try directory.replace("known.pem", with: textOfFile(first.certificateFile))
    let provider = try await OpenIDProvider(
      in: directory, ["--proven-client", "proven-app:\(directory.file("known.pem"))"])
    let upstream = try await PythonPeer("scripted_upstream.py")
    let proxy = try await proxy(provider, upstream)
    let token = try #require(try await proxy.ordersToken())

    try directory.replace("app.pem", with: textOfFile(second.certificateFile))
    #expect(
      try await eventually { proxy.records("configuration not reloaded, the one before stays in force") >= 1 })
    #expect(proxy.process.errors.contains("is not the key of the certificate in"))
    #expect(try await proxy.ordersToken() == token)

    // The pair is whole, and the provider does not know it yet.
    try directory.replace("app.key", with: textOfFile(second.keyFile))
    #expect(
      try await eventually {
        proxy.records("changed credential obtained no token, the one of the former credential still serves") >= 1
      })
    #expect(proxy.process.errors.contains("Register the certificate with the thumbprint "))
    #expect(try await proxy.ordersToken() == token)

    // The provider knows it: another pair, which is tried at once.
    try directory.replace("known.pem", with: textOfFile(third.certificateFile))
    try directory.replace("app.key", with: textOfFile(third.keyFile))
    try directory.replace("app.pem", with: textOfFile(third.certificateFile))
    #expect(try await eventually { proxy.records("changed credential accepted, token obtained") == 1 })
    #expect(try await proxy.ordersToken() != token)
  }
}
