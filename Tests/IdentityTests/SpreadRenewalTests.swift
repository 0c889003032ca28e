// Tokens that many proxies obtain at one time, and their next renewals.

import Bytes
import Platform
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct SpreadRenewalTests {
  /// Seconds from a token's arrival to its renewal.
  private func renewal(_ value: BearerValue) -> Int64 { value.lifetime.refreshAt - value.lifetime.obtainedAt }

  @Test func `the renewals of a first token and of the first after a failure are spread, and no others`() async throws {
    let bench = Bench()
    let broker = TokenBroker(at: bench.clock, jitter: 1)
    let subscription = try bench.subscription()
    #expect(renewal(try await broker.bearer(for: subscription)) == 825)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 3000)
    await bench.provider.script(tokens: [.json(429, "{}", retryAfter: "7")])
    await #expect(throws: AcquisitionError.self) { try await broker.renewedBearer(for: subscription) }
    bench.clock.advance(60)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 825)
    bench.clock.advance(60)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 3000)
  }

  @Test(arguments: [true, false])
  func `the renewal of a first token is stored with it, if proxies alone share the cache`(isProxiesOwn: Bool)
    async throws
  {
    let bench = Bench()
    let store = await CacheStore.open(PlainBackend(isProxiesOwn: isProxiesOwn)) { _ in }
    let broker = TokenBroker(at: bench.clock, jitter: 1, store: store)
    let renewals = { await store.snapshot()[.accessToken].values.map { $0["refresh_on"] } }
    _ = try await broker.bearer(for: try bench.subscription())
    #expect(await renewals() == [isProxiesOwn ? "\((bench.clock.now + 825).seconds)" : nil])
    bench.clock.advance(1000)
    _ = try await broker.renewedBearer(for: try bench.subscription())
    #expect(await renewals() == [nil])
  }

  @Test func `an application that is told to wait sends nothing for its other tokens, and then one request at a time`()
    async throws
  {
    let bench = Bench()
    let subscriptions = try ["a", "b", "c"].map { try bench.subscription(scopes: $0) }
    await bench.provider.script(tokens: [.json(429, "{}", retryAfter: "60")])
    for subscription in subscriptions {
      await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: subscription) }
    }
    #expect(await bench.provider.forms.count == 1)
    bench.clock.advance(60)
    await bench.provider.script(tokens: [.json(429, "{}", retryAfter: "60")])
    for subscription in subscriptions {
      await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: subscription) }
    }
    #expect(await bench.provider.forms.count == 2)
    // Refused twice without a token: it keeps the pace of the second refusal.
    for (index, subscription) in subscriptions.enumerated() {
      bench.clock.advance(60)
      _ = try await bench.broker.bearer(for: subscription)
      for waiting in subscriptions[(index + 1)...] {
        await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: waiting) }
      }
      #expect(await bench.provider.forms.count == 3 + index)
    }
  }
}

/// A place that keeps what is written, unless it has a fault.
final class PlainBackend: CacheBackend {
  let isProxiesOwn: Bool
  let fault: CacheStoreError?
  let retryPause = Duration.seconds(600)
  let isPaused = false
  private let document = Locked(CacheDocument())

  init(isProxiesOwn: Bool = false, fault: CacheStoreError? = nil) {
    self.isProxiesOwn = isProxiesOwn
    self.fault = fault
  }

  func watch(_ look: @escaping @Sendable () async -> Bool) {}
  func read(mayForget: Bool) async throws(CacheStoreError) -> CacheDocument? { document.withLock { $0 } }
  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement? {
    if let fault { throw fault }
    return document.withLock { document in
      change(&document)
      return (document, 1)
    }
  }
  func lock() async throws(CacheStoreError) -> CacheLease? {
    if let fault { throw fault }
    return nil
  }
  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? { nil }
  func text(_ name: SharedTextName) -> any SharedText { PlainText() }

  private struct PlainText: SharedText {
    func read() async -> [UInt8]? { [] }
    func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool { false }
  }
}
