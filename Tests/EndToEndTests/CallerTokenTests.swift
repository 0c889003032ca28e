// The JWTs of an issuer that let a caller in: the attacks are tokens that the issuer has really signed, for something
// else.

import Bytes
import FoundationEssentials
import Platform
import Testing
import TestSupport
import Tokens

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct CallerTokenTests {
  private static let audience = "https://orders.example"
  private let directory: TemporaryDirectory
  private let upstream: ScriptedUpstream
  private let site: IssuerSite

  init() async throws {
    directory = try TemporaryDirectory()
    upstream = try await ScriptedUpstream(in: directory)
    site = try await IssuerSite()
  }

  private func proxy(port: Int, _ settings: String) async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners:
        - address: "127.0.0.1:\(port)"
          \(settings)
      log: {identities: plain}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
  }

  @Test func `an access record names the subject of the caller's token`() async throws {
    let port = try freePort()
    let proxy = try await proxy(port: port, "callers: {\(bearer)}")
    for claims in [[:], ["oid": JSONValue.string("0b1d")]] {
      #expect(
        try await proxy.get("/seen", ["-H", "Authorization: Bearer \(try token("at+jwt", claims))"]).status == 200)
    }
    #expect(try await eventually { proxy.accessRecords.count == 2 })
    #expect(proxy.accessRecords.map { $0["caller_subject"] } == [.text("ann"), .text("0b1d")])
  }

  private func token(_ type: String?, _ claims: [String: JSONValue]) throws -> String {
    let header = type.map { ["typ": JSONValue.string($0)] } ?? [:]
    let claims = claims.merging(["aud": .string(Self.audience), "sub": .string("ann")]) { $1 }
    return try site.issuer.signed(header: header, claims: claims, now: UnixTime(WallClock.now.seconds))
  }

  private var bearer: String { "bearer: {authority: \"\(site.issuer.name)\", audiences: [\"\(Self.audience)\"]}" }

  @Test func `a certificate-bound token is accepted with its certificate only`()
    async throws
  {
    let authority = try await TestSupport.CertificateAuthority(in: directory)
    let (listener, ann) = (try await authority.issue("listener"), try await authority.issue("ann"))
    let thief = try await authority.issue("thief")
    let port = try freePort()
    let proxy = try await proxy(
      port: port,
      """
      tls: {certificate_file: \(listener.certificateFile), key_file: \(listener.keyFile)}
          callers: {certificate: {ca_file: \(authority.file)}, \(bearer)}
      """)
    let fingerprint = try await succeed([
      "openssl", "x509", "-in", ann.certificateFile, "-noout", "-fingerprint", "-sha256",
    ])
    let digits = fingerprint.split(separator: "=").last?.split(whereSeparator: { ":\n".contains($0) }) ?? []
    let digest = Base64URL.encode(digits.compactMap { UInt8($0, radix: 16) })
    let bound = try token("at+jwt", ["client_id": .string("app"), "cnf": .object(["x5t#S256": .string(digest)])])
    let free = try token("at+jwt", ["client_id": .string("app")])
    func status(_ token: String, _ certificate: TestSupport.CertificateAuthority.Certificate) async throws -> Int {
      try await curl([
        "--cacert", authority.file, "--cert", certificate.certificateFile, "--key", certificate.keyFile,
        "-H", "Authorization: Bearer \(token)", "https://localhost:\(port)/seen",
      ]).status
    }
    // The holder first, so that the loop remembers to have believed the token.
    for _ in 0..<2 {
      #expect(try await status(bound, ann) == 200)
      #expect(try await status(bound, thief) == 401)
      #expect(try await status(free, thief) == 200)
    }
    withExtendedLifetime(proxy) {}
  }
}
