// The JWTs of an issuer that let a caller in: the attacks are tokens that the issuer has really signed, for something
// else.

import Bytes
import Platform
import Testing
import TestSupport
import Tokens

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct CallerTokenTests {
  private static let audience = "https://orders.example"
  private let site: IssuerSite

  init() async throws { site = try await IssuerSite() }

  @Test func `an access record names the subject of the caller's token`() async throws {
    let scene = try await ScriptedScene(top: "log: {identities: plain}", listener: ", callers: {\(bearer)}")
    let proxy = scene.proxy
    for claims in [[:], ["oid": JSONValue.string("0b1d")]] {
      #expect(
        try await proxy.get("/seen", ["-H", "Authorization: Bearer \(try token("at+jwt", claims))"]).status == 200)
    }
    #expect(try await eventually { proxy.accessRecords.count == 2 })
    #expect(proxy.accessRecords.map { $0["caller_subject"] } == [.string("ann"), .string("0b1d")])
  }

  private func token(_ type: String?, _ claims: [String: JSONValue]) throws -> String {
    let header = type.map { ["typ": JSONValue.string($0)] } ?? [:]
    let claims = claims.merging(["aud": .string(Self.audience), "sub": .string("ann")]) { $1 }
    return try site.issuer.signed(header: header, claims: claims, now: .now)
  }

  private var bearer: String { "bearer: {authority: \"\(site.issuer.name)\", audiences: [\"\(Self.audience)\"]}" }

  @Test func `a certificate-bound token is accepted with its certificate only`()
    async throws
  {
    let bearer = bearer
    let scene = try await SecureScene { ", callers: {certificate: {ca_file: \($0.file)}, \(bearer)}" }
    let (ann, thief) = (try await scene.authority.issue("ann"), try await scene.authority.issue("thief"))
    let digits = Array(try await ann.fingerprint("sha256"))
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    let digest = Base64URL.encode(bytes)
    let bound = try token("at+jwt", ["client_id": .string("app"), "cnf": .object(["x5t#S256": .string(digest)])])
    let free = try token("at+jwt", ["client_id": .string("app")])
    func status(_ token: String, _ certificate: TestSupport.CertificateAuthority.Certificate) async throws -> Int {
      try await scene.get("/seen", certificate.shown + ["-H", "Authorization: Bearer \(token)"]).status
    }
    // The holder first, so that the loop remembers to have believed the token.
    for _ in 0..<2 {
      #expect(try await status(bound, ann) == 200)
      #expect(try await status(bound, thief) == 401)
      #expect(try await status(free, thief) == 200)
    }
  }
}
