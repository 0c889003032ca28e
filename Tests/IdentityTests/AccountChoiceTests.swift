// Whose tokens silent acquisition takes: by name, by id, or the only one there is.

import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct AccountChoiceTests {
  private typealias Bench = AccountBench

  @Test func `empty-cache: if no account is signed in nothing is sent`() async throws {
    let bench = Bench()
    #expect(await bench.need(try bench.subscription())?.reason == .noAccount)
    let named = try #require(await bench.need(try bench.subscription(account: "alice@contoso.example")))
    #expect(named.reason == .noAccount && named.accountName == "alice@contoso.example" && named.scopes.words == ["A"])
    #expect(await bench.provider.metadataRequests == 0)
  }

  @Test(arguments: ["Alice@contoso.example", "alice@CONTOSO.example", Bench.alice.home, "uid-alice"])
  func `an account is chosen by user name, home id or local id`(name: String) async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT-alice", refreshToken: nil)
    try document.signIn(Bench.bob, scopes: "A", token: "AT-bob", refreshToken: nil)
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription(account: name)) == "AT-alice")
    #expect(await bench.need(try bench.subscription())?.reason == .accountAmbiguous)
    #expect(await bench.need(try bench.subscription(account: "carol"))?.reason == .noAccount)
  }

  @Test func `an account of another application does not make the choice ambiguous`() async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT-alice", refreshToken: nil)
    try document.signIn(Bench.bob, scopes: "A", token: "AT-bob", refreshToken: "RT", clientID: "other")
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    #expect(await bench.need(try bench.subscription(account: "bob@contoso.example"))?.reason == .noTokens)
  }
}
