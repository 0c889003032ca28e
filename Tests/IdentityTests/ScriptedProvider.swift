// A provider that answers by a script and remembers what it was asked. It has no network and no clock.

import Bytes
import HTTP
import HTTPClient
import Platform
import Synchronization
import Telemetry
import Testing
import TestSupport
import Tokens

@testable import Identity

/// Answers metadata requests with a sound document and token requests with `token-1`, `token-2` … unless scripted
/// otherwise.
actor ScriptedProvider {
  enum Answer: Sendable {
    case response(FetchResponse)
    case failure(FetchError)

    static func json(_ status: Int, _ text: String, retryAfter: String? = nil) -> Answer {
      let fields = retryAfter.map { [(name: "retry-after", value: $0)] } ?? []
      return .response(FetchResponse(status: status, fields: fields, body: Array(text.utf8)))
    }
  }

  static let issuer = "https://id.example/realms/demo"
  static let metadata = metadata(methods: #"["client_secret_post"]"#)

  /// Metadata that list these ways to authenticate; nil lists none.
  static func metadata(methods: String?) -> String {
    let member = methods.map { #", "token_endpoint_auth_methods_supported": \#($0)"# } ?? ""
    return #"{"issuer": "\#(issuer)", "token_endpoint": "https://id.example/token"\#(member)}"#
  }

  private(set) var metadataRequests = 0
  private(set) var forms: [String] = []
  /// The `Authorization` field of each token request; empty if there was none.
  private(set) var authorizations: [String] = []
  /// The time limit of the answer to each form, if it is longer than usual.
  private(set) var answerLimits: [TimeSpan?] = []
  private let arrivals = Tally()
  private var metadataScript: [Answer] = []
  private var tokenScript: [Answer] = []
  private var issued = 0
  private let lifetime: Int64
  private let metadata: String
  private let endpoint: String
  private var isHolding = false
  private var held: [CheckedContinuation<Void, Never>] = []

  init(
    lifetime: Int64 = 3600, metadata: String = ScriptedProvider.metadata, endpoint: String = "https://id.example/token"
  ) {
    self.lifetime = lifetime
    self.metadata = metadata
    self.endpoint = endpoint
  }

  /// Sets the answers to the next metadata and token requests.
  func script(metadata: [Answer] = [], tokens: [Answer] = []) {
    metadataScript += metadata
    tokenScript += tokens
  }

  /// Lets token requests arrive, but answers none until `release`.
  func hold() {
    isHolding = true
  }

  /// Waits until so many token requests have arrived.
  nonisolated func arrival(of count: Int = 1) async { await arrivals.wait(for: count) }

  /// Answers every held request.
  func release() {
    isHolding = false
    for continuation in held { continuation.resume() }
    held = []
  }

  nonisolated var fetch: Fetch {
    { request throws(FetchError) in
      switch await self.answer(request) {
      case .response(let response): return response
      case .failure(let error): throw error
      }
    }
  }

  private func answer(_ request: FetchRequest) async -> Answer {
    switch request.method {
    case .get:
      metadataRequests += 1
      return metadataScript.isEmpty ? .json(200, metadata) : metadataScript.removeFirst()
    case .post(let contentType, let body):
      #expect(contentType == "application/x-www-form-urlencoded")
      #expect(request.url.description == endpoint)
      forms.append(String(decoding: body, as: UTF8.self))
      authorizations.append(request.fields.first { $0.name == "authorization" }?.value ?? "")
      answerLimits.append(request.answerLimit)
      arrivals.signal()
      let scripted = tokenScript.isEmpty ? nil : tokenScript.removeFirst()
      if isHolding { await withCheckedContinuation { held.append($0) } }
      if let scripted { return scripted }
      issued += 1
      return .json(200, #"{"access_token": "token-\#(issued)", "token_type": "Bearer", "expires_in": \#(lifetime)}"#)
    }
  }
}

extension ScriptedProvider {
  /// An application that is registered here.
  nonisolated func application(
    _ credential: CredentialSource? = .secret(Secret("s3cret")), at authority: String = issuer, name: String = "demo",
    clientID: String = "client", version: UInt64 = 0, capabilities: [String] = []
  ) throws -> Application {
    Application(
      name: name, authority: try Authority(authority), clientID: clientID, credential: credential,
      credentialVersion: CredentialVersion(version), capabilities: capabilities, fetch: fetch)
  }
}

extension Application {
  /// A wish for a token of the application's own.
  func wish(_ scopes: String...) throws -> TokenSubscription {
    TokenSubscription(application: self, scopes: try ScopeSet(scopes))
  }
}

extension TokenBroker {
  /// A broker at a time that tests choose, which waits for nothing between its requests.
  init(at clock: ManualClock, jitter: Double = 0, store: CacheStore = .memory()) {
    self.init(Surroundings(now: { clock.now }, jitter: { jitter }, sleep: { _ in }), store: store)
  }
}

/// A clock that tests move.
final class ManualClock: Sendable {
  private let seconds = Atomic<Int64>(1_700_000_000)
  static let start = UnixTime(1_700_000_000)

  var now: UnixTime { UnixTime(seconds.load(ordering: .relaxed)) }

  func advance(_ by: Int64) {
    seconds.add(by, ordering: .relaxed)
  }
}

/// A broker and the events that it tells, with the ways to ask it.
protocol BrokerBench {
  var broker: TokenBroker { get }
  var events: AsyncStream<TokenEvent> { get }
}

extension BrokerBench {
  /// A caller's result.
  func result(_ subscription: TokenSubscription) async -> Result<String, AcquisitionError> {
    do throws(AcquisitionError) {
      return .success(try await broker.bearer(for: subscription).revealedToken())
    } catch {
      return .failure(error.told)
    }
  }

  func token(_ subscription: TokenSubscription) async throws -> String {
    try await broker.bearer(for: subscription).revealedToken()
  }

  /// The token for a caller whose API has refused another.
  func token(
    answering rejection: TokenRejection, about refused: BearerValue, for subscription: TokenSubscription
  ) async throws -> String? {
    try await broker.bearer(answering: rejection, about: refused, for: subscription)?.revealedToken()
  }

  func failure(_ subscription: TokenSubscription) async -> AcquisitionError? {
    guard case .failure(let error) = await result(subscription) else { return nil }
    return error
  }

  /// The next event; background acquisitions are over when it is there.
  func nextEvent() async throws -> TokenEvent {
    var iterator = events.makeAsyncIterator()
    return try #require(await iterator.next())
  }
}

/// A broker, its provider, its clock, and what it said.
struct Bench: BrokerBench {
  let clock = ManualClock()
  let provider: ScriptedProvider
  let broker: TokenBroker
  let events: AsyncStream<TokenEvent>
  let published = Published()
  let naps = Naps()
  /// The request ids that acquisitions were told with; `-` for those that no request waited for.
  let scopes = Locked<[String]>([])

  init(lifetime: Int64 = 3600, metadata: String = ScriptedProvider.metadata) {
    provider = ScriptedProvider(lifetime: lifetime, metadata: metadata)
    let (events, continuation) = AsyncStream<TokenEvent>.makeStream()
    self.events = events
    broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { [clock] in clock.now }, jitter: { 0 }, sleep: { [naps] in await naps.rest($0) },
        patience: TokenBroker.endlessPatience,
        observe: { [scopes] event in
          scopes.withLock { $0.append(RequestScope.current?.request.requestID ?? "-") }
          continuation.yield(event)
        }, publish: { [published] in published.take($0, $1) }))
  }

  func subscription(
    scopes: String = "orders.read", secret: String = "s3cret", version: UInt64 = 0, capabilities: [String] = []
  ) throws -> TokenSubscription {
    try provider.application(.secret(Secret(secret)), version: version, capabilities: capabilities).wish(scopes)
  }

}

/// The published tokens.
final class Published: Sendable {
  private let values = Locked<[BearerValue?]>([])
  /// Signalled with each.
  let changes = Tally()

  /// The tokens in order; `-` if the one before was taken back.
  var tokens: [String] { values.withLock { $0.map { $0?.revealedToken() ?? "-" } } }

  func take(_ key: AcquisitionKey, _ value: BearerValue?) {
    values.withLock { $0.append(value) }
    changes.signal()
  }
}

/// Waits that tests see and end.
actor Naps {
  private(set) var lengths: [Int64] = []
  private var isAutomatic = true
  private var sleeper: CheckedContinuation<Void, Never>?
  private var watcher: CheckedContinuation<Int64, Never>?

  /// From now on every wait lasts until `wake`.
  func takeOver() {
    isAutomatic = false
  }

  func rest(_ seconds: Int64) async {
    lengths.append(seconds)
    if isAutomatic { return }
    await withCheckedContinuation {
      sleeper = $0
      watcher?.resume(returning: seconds)
      watcher = nil
    }
  }

  /// The wait that is going on, or the next one.
  func current() async -> Int64 {
    if sleeper != nil, let last = lengths.last { return last }
    return await withCheckedContinuation { watcher = $0 }
  }

  func wake() {
    sleeper?.resume()
    sleeper = nil
  }
}
