// Azure CLI's file, renewed by us at Microsoft's own authorities, which keep the tokens of two libraries not
// apart.

import Bytes
import FoundationEssentials
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct AzureCLIFileTests {
  private static let entra = "https://login.microsoftonline.com"
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func application(
    _ tenant: String, client: String, store: CacheStore, now: @escaping @Sendable () -> UnixTime,
    fetch: @escaping Fetch
  ) throws -> PublicClientApplication {
    PublicClientApplication(
      ClientApplicationBase(
        Application(
          name: "shared", authority: try Authority("\(Self.entra)/\(tenant)"), clientID: client, credential: nil,
          fetch: fetch), cache: store, surroundings: TokenBroker.Surroundings(now: now, jitter: { 0 }),
        loop: try EventLoop()))
  }

  // Vectors cache/07 and flows/19; the CLI signs in at `organizations` and asks for each tenant with the family's
  // refresh token.
  @Test(arguments: ["organizations", AzureCLICache.tenant])
  func `the CLI's family refresh token is redeemed at the tenant, and renewed where the CLI finds it`(
    tenant: String
  ) async throws {
    let began = 1_700_000_000
    let path = try directory.write(AzureCLICache(now: began).text, to: "msal_token_cache.json")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let before = try CacheDocument(text: Array(directory.read("msal_token_cache.json").utf8))
    let endpoint = "\(Self.entra)/\(tenant)/oauth2/v2.0/token"
    let issuer = tenant == "organizations" ? "{tenantid}" : tenant
    let provider = ScriptedProvider(
      metadata: #"{"issuer": "\#(Self.entra)/\#(issuer)/v2.0", "token_endpoint": "\#(endpoint)"}"#, endpoint: endpoint)
    let clock = ManualClock()
    let store = await CacheStore.file(path: path)
    let application = try application(
      tenant, client: AzureCLICache.client, store: store, now: { clock.now }, fetch: provider.fetch)
    let account = try #require(await application.accounts().first)
    #expect(account.homeAccountID == AzureCLICache.home && account.name == "User.A@contoso.example")

    let first = tenant == "organizations"
    if first {
      // The CLI's own access token, to its last minutes.
      let cached = try await application.acquireTokenSilent(scopes: [AzureCLICache.scope], account: account)
      #expect(cached.accessToken == Secret(AzureCLICache.accessToken) && cached.tenantID == AzureCLICache.tenant)
      #expect(await provider.forms.isEmpty)
      clock.advance(3600)
    }
    await provider.script(tokens: [
      .json(
        200,
        #"""
        {"token_type": "Bearer", "access_token": "AT-2", "expires_in": 5000, "refresh_token": "FRT-2", "foci": "1",
         "scope": "https://management.core.windows.net//user_impersonation \#
        https://management.core.windows.net//.default"}
        """#)
    ])
    let renewed = try await application.acquireTokenSilent(scopes: [AzureCLICache.scope], account: account)
    #expect(renewed.accessToken == Secret("AT-2") && renewed.tenantID == AzureCLICache.tenant)
    let form = try #require(await provider.forms.first)
    #expect(form.contains("client_id=\(AzureCLICache.client)&"))
    #expect(form.contains("refresh_token=FRT-1"))

    let after = try CacheDocument(text: Array(directory.read("msal_token_cache.json").utf8))
    #expect(after[.refreshToken].keys == before[.refreshToken].keys)
    let refresh = try #require(after[.refreshToken].values.first)
    #expect(refresh.secret == Secret("FRT-2") && refresh["family_id"] == "1")
    #expect(after[.account] == before[.account] && after[.appMetadata] == before[.appMetadata])
    // At `organizations` the new access token replaced the one it intersects with; at the tenant there are both.
    #expect(
      Set(after[.accessToken].values.compactMap { $0["realm"] }) == (first ? [tenant] : ["organizations", tenant]))
  }
}
