// The policies of a B2C tenant share host, tenant and client id in the cache.

import Bytes
import Testing
import Tokens

@Suite struct PolicyEntriesTests {
  typealias Fixture = CacheFixture

  private static let host = "contoso.b2clogin.com"
  private static let tenant = "contoso.onmicrosoft.com"
  private static let scope = "https://contoso.onmicrosoft.com/api/read"

  private static func key(_ policy: String, _ subject: TokenSubject) throws -> AcquisitionKey {
    AcquisitionKey(
      authority: try Authority("https://\(host)/\(tenant)/\(policy)"), clientID: Fixture.client,
      credential: CredentialVersion(0), subject: subject, scopes: try ScopeSet([scope]), claims: nil)
  }

  private static func issued(_ token: String, uid: String?, isolation: String? = nil) throws -> IssuedTokens {
    try Fixture.issued(
      token, scopes: scope, uid: uid, refreshToken: uid.map { "RT-\($0)" }, host: host, realm: tenant,
      grantType: uid == nil ? "client_credentials" : "authorization_code", isolation: isolation)
  }

  // V c/14: the id's first half ends with the policy.
  @Test func `a person's tokens are those of the policy that they signed in by`() throws {
    var document = CacheDocument()
    for policy in ["b2c_1_susi", "b2c_1a_profile", "b2c_1_x-b2c_1_susi2"] {
      let isFiled = document.add(try Self.issued("AT-\(policy)", uid: "uid-a-\(policy)"), now: Fixture.now)
      #expect(isFiled)
    }
    for (policy, found) in [
      ("B2C_1_SUSI", "b2c_1_susi"), ("b2c_1a_profile", "b2c_1a_profile"), ("b2c_1_other", nil),
    ] as [(String, String?)] {
      let lookup = document.lookup(for: try Self.key(policy, .account(nil)), realm: Self.tenant, now: Fixture.now)
      #expect(lookup.accessToken?.secret.revealed() == found.map { "AT-\($0)" }, "\(policy)")
      #expect(lookup.grant.refreshTokens.map { $0.secret.revealed() } == (found.map { ["RT-uid-a-\($0)"] } ?? []))
      #expect(lookup.account?.realms == (found == nil ? nil : [Self.tenant]))
    }
  }

  // If the provider sends no client_info, the id is the subject, which names no policy.
  @Test func `a person whose id names no policy is any policy's`() throws {
    var document = CacheDocument()
    document.add(try Self.issued("AT", uid: "uid-a"), now: Fixture.now)
    let lookup = document.lookup(for: try Self.key("b2c_1_susi", .account(nil)), realm: Self.tenant, now: Fixture.now)
    #expect(lookup.accessToken?.secret.revealed() == "AT")
  }

  @Test func `an application's own tokens are those of the policy that issued them`() throws {
    var document = CacheDocument()
    let one = try Self.key("b2c_1_one", .application), other = try Self.key("b2c_1_other", .application)
    document.add(try Self.issued("AT-one", uid: nil, isolation: one.authority.applicationIsolation), now: Fixture.now)
    for realm in [Self.tenant, nil] {
      #expect(document.lookup(for: one, realm: realm, now: Fixture.now).accessToken?.secret.revealed() == "AT-one")
      #expect(document.lookup(for: other, realm: realm, now: Fixture.now).accessToken == nil)
    }
  }
}
