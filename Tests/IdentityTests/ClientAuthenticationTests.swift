// The place of the client secret: by the metadata, after a refusal, by an operator's choice.

import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(1))) struct ClientAuthenticationTests {
  private static let basic = "Basic Y2xpZW50OnMzY3JldA=="
  private static let refusal = ScriptedProvider.Answer.json(401, #"{"error": "invalid_client"}"#)

  private static func subscription(
    _ bench: Bench, _ scopes: String = "a", secret: String = "s3cret", memory: ClientAuthenticationMemory,
    placement: ClientSecretPlacement? = nil
  ) throws -> TokenSubscription {
    var application = try bench.subscription(secret: secret).application
    application.authentication = memory
    application.secretPlacement = placement
    return TokenSubscription(application: application, scopes: try ScopeSet(parameter: scopes))
  }

  /// The place of the secret in each request.
  private static func placements(_ bench: Bench) async -> [ClientSecretPlacement?] {
    zip(await bench.provider.forms, await bench.provider.authorizations).map { form, field in
      switch (form.contains("client_secret="), field.isEmpty) {
      case (true, true): .body
      case (false, false): .basic
      default: nil
      }
    }
  }

  @Test func `if no method is listed, the secret is in the Authorization field`() async throws {
    let bench = Bench(metadata: ScriptedProvider.metadata(methods: nil))
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, memory: ClientAuthenticationMemory()))
    #expect(await bench.provider.authorizations == [Self.basic])
    #expect(await bench.provider.forms == ["grant_type=client_credentials&scope=a"])
  }

  @Test(
    arguments: [
      nil, #"["client_secret_basic", "client_secret_post"]"#, #"["client_secret_post", "client_secret_basic", "none"]"#,
    ] as [String?])
  func `after invalid_client the other placement is tried once, and remembered for every scope set`(
    methods: String?
  ) async throws {
    let (first, second) = (ClientSecretPlacement.basic, ClientSecretPlacement.body)
    let bench = Bench(metadata: ScriptedProvider.metadata(methods: methods))
    let memory = ClientAuthenticationMemory()
    await bench.provider.script(tokens: [Self.refusal])
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, memory: memory))
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, "b", memory: memory))
    #expect(await Self.placements(bench) == [first, second, second])
    // A registration that is changed back is found again.
    await bench.provider.script(tokens: [Self.refusal])
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, "c", memory: memory))
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, "d", memory: memory))
    #expect(await Self.placements(bench) == [first, second, second, second, first, first])
  }

  @Test func `a secret that is wrong in either placement is one refusal, and a pause`() async throws {
    let bench = Bench(metadata: ScriptedProvider.metadata(methods: nil))
    let subscription = try Self.subscription(bench, memory: ClientAuthenticationMemory())
    await bench.provider.script(tokens: [
      Self.refusal, .json(400, #"{"error": "invalid_client", "suberror": "second"}"#),
    ])
    let rejected = AcquisitionError.rejected("invalid_client", retryAfter: 60)
    for _ in 0..<3 {
      #expect(await bench.result(subscription) == .failure(rejected))
    }
    #expect(await Self.placements(bench) == [.basic, .body])
  }

  @Test func `another refusal of the second attempt is told, and says that the application was believed`() async throws
  {
    let bench = Bench(metadata: ScriptedProvider.metadata(methods: nil))
    let memory = ClientAuthenticationMemory()
    await bench.provider.script(tokens: [Self.refusal, .json(400, #"{"error": "invalid_scope"}"#)])
    #expect(
      await bench.result(try Self.subscription(bench, memory: memory))
        == .failure(.rejected("invalid_scope", retryAfter: 60)))
    _ = try await bench.broker.bearer(for: try Self.subscription(bench, "b", memory: memory))
    #expect(await Self.placements(bench) == [.basic, .body, .body])
  }

  @Test(
    arguments: [
      (nil, nil, #"{"error": "invalid_scope"}"#, 400, 1),
      (#"["client_secret_basic"]"#, nil, #"{"error": "invalid_client"}"#, 401, 1),
      (nil, .basic, #"{"error": "invalid_client"}"#, 401, 1), (nil, .body, #"{"error": "invalid_client"}"#, 401, 1),
      // A 401 is about the application, whatever words it has.
      (nil, nil, #"{"error": "access_denied"}"#, 401, 2), (nil, nil, "", 401, 2), (nil, nil, "", 403, 2),
      (nil, nil, #"{"error": "unauthorized_client"}"#, 403, 2), (nil, nil, #"{"error": "invalid_grant"}"#, 403, 1),
      (nil, nil, "<html>", 404, 1), (nil, nil, "{}", 429, 1),
    ] as [(String?, ClientSecretPlacement?, String, Int, Int)])
  func `only a refusal of the application is followed by a second attempt, and never what an operator chose`(
    methods: String?, chosen: ClientSecretPlacement?, answer: String, status: Int, requests: Int
  ) async throws {
    let bench = Bench(metadata: ScriptedProvider.metadata(methods: methods))
    await bench.provider.script(tokens: [.json(status, answer), .json(status, answer)])
    await #expect(throws: AcquisitionError.self) {
      try await bench.broker.bearer(
        for: try Self.subscription(bench, memory: ClientAuthenticationMemory(), placement: chosen))
    }
    let placements = await Self.placements(bench)
    #expect(placements.count == requests)
    if let chosen { #expect(placements == [chosen]) }
  }
}
