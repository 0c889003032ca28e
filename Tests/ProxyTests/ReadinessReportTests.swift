// The text of /readyz.

import Bytes
@testable import Identity
import Routing
import Testing
@testable import Tokens

@testable import Proxy

@Suite struct ReadinessReportTests {
  private static let now = UnixTime(1000)

  private static func status(_ expiresAt: Int64?, failedSince: Int64? = nil, retryAt: Int64 = 0) throws -> TokenStatus {
    var status = TokenStatus(
      application: "contoso", subject: .application, scopes: try ScopeSet(["orders/.default"]),
      expiresAt: expiresAt.map { UnixTime($0) })
    if let failedSince {
      status.failure = TokenStatus.Failure(
        error: AcquisitionError(.metadata(status: 500), retryAfter: 5), since: UnixTime(failedSince),
        retryAt: UnixTime(retryAt))
    }
    return status
  }

  @Test func `every token at hand is ready, also while a renewal fails`() throws {
    #expect(ReadinessReport([], expected: 0, now: Self.now).isReady)
    let report = ReadinessReport(
      [try Self.status(1001), try Self.status(2000, failedSince: 990)], expected: 2, now: Self.now)
    #expect(report.isReady)
    #expect(report.text == "ready\n")
  }

  @Test func `each missing token has a line with the reason and the next attempt`() throws {
    let report = ReadinessReport(
      [try Self.status(1000), try Self.status(nil, failedSince: 990, retryAt: 1004)], expected: 3, now: Self.now)
    #expect(!report.isReady)
    #expect(
      report.text == """
        not ready
        - application contoso, scopes orders/.default: identity-provider-unavailable for 10 s, next attempt in 4 s
        - tokens have not been asked for yet

        """)
  }

  @Test func `a token that ended because no request used it is not missing`() throws {
    let report = ReadinessReport([try Self.status(900)], expected: 1, now: Self.now)
    #expect(report.isReady && report.text == "ready\n")
  }

  @Test func `a token that has ended had arrived, and a proxy that needs none is ready without any`() throws {
    let ended = ReadinessReport([try Self.status(900, failedSince: 990)], expected: 1, now: Self.now)
    #expect(ended.isReady)
    #expect(ended.text.hasPrefix("ready\n- application contoso, scopes orders/.default: identity-provider-unavailable"))
    let missing = ReadinessReport([try Self.status(nil)], expected: 2, now: Self.now, rule: .started)
    #expect(missing.isReady)
    #expect(missing.text.hasSuffix("the first token has not arrived yet\n- tokens have not been asked for yet\n"))
  }

  private static func account(
    _ name: String?, expiresAt: Int64? = nil, failure: AcquisitionError? = nil
  ) throws -> TokenStatus {
    var status = TokenStatus(
      application: "contoso", subject: .account(name), scopes: try ScopeSet(["User.Read"]),
      expiresAt: expiresAt.map { UnixTime($0) })
    status.failure = failure.map { TokenStatus.Failure(error: $0, since: UnixTime(990), retryAt: UnixTime(1010)) }
    return status
  }

  @Test func `people are waited for only if that is chosen, until someone is signed in`() throws {
    let needed = AcquisitionError(
      .interaction(
        InteractionRequired(reason: .noAccount, scopes: .none, authority: try Authority("https://id.example/realm"))))
    var signedIn = try Self.account("alice@contoso.example")
    signedIn.account = CachedAccount(home: "a.b", environment: "id.example", entries: [])
    let cases: [(status: TokenStatus, isReady: Bool)] = [
      (try Self.account("alice@contoso.example"), false),
      (try Self.account("alice@contoso.example", failure: needed), false), (signedIn, true),
      (try Self.account("alice@contoso.example", expiresAt: 1300), true),
      (try Self.account("alice@contoso.example", expiresAt: 900, failure: needed), true),
    ]
    for (status, isReady) in cases {
      #expect(ReadinessReport([status], expected: 1, now: Self.now, rule: .people).isReady == isReady, "\(status)")
      #expect(ReadinessReport([status], expected: 1, now: Self.now, rule: .tokens).isReady)
    }
    #expect(!ReadinessReport([try Self.status(nil)], expected: 1, now: Self.now, rule: .people).isReady)
  }

  @Test func `accounts are reported and do not affect readiness`() throws {
    let needed = AcquisitionError(
      .interaction(
        InteractionRequired(
          reason: .accountAmbiguous, scopes: .none, authority: try Authority("https://id.example/realm"))))
    let report = ReadinessReport(
      [
        try Self.account("alice@contoso.example", expiresAt: 1300), try Self.account(nil, failure: needed),
        try Self.account("bob", failure: AcquisitionError(.metadata(status: 500), retryAfter: 5)),
        try Self.account("carol", expiresAt: 1000),
      ], expected: 4, now: Self.now)
    #expect(report.isReady)
    #expect(
      report.text == """
        ready
        - account alice@contoso.example, application contoso, scopes User.Read: token held, 5 min left
        - account (the only one), application contoso, scopes User.Read: sign-in needed: account_ambiguous
        - account bob, application contoso, scopes User.Read: identity-provider-unavailable for 10 s, next attempt in \
        10 s
        - account carol, application contoso, scopes User.Read: signed in, token obtained on demand

        """)
  }

  @Test func `clocks that were set back give no negative times`() throws {
    let report = ReadinessReport([try Self.status(nil, failedSince: 2000, retryAt: 3)], expected: 1, now: Self.now)
    #expect(report.text.contains("for 0 s, next attempt in 0 s"))
  }
}
