// An application whose proof a command prints: one run for all who need it, kept until a minute before its end, run
// again when the provider refuses it, and the error if it prints none.

import Bytes
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(3))) struct AssertionCommandTests {
  /// A provider that remembers the proofs and refuses those that it is told to.
  private actor Provider {
    private(set) var proofs: [String] = []
    private var refusals: [Int]

    init(refusing refusals: [Int]) { self.refusals = refusals }

    func answer(_ request: FetchRequest) -> FetchResponse {
      guard case .post(_, let body) = request.method else {
        let text = #"{"issuer": "https://id.example", "token_endpoint": "https://id.example/token"}"#
        return FetchResponse(status: 200, body: Array(text.utf8))
      }
      let form = String(decoding: body, as: UTF8.self)
      proofs.append(form.split(separator: "=").last.map(String.init) ?? "")
      if refusals.contains(proofs.count) {
        return FetchResponse(status: 401, body: Array(#"{"error": "invalid_client"}"#.utf8))
      }
      return FetchResponse(
        status: 200, body: Array(#"{"access_token": "t-\#(proofs.count)", "expires_in": 3600}"#.utf8))
    }
  }

  private final class Clock: Sendable {
    private let time = Locked(UnixTime(1_700_000_000))
    var now: UnixTime { time.withLock { $0 } }
    func advance(_ seconds: Int64) { time.withLock { $0 = $0 + seconds } }
  }

  private let directory: TemporaryDirectory
  private let clock = Clock()
  private let provider: Provider
  private let broker: TokenBroker

  init() throws {
    directory = try TemporaryDirectory()
    provider = Provider(refusing: [2])
    broker = TokenBroker(
      TokenBroker.Surroundings(now: { [clock] in clock.now }, jitter: { 0 }, sleep: { _ in }))
  }

  private func subscription(
    _ script: String = "", words: [String]? = nil, scope: String = "a", secrets: [Secret] = [],
    within limit: TimeSpan = .seconds(60),
    authentication: ClientAuthenticationMemory = ClientAuthenticationMemory()
  ) throws -> TokenSubscription {
    let command = AssertionCommand(words ?? ["/bin/sh", "-c", script], secrets: secrets, within: limit)
    let provider = provider
    var application = Application(
      name: "hsm", authority: try Authority("https://id.example"), clientID: "client",
      credential: .assertionCommand(command, .jwtBearer)
    ) { request throws(FetchError) in await provider.answer(request) }
    application.authentication = authentication
    return TokenSubscription(application: application, scopes: try ScopeSet([scope]))
  }

  /// A command that counts its runs in a file and prints that run's JWT.
  private func counting(_ count: Int, lifetime: Int64 = 3600) throws -> (script: String, tokens: [String]) {
    let issuer = try FederatedIssuer()
    let tokens = try (1...count).map {
      try issuer.token(subject: "run-\($0)", lifetime: lifetime, now: clock.now)
    }
    for (index, token) in tokens.enumerated() { try directory.write(token + "\n", to: "token-\(index + 1)") }
    return (
      "echo >> '\(directory.path)/runs'; cat '\(directory.path)'/token-$(wc -l < '\(directory.path)/runs')", tokens
    )
  }

  @Test func `a command runs once for all who need its JWT, and again if the provider refuses it`() async throws {
    let (script, tokens) = try counting(2)
    let memory = ClientAuthenticationMemory()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for scope in ["a", "b", "c"] {
        let wanted = try subscription(script, scope: scope, authentication: memory)
        group.addTask { [broker] in _ = try? await broker.bearer(for: wanted) }
      }
      try await group.waitForAll()
    }
    // The second of them is refused by this provider, so it has a JWT of another run.
    #expect(await provider.proofs.count == 4)
    #expect(Set(await provider.proofs) == Set(tokens))
    #expect(textOfFile("\(directory.path)/runs") == "\n\n")
  }

  @Test func `a JWT is kept until a minute before its end`() async throws {
    let (script, tokens) = try counting(3)
    let memory = ClientAuthenticationMemory()
    // The second request, which this provider refuses, comes after the first JWT's end: it is not asked again at once.
    for (scope, later) in [("a", 3541), ("b", 0)] as [(String, Int64)] {
      _ = try? await broker.bearer(for: try subscription(script, scope: scope, authentication: memory))
      clock.advance(later)
    }
    _ = try await broker.bearer(for: try subscription(script, scope: "c", authentication: memory))
    #expect(await provider.proofs == tokens)
  }

  @Test func `a JWT that is refused after it served is made anew at once, for it may be good for one request`()
    async throws
  {
    let (script, tokens) = try counting(2)
    let memory = ClientAuthenticationMemory()
    for scope in ["a", "b"] {
      _ = try await broker.bearer(for: try subscription(script, scope: scope, authentication: memory))
    }
    #expect(await provider.proofs == [tokens[0], tokens[0], tokens[1]])
  }

  @Test func `a command is told for whom its JWT is, and prints it as it likes`() async throws {
    let (_, tokens) = try counting(1)
    let script = """
      test "$BEARER_PROXY_CLIENT_ID $BEARER_PROXY_TOKEN_ENDPOINT $BEARER_PROXY_ISSUER" \
      = "client https://id.example/token https://id.example" && echo && cat '\(directory.path)/token-1' && echo
      """
    #expect(try await broker.bearer(for: try subscription(script)).token == Secret("t-1"))
    #expect(await provider.proofs == tokens)
  }

  /// A script, and what is told behind the command's name.
  static let failures: [(String, String)] = [
    ("exit 3", "it ended with status 3 and no error that can be shown"),
    ("echo; echo ' no key\u{1B}[1m' >&2; echo two >&2; exit 3", "it ended with status 3:  no key [1m"),
    ("echo PIN 1234 is wrong >&2; exit 1", "it ended with status 1 and no error that can be shown"),
    ("echo sent eyJhbGciOiJ >&2; exit 1", "it ended with status 1 and no error that can be shown"),
    ("echo stop >&2; kill -9 $$", "it was ended by signal 9: stop"),
    ("true", "it printed no signed JWT, and nothing of it was sent"),
    ("echo hunter2-of-mine", "it printed no signed JWT, and nothing of it was sent"),
    ("head -c 70000 /dev/zero", "it printed more than 65536 bytes and was killed"),
  ]

  @Test(arguments: failures)
  func `a command that prints no JWT is told with its status and the first line of its errors`(
    script: String, words: String
  ) async throws {
    let wanted = try subscription(script, secrets: [Secret("1234")])
    let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: wanted) }
    #expect(error?.detail == "the command /bin/sh gave no token that proves the application: \(words)")
    #expect(error?.reason == "identity-provider-unavailable" && error?.retryAfter == 1)
    #expect(await provider.proofs.isEmpty)
  }

  @Test func `a command that takes too long, or is not there, is told so`() async throws {
    let slow = try subscription("sleep 1000", within: .seconds(1))
    var error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: slow) }
    #expect(error?.detail.hasSuffix(": it took longer than 1 s and was killed") == true)
    let gone = try subscription(words: ["/nowhere/signer"], scope: "b")
    error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: gone) }
    #expect(
      error?.detail
        == "the command /nowhere/signer gave no token that proves the application: it cannot be started: "
        + "No such file or directory")
  }

  @Test func `a JWT that a command prints after its end is not sent`() async throws {
    let (script, _) = try counting(1, lifetime: -1)
    let error = await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: try subscription(script)) }
    #expect(error?.detail.contains("had expired at 2023-11-14T22:13:19Z") == true, "\(String(describing: error))")
    #expect(await provider.proofs.isEmpty)
  }
}
