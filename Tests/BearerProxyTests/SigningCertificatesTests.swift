// `check` on an application's certificate: each mistake at its key, and dates as a warning; the credential
// versions it makes, and the reminders of its end in the log.

import Configuration
import HTTPClient
import Identity
import Proxy
import Telemetry
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct SigningCertificatesTests {
  private static let fixtures = testsDirectory + "/Fixtures/certificates"

  private static func file(
    _ credential: String, kind: String = "certificate", in directory: TemporaryDirectory
  ) throws -> String {
    try directory.write("orders-passphrase\n", to: "passphrase")
    try directory.write("another\n", to: "wrong")
    return try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      allow_readable_secrets: true
      applications:
        app: {authority: "https://id.example/r", client_id: c, credential: {\(kind): {
          \(credential.replacing("@", with: fixtures + "/"))
          }}}
      routes:
        - {name: r, path: /, upstream: "https://a.example/", application: app, token: {as: application}}

      """, to: "p.yaml")
  }

  static let verdicts = issueTable(
    """
    certificate_file: @ec.pem, key_file: @ec.key
      p.yaml: ok (1 route, 1 application)
    certificate_file: @ec.pem, key_file: @ec-encrypted.key, passphrase_file: passphrase
      p.yaml: ok (1 route, 1 application)
    pfx_file: @rsa.pfx, passphrase_file: passphrase, algorithm: PS256
      p.yaml: ok (1 route, 1 application)
    pfx_file: @ec-no-passphrase.pfx
      p.yaml: ok (1 route, 1 application)
    certificate_file: @rsa.pem, key_file: @ec.key
      5:COLUMN: error: KEY.key_file: @ec.key is not the key of the certificate in @rsa.pem
    certificate_file: @ec.key
      5:COLUMN: error: KEY.certificate_file: @ec.key holds no usable certificate: no start line
    certificate_file: @ec.pem
      5:COLUMN: error: KEY.certificate_file: @ec.pem holds no usable private key: unsupported
    certificate_file: @ec.pem, key_file: @ec-encrypted.key
      5:COLUMN: error: KEY.key_file: @ec-encrypted.key is encrypted: name a file with its passphrase in
        'passphrase_file'
    certificate_file: @ec.pem, key_file: @ec-encrypted.key, passphrase_file: wrong
      5:COLUMN: error: KEY.passphrase_file: it is not the passphrase of @ec-encrypted.key
    pfx_file: @ec-rc2.pfx, passphrase_file: passphrase
      5:COLUMN: error: KEY.pfx_file: @ec-rc2.pfx is encrypted with a cipher that OpenSSL 3 no longer offers, such as
        RC2: write it again with a newer one (openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW)
    pfx_file: @ec.pem
      5:COLUMN: error: KEY.pfx_file: @ec.pem is no PKCS #12 archive: nested asn1 error
    certificate_file: @small.pem, key_file: @small.key
      5:COLUMN: error: KEY.key_file: @small.key holds a key that cannot prove an application: RSA of 2048 bits, or a
        curve of P-256, P-384 and P-521 (the key has 1024 bits)
    certificate_file: @ec.pem, key_file: @ec.key, algorithm: RS256
      5:COLUMN: error: KEY.algorithm: the key of @ec.pem signs with ES256, not with RS256
    certificate_file: @expired.pem, key_file: @ec.key
      5:COLUMN: warning: KEY.certificate_file: the certificate ended TIME ago, or this machine's clock is wrong: replace
        it, and register the new one at the provider first
    """)

  @Test(arguments: verdicts)
  func `a certificate is judged by check, with the place`(credential: String, expected: [String]) async throws {
    try await Self.judge("certificate", credential, expected[0])
  }

  @Test(arguments: verdicts.filter { !$0.fragment.contains("algorithm") })
  func `so is one that the handshake shows`(credential: String, expected: [String]) async throws {
    try await Self.judge("mutual_tls", credential, expected[0])
  }

  private static func judge(_ kind: String, _ credential: String, _ expected: String) async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(credential, kind: kind, in: directory)
    let answer = await Command.check(configuration: file).answer(in: CommandContext(environment: [:]))
    let said = try #require(answer.text.split(separator: "\n").first).replacing(directory.path + "/", with: "")
      .replacing(Self.fixtures + "/", with: "@").replacing(/5:[0-9]+:/, with: "5:COLUMN:")
      .replacing("applications.app.credential.\(kind).", with: "KEY.").replacing(/ended .* ago/, with: "ended TIME ago")
    #expect(said == (expected.hasPrefix("5:") ? "p.yaml:" + expected : expected))
    #expect(answer.status == (expected.contains("error:") ? .usage : .done))
  }

  private static func loaded(_ credential: String, kind: String = "certificate") throws -> LoadedConfiguration {
    let directory = try TemporaryDirectory()
    return try CommandContext(environment: [:]).configuration(file(credential, kind: kind, in: directory))
  }

  @Test func `another certificate is another credential, and the same one in another place is not`() throws {
    var versions = CredentialVersions()
    var seen: [UInt64] = []
    for credential in [
      "certificate_file: @ec.pem, key_file: @ec.key", "key_file: @ec.key, certificate_file: @ec.pem",
      "pfx_file: @ec-no-passphrase.pfx", "certificate_file: @rsa.pem, key_file: @rsa.key",
      "certificate_file: @rsa.pem, key_file: @rsa.key, algorithm: PS256",
      "certificate_file: @rsa.pem, key_file: @rsa.key, algorithm: RS256",
      "certificate_file: @ec.pem, key_file: @ec.key",
    ] {
      let loaded = try Self.loaded(credential)
      versions.follow(loaded.settings.applications, loaded.certificates)
      seen.append(versions[loaded.settings.applications[0]].number)
    }
    #expect(seen == [0, 0, 0, 1, 2, 3, 4])
  }

  @Test func `the thumbprint is in the advice about a refused application, and the clock if that is off`() throws {
    let loaded = try Self.loaded("certificate_file: @ec.pem, key_file: @ec.key")
    let thumbprint = try #require(loaded.certificates.thumbprint(of: "app"))
    #expect(thumbprint == "59F5BA386D5382F92796853D40D7F4A18D443DF9")
    let advice = CheckAdvice(
      commands: OperatorCommands(configuration: "p.yaml"), route: loaded.settings.routes[0],
      application: loaded.settings.applications[0],
      thumbprint: thumbprint)
    var reply = TokenErrorReply(error: "invalid_client")
    #expect(
      advice.advice(AcquisitionError(TokenFailure(.refused(reply), status: 401))).hasPrefix(
        "Register the certificate with the thumbprint 59F5"))
    reply.clockSkew = 480
    #expect(advice.advice(AcquisitionError(TokenFailure(.refused(reply), status: 401))) == Cure.clock.words())
  }

  @Test func `the thumbprint of a certificate that the handshake shows is in the advice, with the ways to register it`()
    throws
  {
    let loaded = try Self.loaded("certificate_file: @ec.pem, key_file: @ec.key", kind: "mutual_tls")
    let advice = CheckAdvice(
      commands: OperatorCommands(configuration: "p.yaml"), route: loaded.settings.routes[0],
      application: loaded.settings.applications[0], thumbprint: loaded.certificates.thumbprint(of: "app"))
    let words = advice.advice(
      AcquisitionError(TokenFailure(.refused(TokenErrorReply(error: "invalid_client")), status: 401)))
    #expect(words.hasPrefix("Register the certificate with the thumbprint 59F5"), "\(words)")
    #expect(words.contains("tls_client_auth or self_signed_tls_client_auth"), "\(words)")
  }

  @Test func `a managed identity's failure is advised about with what it was found by`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications: {app: {credential: {managed_identity: {}}}}
      routes:
        - {name: r, path: /, upstream: "https://a.example/", application: app,
           token: {as: application, scopes: [r/.default]}}

      """, to: "p.yaml")
    let settings = try CommandContext(environment: ["MSI_ENDPOINT": "http://127.0.0.1:1/"]).settings(file)
    let advice = CheckAdvice(
      commands: OperatorCommands(configuration: "p.yaml"), route: settings.routes[0],
      application: settings.applications[0])
    let unreached = AcquisitionError(.unreached(.timedOut(host: "h")))
    #expect(advice.advice(unreached).contains("or were MSI_ENDPOINT left over from elsewhere?"))
    #expect(
      advice.advice(AcquisitionError(TokenFailure(.refused(TokenErrorReply(error: "invalid_request")), status: 400)))
        .hasPrefix("Assign the identity"))
    #expect(advice.advice(AcquisitionError(.managedIdentity(.notConfirmed))).contains("agent"))
  }

  @Test func `the log reminds once of each step towards the end, and of a new certificate anew`() {
    let day: Int64 = 86_400
    let start = UnixTime(1_700_000_000)
    func certificate(_ thumbprint: String, days: Int64) -> WatchedCertificate {
      WatchedCertificate(
        .application("app"), file: "app.pem", thumbprint: thumbprint,
        validity: CertificateValidity(notBefore: start, notAfter: start + days * day))
    }
    var reminders = CertificateReminders()
    let old = certificate("A", days: 40)
    func states(_ certificates: [WatchedCertificate], day number: Int64) -> [CertificateValidity.State] {
      reminders.due(certificates, now: start + number * day + 1).map(\.state)
    }
    #expect(states([old], day: 0) == [])
    #expect(states([old], day: 10) == [.endsSoon])
    #expect(states([old], day: 20) == [])
    #expect(states([old], day: 33) == [.endsVerySoon])
    #expect(states([certificate("B", days: 50), old], day: 34) == [.endsSoon])
    #expect(states([old], day: 40) == [.expired])
    #expect(states([old], day: 41) == [])
  }
}
