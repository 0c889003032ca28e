// Each kind of authority from its metadata to the cache and back: the requests, the names of the entries,
// and that a later process finds it without a request.

import Bytes
import HTTP
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite struct AuthorityTableTests {
  private static let guid = "11111111-aaaa-4aaa-8aaa-111111111111"
  private static let client = "33333333-cccc-4ccc-8ccc-333333333333"
  private static let uid = "aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa"

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String { authority + (tenant.map { " for \($0)" } ?? "") }
    var authority: String
    /// The route's.
    var tenant: String?
    var metadata: String
    /// The issuer and the token endpoint in the metadata.
    var issuer: String
    var token: String
    /// Under what tokens are filed.
    var environment: String
    var realm: String
    var isolation: String?
    /// True if an application gets tokens of its own.
    var servesApplications = true
    /// The place at which another library filed the person's refresh token.
    var filed: String
    /// Behind the person's id.
    var suffix = ""
  }

  private static func entra(
    _ host: String, _ tenant: String, realm: String? = nil, override: String? = nil, filed: String
  ) -> Row {
    let asked = override ?? tenant
    return Row(
      authority: "https://\(host)/\(tenant)", tenant: override,
      metadata: "https://\(host)/\(asked)/v2.0/.well-known/openid-configuration",
      issuer: ["common", "organizations"].contains(asked)
        ? "https://\(host)/{tenantid}/v2.0" : "https://\(host)/\(realm ?? asked)/v2.0",
      token: "https://\(host)/\(realm ?? asked)/oauth2/v2.0/token", environment: host, realm: realm ?? asked,
      servesApplications: !["common", "organizations", "consumers"].contains(asked), filed: filed)
  }

  static let rows: [Row] = [
    entra("login.microsoftonline.com", guid, filed: "login.windows.net"),
    entra("login.microsoftonline.com", "contoso.onmicrosoft.com", realm: guid, filed: "sts.windows.net"),
    entra("login.microsoftonline.com", "common", filed: "login.microsoft.com"),
    entra("login.microsoftonline.com", "organizations", filed: "login.windows.net"),
    entra("login.microsoftonline.com", "consumers", filed: "login.microsoftonline.com"),
    entra("login.windows.net", guid, filed: "login.microsoftonline.com"),
    entra("login.microsoftonline.us", guid, filed: "login.usgovcloudapi.net"),
    entra("login.partner.microsoftonline.cn", guid, filed: "login.chinacloudapi.cn"),
    entra("login.sovcloud-identity.fr", guid, filed: "login.sovcloud-identity.fr"),
    // Multi-tenant applications, and guests: the refresh token of the home tenant is good for the other one.
    entra("login.microsoftonline.com", "organizations", override: guid, filed: "login.windows.net"),
    entra(
      "login.microsoftonline.com", "contoso.example", realm: guid, override: "fabrikam.example",
      filed: "sts.windows.net"),
    Row(
      authority: "https://contoso.ciamlogin.com",
      metadata: "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration",
      issuer: "https://\(guid).ciamlogin.com/\(guid)/v2.0",
      token: "https://contoso.ciamlogin.com/\(guid)/oauth2/v2.0/token",
      environment: "contoso.ciamlogin.com", realm: guid, filed: "contoso.ciamlogin.com"),
    Row(
      authority: "https://login.contoso.example/\(guid)/v2.0",
      metadata: "https://login.contoso.example/\(guid)/v2.0/.well-known/openid-configuration",
      issuer: "https://\(guid).ciamlogin.com/\(guid)/v2.0",
      token: "https://login.contoso.example/\(guid)/oauth2/v2.0/token",
      environment: "https://login.contoso.example/\(guid)/v2.0", realm: guid,
      isolation: "https://login.contoso.example/\(guid)/v2.0", filed: "https://login.contoso.example/\(guid)/v2.0"),
    Row(
      authority: "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_SUSI",
      metadata: "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi/v2.0/.well-known/openid-configuration",
      issuer: "https://contoso.b2clogin.com/\(guid)/v2.0/",
      token: "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi/oauth2/v2.0/token",
      environment: "contoso.b2clogin.com", realm: "contoso.onmicrosoft.com", filed: "contoso.b2clogin.com",
      suffix: "-b2c_1_susi"),
    Row(
      authority: "https://fs.contoso.example/adfs",
      metadata: "https://fs.contoso.example/adfs/.well-known/openid-configuration",
      issuer: "https://fs.contoso.example/adfs", token: "https://fs.contoso.example/adfs/oauth2/token/",
      environment: "fs.contoso.example", realm: "adfs", filed: "fs.contoso.example"),
    Row(
      authority: "https://id.example/realms/main",
      metadata: "https://id.example/realms/main/.well-known/openid-configuration",
      issuer: "https://id.example/realms/main",
      token: "https://id.example/realms/main/protocol/openid-connect/token",
      environment: "https://id.example/realms/main", realm: "realms", isolation: "https://id.example/realms/main",
      filed: "https://id.example/realms/main"),
  ]

  /// Answers a row's two addresses, and remembers what was asked.
  private final class Provider: Sendable {
    let asked = Locked<[String]>([])
    let forms = Locked<[String]>([])

    func fetch(_ row: Row) -> Fetch {
      { [asked, forms] request throws(FetchError) in
        asked.withLock { $0.append(request.url.description) }
        switch request.method {
        case .get:
          return FetchResponse(
            status: request.url.description == row.metadata ? 200 : 404,
            body: Array(#"{"issuer": "\#(row.issuer)", "token_endpoint": "\#(row.token)"}"#.utf8))
        case .post(_, let body):
          forms.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
          return FetchResponse(
            status: 200, body: Array(#"{"access_token": "fresh", "token_type": "Bearer", "expires_in": 3600}"#.utf8))
        }
      }
    }
  }

  private static func application(_ row: Row, _ provider: Provider) throws -> Application {
    var application = Application(
      name: "app", authority: try Authority(row.authority), clientID: client, credential: .secret(Secret("s")),
      fetch: provider.fetch(row))
    if let tenant = row.tenant, let other = try application.authority.forTenant(tenant) { application.move(to: other) }
    return application
  }

  private static func tokens(_ store: CacheStore) async -> [[String: String]] {
    let text = await store.snapshot().text()
    let section = JSONValue(json: text)?.members?["AccessToken"]?.members ?? [:]
    return section.values.map { ($0.members ?? [:]).compactMapValues(\.text) }
  }

  @Test(arguments: rows.filter(\.servesApplications))
  func `an application's token is asked for at its tenant, filed there, and found by the next process`(row: Row)
    async throws
  {
    let provider = Provider(), store = CacheStore.memory()
    let scope = row.authority.contains("adfs") ? "https://api.example/read" : "https://api.example/.default"
    let subscription = try Self.application(row, provider).wish(scope)
    #expect(try await TokenBroker(at: ManualClock(), store: store).bearer(for: subscription).revealedToken() == "fresh")
    #expect(provider.asked.withLock { $0 } == [row.metadata, row.token])
    let filed = await Self.tokens(store)
    #expect(filed.count == 1)
    #expect(filed.first?["environment"] == row.environment && filed.first?["realm"] == row.realm)
    let isolation = row.isolation ?? (row.suffix.isEmpty ? nil : row.authority.lowercased())
    #expect(filed.first?["ext_cache_key"] == isolation)
    let later = Provider()
    let again = try Self.application(row, later).wish(scope)
    #expect(try await TokenBroker(at: ManualClock(), store: store).bearer(for: again).revealedToken() == "fresh")
    #expect(later.forms.withLock { $0 }.isEmpty)
  }

  @Test(arguments: rows)
  func `a person's refresh token is redeemed at the requested tenant, whichever application stored it`(row: Row)
    async throws
  {
    let provider = Provider()
    let info = Base64URL.encode(Array(#"{"uid":"\#(Self.uid)\#(row.suffix)","utid":"\#(Self.guid)"}"#.utf8))
    let claims = Base64URL.encode(
      Array(#"{"iss":"\#(row.isolation ?? row.issuer)","sub":"s","preferred_username":"ann@x.example"}"#.utf8))
    let body = """
      {"access_token": "old", "expires_in": 3600, "refresh_token": "RT", "client_info": "\(info)",
       "id_token": "e30.\(claims).x"}
      """
    var document = CacheDocument()
    let reply = try TokenReply(
      ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: UnixTime(1_600_000_000))
    document.add(
      IssuedTokens(
        reply, clientID: Self.client, environment: row.filed, realm: "home", grantType: "authorization_code",
        requested: try ScopeSet(["other/x"]), isolation: row.isolation), now: UnixTime(1_600_000_000))
    let subscription = TokenSubscription(
      application: try Self.application(row, provider), subject: .account("ann@x.example"),
      scopes: try ScopeSet(["https://api.example/read"]))
    let value = try await TokenBroker(at: ManualClock(), store: .memory(document)).bearer(for: subscription)
    #expect(value.revealedToken() == "fresh")
    #expect(value.origin.account?.homeAccountID == "\(Self.uid)\(row.suffix).\(Self.guid)")
    #expect(provider.asked.withLock { $0 } == [row.metadata, row.token])
    #expect(provider.forms.withLock { $0[0] }.contains("grant_type=refresh_token"))
  }

  // Of two tenants, each has tokens and requests of its own.
  @Test func `routes of two tenants share an application and no token`() async throws {
    let rows = ["a.example", "b.example"].map {
      Self.entra("login.microsoftonline.com", "organizations", override: $0, filed: "login.windows.net")
    }
    let store = CacheStore.memory(), broker = TokenBroker(at: ManualClock(), store: store)
    let providers = rows.map { _ in Provider() }
    var keys: Set<AcquisitionKey> = []
    for (row, provider) in zip(rows, providers) {
      let subscription = try Self.application(row, provider).wish("api://x/.default")
      keys.insert(subscription.key)
      _ = try await broker.bearer(for: subscription)
      #expect(provider.asked.withLock { $0 } == [row.metadata, row.token])
    }
    #expect(keys.count == 2)
    #expect(Set(await Self.tokens(store).compactMap { $0["realm"] }) == ["a.example", "b.example"])
    // An application of the tenant itself, with the same id, has credentials of its own.
    var own = try Self.application(rows[0], providers[0])
    own.credentialVersion.home = nil
    #expect(try !keys.contains(own.wish("api://x/.default").key))
  }
}
