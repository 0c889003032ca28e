// msal-python's recorded silent calls, made again. If the outcome is another one, a comment gives the reason.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct SilentFlowTests {
  @Test func `flow 01: the cache serves, and an ending token is renewed with the recorded request`() async throws {
    let flow = try FlowReplay("01-silent-hit-then-expiry-buffer")
    let accounts = await flow.document().accounts(authority: try flow.authority(0), clientID: "any")
    #expect(accounts.map(\.username) == ["User.A@contoso.example"])
    let hit = try await flow.call(1)
    #expect(hit.answer == .token("AT-fresh") && hit.forms.isEmpty && hit.cacheDifferences.isEmpty)
    // Differs: 299 seconds before the expiry the caller gets the old token, and does not wait for the new one.
    let ending = try await flow.call(2)
    #expect(ending.answer == .token("AT-fresh") && flow.recording.calls[2].token == "AT-2")
    #expect(ending.forms == flow.recordedForms(2) && ending.cacheDifferences.isEmpty)
    #expect(ending.endpoints == flow.recording.calls[2].posts.map(\.url))
  }

  @Test func `flow 02: past refresh_on the recorded request is made, behind the caller's back`() async throws {
    let flow = try FlowReplay("02-aging-token-refresh-ok")
    // Differs: msal-python lets the caller wait.
    let aging = try await flow.call(0)
    #expect(aging.answer == .token("AT-aging") && flow.recording.calls[0].token == "AT-new")
    #expect(aging.forms == flow.recordedForms(0) && aging.cacheDifferences.isEmpty)
    #expect(aging.anchors == flow.recording.calls[0].posts.map(\.anchor) && aging.anchors.first ?? nil != nil)
    #expect(try await flow.call(0, answers: []).answer == .token("AT-new"))
  }

  @Test func `flow 03: a valid token outlives every failure of its renewal`() async throws {
    let flow = try FlowReplay("03-aging-token-refresh-fails")
    // Differs: the refresh token that the provider calls bad is dropped; msal-python keeps sending it.
    let refused = try await flow.call(0)
    #expect(refused.answer == .token("AT-aging") && refused.forms == flow.recordedForms(0))
    #expect(refused.cacheDifferences == ["RefreshToken-"])
    try flow.restart(from: flow.recording.calls[1].cacheBefore)
    let unreached = try await flow.call(1)
    #expect(unreached.answer == .token("AT-aging") && unreached.forms == flow.recordedForms(1))
    #expect(unreached.cacheDifferences.isEmpty)
    try flow.restart(from: flow.recording.calls[2].cacheBefore)
    // Differs: msal-python raises on a server error; and one server error is worth a second request.
    let down = try await flow.call(2, answers: [.json(503, "<html>down</html>"), .json(503, "<html>down</html>")])
    #expect(down.answer == .token("AT-aging") && flow.recording.calls[2].token == nil)
    #expect(down.forms == flow.recordedForms(2) + flow.recordedForms(2) && down.cacheDifferences.isEmpty)
  }

  @Test func `flow 04: what a refusal says is told, nothing is sent meanwhile, and nothing is lost`() async throws {
    let flow = try FlowReplay("04-expired-error-and-throttle")
    let mfa = try await flow.call(0)
    #expect(mfa.answer == .interaction(.basicAction) && mfa.forms == flow.recordedForms(0))
    #expect(mfa.required?.reply?.codes == [50076])
    let claims = try #require(flow.recording.calls[0].result["claims"]?.text)
    #expect(try mfa.required?.claims == Claims(json: claims))
    #expect(mfa.cacheDifferences.isEmpty)
    for index in [1, 2] {
      let remembered = try await flow.call(index)
      #expect(remembered.answer == .interaction(.basicAction) && remembered.forms.isEmpty)
    }
    // Differs: who has to sign in is not asked about for 120 seconds, with msal-python for 60.
    let later = try await flow.call(3, answers: [])
    #expect(later.answer == .interaction(.basicAction) && later.forms.isEmpty)
    #expect(flow.recordedForms(3).count == 1)
    // One second less than Retry-After says, and one more.
    let busy = try await flow.call(4)
    #expect(busy.answer == .unavailable && busy.forms == flow.recordedForms(4))
    let pausing = try await flow.call(5)
    #expect(pausing.answer == .unavailable && pausing.forms.isEmpty)
    let over = try await flow.call(6)
    #expect(over.answer == .token("AT-ok") && over.forms == flow.recordedForms(6) && over.cacheDifferences.isEmpty)
  }

  @Test func `flow 05: claims and capabilities are merged, and what they bring serves plain calls`() async throws {
    let flow = try FlowReplay("05-claims-challenge-and-capabilities")
    let challenged = try await flow.call(0)
    #expect(challenged.answer == .token("AT-cae") && challenged.forms == flow.recordedForms(0))
    // Differs: an extended expiry (3,599 s) that comes before the expiry (86,399 s) is none.
    #expect(challenged.cacheDifferences == ["AccessToken/extended_expires_on"])
    let plain = try await flow.call(1)
    #expect(plain.answer == .token("AT-cae") && plain.forms.isEmpty)
    let forced = try await flow.call(2, forced: true)
    #expect(forced.answer == .token("AT-forced") && forced.forms == flow.recordedForms(2))
    #expect(forced.cacheDifferences.isEmpty)
  }

  @Test func `flow 07: another application's refresh token is not tried`() async throws {
    let flow = try FlowReplay("07-foci-join")
    // Differs: msal-python offers every family token it finds to the provider, and joins the family if one is taken.
    for index in 0..<2 {
      let probing = try await flow.call(index, answers: [])
      #expect(probing.answer == .interaction(.noTokens) && probing.forms.isEmpty)
      #expect(flow.recordedForms(index).map { $0["refresh_token"] } == ["FRT"])
    }
  }

  @Test
  func `foci-mismatch, foci-join, flow 07: if families count, the recorded tokens are tried and filed as recorded`()
    async throws
  {
    let flow = try FlowReplay("07-foci-join")
    let refused = try await flow.call(0, family: "1")
    #expect(refused.answer == .interaction(.signInRequired) && refused.forms == flow.recordedForms(0))
    #expect(refused.cacheDifferences.isEmpty)
    try flow.restart(from: flow.recording.calls[1].cacheBefore)
    let joined = try await flow.call(1, family: "1")
    #expect(joined.answer == .token("AT-joined") && joined.forms == flow.recordedForms(1))
    #expect(joined.cacheDifferences.isEmpty, "\(joined.cacheDifferences)")
  }

  @Test func `adfs-scope-openid, flow 14: an answer that names none of the scopes is still found again`() async throws {
    let flow = try FlowReplay("14-adfs")
    try flow.restart(from: flow.recording.calls[1].cacheAfter)
    let accounts = await flow.document().accounts(authority: try flow.authority(1), clientID: "any")
    #expect(accounts.map(\.homeAccountID) == ["adfs-sub"] && accounts.map(\.username) == ["jane@contoso.example"])
    let first = try await flow.call(2)
    #expect(first.answer == .token("AT-adfs-2") && first.forms == flow.recordedForms(2))
    #expect(first.endpoints == ["https://fs.contoso.example/adfs/oauth2/token/"])
    // Differs: filed under what was asked for instead of the answer's `openid`, under which msal-python never finds it;
    // and as the person's. msal-python files it without an account, because the answer does not name the person again.
    #expect(first.cacheDifferences == ["AccessToken+", "AccessToken-"])
    let filed = try #require(await flow.document()[.accessToken].values.first { $0.secret == Secret("AT-adfs-2") })
    #expect(filed["target"] == "urn:x/read" && filed["home_account_id"] == "adfs-sub")
    // Differs: so an hour's token serves an hour.
    let second = try await flow.call(3)
    #expect(second.answer == .token("AT-adfs-2") && second.forms == flow.recordedForms(3))
    #expect(flow.recording.calls[3].token == "AT-adfs-3")
  }

  @Test func `flow 19: a token of another tenant does not count, and a sign-out leaves what msal-python leaves`()
    async throws
  {
    let flow = try FlowReplay("19-realm-isolation-and-signout")
    let tenant = try await flow.call(0)
    #expect(tenant.answer == .token("AT-tenant") && tenant.forms == flow.recordedForms(0))
    #expect(tenant.endpoints == flow.recording.calls[0].posts.map(\.url) && tenant.cacheDifferences.isEmpty)
    let home = try #require(flow.recording.calls[0].account)
    let clientID = try #require(flow.recording.calls[0].app["client_id"]?.text)
    try await flow.change {
      $0.removeAccount(home: home, environments: ["login.microsoftonline.com"], clientID: clientID)
    }
    let left = try CacheDocument(text: Array(flow.recording.calls[1].cacheAfter.canonicalText().utf8))
    for section in CacheSection.allCases { #expect(await flow.document()[section] == left[section]) }
  }
}
