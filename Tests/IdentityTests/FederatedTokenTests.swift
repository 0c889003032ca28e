// Tokens of other services that prove applications: requested once, kept until a minute before their end, dropped when
// a provider refuses them; and those of another application.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct FederatedTokenTests {
  private let provider = ScriptedProvider()
  private let clock = ManualClock()

  /// A job's service, which hands out tokens that live for ten minutes.
  private actor JobService {
    let issuer: FederatedIssuer
    let clock: ManualClock
    private(set) var issued: [String] = []
    var failure: FetchResponse?

    init(_ clock: ManualClock) throws {
      self.clock = clock
      issuer = try FederatedIssuer("https://token.actions.example")
    }

    func fail(with response: FetchResponse?) { failure = response }

    func answer(_ request: FetchRequest) throws -> FetchResponse {
      if let failure { return failure }
      let token = try issuer.token(subject: "repo:\(issued.count)", lifetime: 600, now: clock.now)
      issued.append(token)
      return FetchResponse(status: 200, body: Array(#"{"value": "\#(token)"}"#.utf8))
    }
  }

  private func job() throws -> FederatedTokenService {
    try .githubActions(environment: [
      "ACTIONS_ID_TOKEN_REQUEST_URL": "https://actions.example/token?v=1",
      "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job-token",
    ])
  }

  private func broker() -> TokenBroker { TokenBroker(at: clock) }

  private func application(_ service: JobService) throws -> Application {
    let provider = provider
    return Application(
      name: "ci", authority: try Authority(ScriptedProvider.issuer), clientID: "client",
      credential: .federated(.service(try job()), audience: "aud")
    ) { request throws(FetchError) in
      guard request.destination == .federation else { return try await provider.fetch(request) }
      do { return try await service.answer(request) } catch { throw .closed(host: "actions.example") }
    }
  }

  private static func assertion(_ form: String) -> String? { form.split(separator: "=").last.map(String.init) }

  @Test func `requests at one time share a token, which is kept until a minute before its end`() async throws {
    let service = try JobService(clock)
    let (application, broker) = (try application(service), broker())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for scope in ["a", "b", "c"] {
        let subscription = try application.wish(scope)
        group.addTask { _ = try await broker.bearer(for: subscription) }
      }
      try await group.waitForAll()
    }
    clock.advance(540)
    _ = try await broker.bearer(for: application.wish("d"))
    clock.advance(1)
    _ = try await broker.bearer(for: application.wish("e"))
    let issued = await service.issued
    let forms = await provider.forms
    #expect(forms.map(Self.assertion) == [issued[0], issued[0], issued[0], issued[0], issued[1]])
  }

  @Test func `a token that the provider refuses is let go of, and it is asked again soon for minutes`() async throws {
    let service = try JobService(clock)
    let (application, broker) = (try application(service), broker())
    let subscription = try application.wish("a")
    let refusal = ScriptedProvider.Answer.json(
      401, #"{"error": "invalid_client", "error_description": "AADSTS70021: No matching record"}"#)
    await provider.script(tokens: [refusal, refusal])
    for expected: Int64 in [10, 60] {
      let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: subscription) }
      #expect(error?.retryAfter == expected && error?.reason == "token-request-rejected")
      clock.advance(300)
    }
    #expect(try await broker.bearer(for: subscription).token == Secret("token-1"))
    #expect(await provider.forms.map(Self.assertion) == service.issued)
  }

  @Test func `a service that is busy is asked again, and one that refuses is named`() async throws {
    let service = try JobService(clock)
    let (application, broker) = (try application(service), broker())
    let subscription = try application.wish("a")
    await service.fail(with: FetchResponse(status: 403, body: Array(#"{"message": "no id-token"}"#.utf8)))
    let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: subscription) }
    #expect(
      error?.detail
        == "the job's ID token service gave no token that proves the application: status 403; no id-token")
    #expect(error?.reason == "identity-provider-unavailable" && error?.retryAfter == 10)
    #expect(await provider.forms.isEmpty)
  }

  @Test func `another application's token is the proof, and that one proves itself in its own way`() async throws {
    let hub = ScriptedProvider(
      metadata: #"{"issuer": "https://hub.example", "token_endpoint": "https://hub.example/t"}"#,
      endpoint: "https://hub.example/t")
    let inner = try hub.application(at: "https://hub.example", name: "hub")
    let application = try provider.application(.federated(.application(inner), audience: "api://x"))
    _ = try await broker().bearer(for: application.wish("a"))
    #expect(await hub.forms == ["grant_type=client_credentials&audience=api%3A%2F%2Fx"])
    #expect(await provider.forms.map(Self.assertion) == ["token-1"])
    // Another secret of the other application is another credential of this one.
    var changed = inner
    changed.credential = .secret(Secret("another"))
    #expect(FederatedTokenSource.application(inner) == .application(inner))
    #expect(FederatedTokenSource.application(inner) != .application(changed))
  }

  @Test func `a missing token of the other application is told with its reason and name`() async throws {
    let hub = ScriptedProvider()
    await hub.script(tokens: [.json(401, #"{"error": "invalid_client"}"#), .json(401, #"{"error": "invalid_client"}"#)])
    let inner = try hub.application(name: "hub")
    let application = try provider.application(.federated(.application(inner), audience: "x"))
    let error = await #expect(throws: AcquisitionError.self) { try await broker().bearer(for: application.wish("a")) }
    #expect(error?.detail == "application 'hub' gave no token that proves the application: invalid_client")
    #expect(await provider.forms.isEmpty)
  }

  @Test func `parameters are sent, tell tokens apart, and keep them out of the shared cache`() async throws {
    let store = CacheStore.memory()
    let broker = TokenBroker(at: clock, store: store)
    let application = try provider.application()
    let plain = try application.wish("a")
    let aimed = TokenSubscription(
      application: application, scopes: try ScopeSet(["a"]), parameters: try TokenParameters(audiences: ["api"]))
    #expect(try await broker.bearer(for: aimed).token == Secret("token-1"))
    #expect(await store.snapshot()[.accessToken].values.isEmpty)
    #expect(try await broker.bearer(for: plain).token == Secret("token-2"))
    #expect(try await broker.bearer(for: aimed).token == Secret("token-1"))
    let forms = await provider.forms
    #expect(forms.map { $0.contains("&audience=api&") } == [true, false])
    // The other's token in the cache is not this one's, also after a restart.
    let next = TokenBroker(at: clock, store: store)
    #expect(try await next.bearer(for: plain).token == Secret("token-2"))
    #expect(try await next.bearer(for: aimed).token == Secret("token-3"))
  }
}
