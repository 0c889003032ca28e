// The tokens of a managed identity: requests, pauses, and challenges of Arc.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

extension ManagedIdentityTests {
  /// Answers in their order, and the requests that they were for.
  private actor Service {
    private var answers: [FetchResponse]
    private(set) var requests: [FetchRequest] = []

    init(_ answers: [FetchResponse]) { self.answers = answers }

    func answer(_ request: FetchRequest) -> FetchResponse {
      requests.append(request)
      return answers.count > 1 ? answers.removeFirst() : answers[0]
    }

    nonisolated var fetch: Fetch { { request throws(FetchError) in await self.answer(request) } }
  }

  private static func token(_ name: String, _ rest: String = "") -> FetchResponse {
    FetchResponse(status: 200, body: Array(#"{"access_token": "\#(name)", "expires_on": "1700003600"\#(rest)}"#.utf8))
  }

  private func subscription(_ service: Service, _ source: ManagedIdentitySource) throws -> TokenSubscription {
    let application = Application(
      name: "machine", authority: .managedIdentity(source), clientID: "system-assigned",
      credential: .managedIdentity(try ManagedIdentity(.systemAssigned, at: Self.host(source))), fetch: service.fetch)
    return try application.wish("https://o.example/.default")
  }

  @Test func `a token is had without a provider, held for all, and kept in memory alone`() async throws {
    let service = Service([Self.token("t-1")])
    let store = CacheStore.memory()
    let broker = TokenBroker(at: ManualClock(), store: store)
    let subscription = try subscription(service, .imds)
    for _ in 0..<3 { #expect(try await broker.bearer(for: subscription).token == Secret("t-1")) }
    let requests = await service.requests
    #expect(
      requests.map(\.url.description) == [
        "http://h.example/token?x=1&api-version=2018-02-01&resource=https%3A%2F%2Fo.example"
      ])
    #expect(await store.snapshot()[.accessToken].values.isEmpty)
    #expect(await broker.status(of: subscription).isReady(at: ManualClock.start))
  }

  /// Status, `Retry-After`, seconds that callers are told, requests of the first caller.
  static let rests: [(Int, String?, Int64, Int)] = [
    (410, nil, 10, 1), (410, "30", 30, 1), (429, "7", 7, 1), (503, "120", 120, 1), (429, nil, 1, 4), (500, nil, 1, 4),
  ]

  @Test(arguments: rests)
  func `a service that wants to be left alone has its pause told at once, and is not asked in it`(
    status: Int, retryAfter: String?, expected: Int64, requests: Int
  ) async throws {
    let fields = retryAfter.map { [(name: "retry-after", value: $0)] } ?? []
    let service = Service(
      [FetchResponse](repeating: FetchResponse(status: status, fields: fields), count: requests) + [Self.token("t-1")])
    let (naps, clock) = (Naps(), ManualClock())
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: { clock.now }, jitter: { 0 }, sleep: { [naps] in await naps.rest($0) }))
    let subscription = try subscription(service, .imds)
    for left in [expected, 1] {
      let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: subscription) }
      #expect(error?.told == .down(status, retryAfter: left))
      clock.advance(left == 1 ? 1 : expected - 1)
      if expected == 1 { break }
    }
    #expect(await naps.lengths == (requests == 1 ? [] : [1, 2, 4]))
    #expect(await service.requests.count == requests)
    #expect(try await broker.bearer(for: subscription).token == Secret("t-1"))
    // Its answer may take longer than any caller waits.
    #expect(await service.requests.allSatisfy { $0.answerLimit == ProviderRequests.usualAnswerLimit })
  }

  @Test func `a token of the machine proves an application to its provider, until a minute before its end`()
    async throws
  {
    let provider = ScriptedProvider()
    let clock = ManualClock()
    let service = Service([Self.token("proof-1"), Self.token("proof-2")])
    let fetch: Fetch = { request throws(FetchError) in
      switch request.destination {
      case .provider, .federation, .region: try await provider.fetch(request)
      case .machine: try await service.fetch(request)
      }
    }
    let identity = try ManagedIdentity(.clientID("i"), at: Self.host(.imds))
    let application = Application(
      name: "federated", authority: try Authority(ScriptedProvider.issuer), clientID: "client",
      credential: .federated(.managedIdentity(identity), audience: "api://AzureADTokenExchange"), fetch: fetch)
    let broker = TokenBroker(at: clock)
    for (scope, later) in [("a", 0), ("b", 3540), ("c", 1)] as [(String, Int64)] {
      clock.advance(later)
      _ = try await broker.bearer(for: application.wish(scope))
    }
    let forms = await provider.forms
    #expect(forms.map { $0.split(separator: "=").last } == ["proof-1", "proof-1", "proof-2"])
    #expect(forms.allSatisfy { $0.contains("client_id=client&") && $0.contains("client-assertion-type%3Ajwt-bearer") })
    let queries = await service.requests.map(\.url.target)
    #expect(
      queries
        == [String](
          repeating: "/token?x=1&api-version=2018-02-01&resource=api%3A%2F%2FAzureADTokenExchange&client_id=i", count: 2
        ))
  }

  @Test func `without the machine's token the provider is not asked`() async throws {
    let provider = ScriptedProvider()
    let fetch: Fetch = { request throws(FetchError) in
      if request.destination == .machine { throw .timedOut(host: "169.254.169.254") }
      return try await provider.fetch(request)
    }
    let application = Application(
      name: "federated", authority: try Authority(ScriptedProvider.issuer), clientID: "client",
      credential: .federated(
        .managedIdentity(try ManagedIdentity(.clientID("i"), at: Self.host(.imds))), audience: "a"), fetch: fetch)
    let broker = TokenBroker(at: ManualClock())
    let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: application.wish("a")) }
    #expect(
      error?.detail
        == "the managed identity service (imds) gave no token that proves the application: 169.254.169.254 did not "
        + "answer in time")
    #expect(await provider.forms.isEmpty)
  }

  @Test func `a service that hands out the same token again is left alone, and an API's refusal is passed on`()
    async throws
  {
    let clock = ManualClock()
    let service = Service([Self.token("t-1")])
    let broker = TokenBroker(at: clock)
    let subscription = try subscription(service, .imds)
    let first = try await broker.bearer(for: subscription)
    clock.advance(3400)
    let second = try await broker.renewedBearer(for: subscription)
    #expect(second.token == first.token && second.lifetime.refreshAt == clock.now + 100)
    for rejection in [TokenRejection.invalidToken, .claims(try Claims(json: #"{"a":1}"#))] {
      #expect(try await broker.bearer(answering: rejection, about: second, for: subscription) == nil)
    }
    #expect(await service.requests.count == 4)
  }

  @Test func `Service Fabric is told what the application can handle, and which token was refused`() async throws {
    let service = Service([Self.token("t-1"), Self.token("t-2")])
    let broker = TokenBroker(at: ManualClock())
    let application = Application(
      name: "machine", authority: .managedIdentity(.serviceFabric), clientID: "system-assigned",
      credential: .managedIdentity(try ManagedIdentity(.systemAssigned, at: Self.host(.serviceFabric))),
      capabilities: ["cp1", "cp2"], fetch: service.fetch)
    let subscription = try application.wish("r/.default")
    let first = try await broker.bearer(for: subscription)
    let next = try await broker.bearer(
      answering: .claims(try Claims(json: #"{"a":1}"#)), about: first, for: subscription)
    #expect(next?.token == Secret("t-2"))
    let queries = await service.requests.map(\.url.target)
    let base = "/token?x=1&api-version=2019-07-01-preview&resource=r&xms_cc=cp1%2Ccp2"
    // The digest of "t-1".
    let digest = try SHA256.digest(of: Array("t-1".utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(queries == [base, "\(base)&token_sha256_to_refresh=\(digest)"])
  }

  private func arcClient(
    _ service: Service, _ id: ManagedIdentityID, in directory: TemporaryDirectory
  ) throws -> ManagedIdentityClient {
    ManagedIdentityClient(
      identity: try ManagedIdentity(id, at: Self.host(.arc)), fetch: service.fetch, now: { ManualClock.start },
      sleep: { _ in }, arcDirectory: directory.path)
  }

  private func challenge(_ path: String) -> FetchResponse {
    FetchResponse(status: 401, fields: [("www-authenticate", "Basic realm=\(path)")])
  }

  @Test func `Arc is shown what the file holds that it names`() async throws {
    let directory = try TemporaryDirectory()
    let key = try directory.write("key-of-the-agent\n", to: "a.key")
    let service = Service([challenge(key), Self.token("t-1", #", "client_id": "C""#)])
    let reply = try await arcClient(service, .clientID("c"), in: directory).token(for: "r")
    #expect(reply.accessToken == Secret("t-1"))
    let fields = await service.requests.map { $0.fields.first { $0.name == "authorization" }?.value }
    #expect(fields == [nil, "Basic key-of-the-agent"])
  }

  @Test func `Arc is refused if it names another file or another identity`() async throws {
    let directory = try TemporaryDirectory()
    let key = try directory.write("key", to: "a.key")
    try directory.write(String(repeating: "k", count: 4097), to: "large.key")
    let cases: [([FetchResponse], ManagedIdentityError)] = [
      ([challenge("/etc/shadow.key")], .arcChallenge), ([FetchResponse(status: 401)], .arcChallenge),
      ([challenge(key), Self.token("t")], .notConfirmed),
      ([challenge(key), Self.token("t", #", "client_id": "another""#)], .notConfirmed),
      (
        [challenge(directory.file("large.key"))],
        .arcKey(path: directory.file("large.key"), .tooLarge(limit: ArcChallenge.limit))
      ),
    ]
    for (answers, expected) in cases {
      let service = Service(answers)
      let client = try arcClient(service, .clientID("c"), in: directory)
      await #expect(throws: AcquisitionError(.managedIdentity(expected))) { try await client.token(for: "r") }
    }
  }
}
