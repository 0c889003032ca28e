// Facts about providers that are stored beside a cache, for restarts while the provider is down.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(2))) struct KnownTenantsTests {
  private static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  let directory: TemporaryDirectory
  let clock = ManualClock()

  init() throws { directory = try TemporaryDirectory() }

  private func subscription(_ authority: Authority, _ fetch: @escaping Fetch) throws -> TokenSubscription {
    TokenSubscription(
      application: Application(
        name: "contoso", authority: authority, clientID: "client", credential: .secret(Secret("s3cret")), fetch: fetch),
      scopes: try ScopeSet(["api://orders/.default"]))
  }

  private func broker(_ store: CacheStore) -> TokenBroker { TokenBroker(at: clock, store: store) }

  private static func provider(of authority: Authority) -> ScriptedProvider {
    let endpoint = "\(authority.url.origin)/\(tenant)/oauth2/v2.0/token"
    return ScriptedProvider(
      metadata: #"{"issuer": "\#(authority.url.origin)/\#(tenant)/v2.0", "token_endpoint": "\#(endpoint)"}"#,
      endpoint: endpoint)
  }

  private static let down: Fetch = { request throws(FetchError) in throw .malformed(host: request.url.host) }

  /// Obtains a token, ends, starts again while the provider is down, and asks for the same.
  private func restart(_ authority: Authority, open: () async -> CacheStore) async throws {
    let store = await open()
    let provider = Self.provider(of: authority)
    let first = broker(store)
    let value = try await first.bearer(for: subscription(authority, provider.fetch))
    try await waitForFile(directory.file("cache.json.providers")) { await store.isWritten(authority) }

    let later = await open()
    let second = broker(later)
    let served = try await second.bearer(for: subscription(authority, Self.down))
    #expect(served.token == value.token && served.origin.source == .cache)
    #expect(await provider.forms.count == 1)
  }

  @Test(arguments: [
    "https://login.microsoftonline.com/contoso.onmicrosoft.com", "https://contoso.ciamlogin.com",
    "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_in", "https://login.microsoftonline.com/\(tenant)",
    "https://id.example/realms/demo",
  ])
  func `a valid token of the file serves after a restart while the provider is down`(text: String) async throws {
    let authority = try Authority(text)
    let path = directory.file("cache.json")
    if authority.kind == .issuer {
      // An issuer's tokens name it; nothing has to be remembered.
      let store = await CacheStore.file(path: path)
      let value = try await broker(store).bearer(for: subscription(authority, ScriptedProvider().fetch))
      let served = try await broker(await CacheStore.file(path: path)).bearer(for: subscription(authority, Self.down))
      #expect(served.token == value.token)
      #expect(!FileManager.default.fileExists(atPath: path + ".providers"))
      return
    }
    try await restart(authority) { await CacheStore.file(path: path) }
    let text = directory.read("cache.json.providers")
    if authority.knownRealm == nil {
      #expect(text == #"{"tenants":{"\#(authority)":"\#(Self.tenant)"}}"# + "\n")
    } else {
      #expect(text.isEmpty)
    }
  }

  @Test func `without what was remembered, or with what is no such text, the provider is asked`() async throws {
    let authority = try Authority("https://login.microsoftonline.com/contoso.onmicrosoft.com")
    let path = directory.file("cache.json")
    try await restart(authority) { await CacheStore.file(path: path) }
    for text in ["", "{", #"{"tenants": 3}"#, #"{"tenants": {"https://elsewhere.example/x": "y"}}"#] {
      try directory.write(text, to: "cache.json.providers")
      let provider = Self.provider(of: authority)
      let store = await CacheStore.file(path: path)
      _ = try await broker(store).bearer(for: subscription(authority, provider.fetch))
      let (metadata, forms) = (await provider.metadataRequests, await provider.forms)
      #expect(metadata == 1 && forms.isEmpty, "\(text)")
      try await waitForFile(directory.file("cache.json.providers")) { await store.isWritten(authority) }
    }
  }
}

extension CacheStore {
  /// True if a later start would know the tenant.
  fileprivate func isWritten(_ authority: Authority) async -> Bool {
    if authority.knownRealm != nil { return true }
    return await KnownTenants(text: text(.providers)).tenant(of: authority) != nil
  }
}
