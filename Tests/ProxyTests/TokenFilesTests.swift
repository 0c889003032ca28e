// Token files when writing fails, and when others remove or change them.

import Bytes
import FoundationEssentials
import HTTPClient
import Identity
import Platform
import TestSupport
import Testing
import Tokens

@testable import Proxy

@Suite(.timeLimit(.minutes(2))) struct TokenFilesTests {
  /// A wait of the code under test, which a test ends.
  private typealias Nap = AsyncStream<Never>.Continuation

  /// One token file, a clock that a test moves, and tokens that it makes. After each step that it took, the code under
  /// test waits.
  private final class Bench {
    let directory: TemporaryDirectory
    let files: TokenFiles
    private let proxy: ProxyFixture
    private let subscription: TokenSubscription
    private let seconds = Locked<Int64>(1_700_000_000)
    private var naps: AsyncStream<Nap>.Iterator
    private var last: Nap?

    init() throws {
      directory = try TemporaryDirectory()
      proxy = try ProxyFixture(upstream: 9)
      let application = Application(
        name: "demo", authority: try Authority("https://id.example"), clientID: "client",
        credential: .secret(Secret("s3cret")),
        fetch: { _ throws(FetchError) in throw .timedOut(host: "id.example") })
      subscription = TokenSubscription(application: application, scopes: try ScopeSet(["a"]))
      let (begun, tell) = AsyncStream.makeStream(of: Nap.self)
      naps = begun.makeAsyncIterator()
      files = TokenFiles(
        broker: TokenBroker(TokenBroker.Surroundings(now: { UnixTime(0) })), log: proxy.service.process.log,
        now: { [seconds] in UnixTime(seconds.withLock { $0 }) },
        sleep: { _ in
          let (nap, end) = AsyncStream.makeStream(of: Never.self)
          tell.yield(end)
          for await _ in nap {}
        })
    }

    var path: String { directory.file("token") }
    var text: String { directory.read("token") }
    var status: TokenFileStatus? { get async { await files.status(ofRoute: 0) } }

    func follow() async {
      await files.follow([(TokenFile(row: 0, path: path, leastLife: 30), subscription)], of: proxy.service)
    }

    /// Lets seconds pass.
    func advance(_ count: Int64) { seconds.withLock { $0 += count } }

    /// Publishes a token of an hour; returns its expiry.
    @discardableResult
    func publish(_ token: String) -> UnixTime {
      let now = UnixTime(seconds.withLock { $0 })
      files.publish(
        BearerValue(
          Secret(token), lifetime: TokenLifetime(obtainedAt: now, refreshAt: now + 1800, expiresAt: now + 3600),
          scopes: .none), for: subscription.key)
      return now + 3600
    }

    /// Makes writes fail.
    func obstruct() throws {
      try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
    }

    func unblock() throws { try FileManager.default.removeItem(atPath: obstacle) }

    private var obstacle: String { directory.file(".token.bearer-proxy") }

    /// Waits for steps until a condition holds.
    /// - Parameter looks: true if the time between looks passes meanwhile.
    func wait(looks: Bool = false, _ condition: () async -> Bool) async {
      while true {
        if looks { last?.finish() }
        if await condition() { return }
        last = await naps.next(isolation: #isolation)
      }
    }
  }

  @Test func `a failed write leaves the token of before until its end, and is tried again`() async throws {
    let bench = try Bench()
    await bench.follow()
    let end = bench.publish("one")
    await bench.wait { bench.text == "one" }
    try bench.obstruct()
    bench.advance(1800)
    let later = bench.publish("two")
    await bench.wait { await bench.status?.reason != nil }
    #expect(bench.text == "one")
    #expect(await bench.status?.expiresAt == end)
    bench.advance(1770)
    await bench.wait(looks: true) { bench.text.isEmpty }
    await bench.wait { await bench.status?.expiresAt == nil }
    #expect(await bench.status?.reason != nil)
    try bench.unblock()
    bench.advance(30)
    await bench.wait(looks: true) { bench.text == "two" }
    await bench.wait { await bench.status?.reason == nil }
    #expect(await bench.status?.expiresAt == later)
    await bench.files.end()
    #expect(bench.text.isEmpty)
  }

  @Test func `a file that others removed or changed is written again`() async throws {
    let bench = try Bench()
    await bench.follow()
    bench.publish("one")
    await bench.wait { bench.text == "one" }
    try FileManager.default.removeItem(atPath: bench.path)
    await bench.wait(looks: true) { bench.text == "one" }
    try bench.directory.write("others", to: "token")
    await bench.wait(looks: true) { bench.text == "one" }
    await bench.files.end()
    #expect(bench.text.isEmpty)
  }

  @Test func `a reload writes a missing file at once, and tries a failed write again`() async throws {
    let bench = try Bench()
    await bench.follow()
    bench.publish("one")
    await bench.wait { bench.text == "one" }
    try FileManager.default.removeItem(atPath: bench.path)
    await bench.follow()
    await bench.wait { bench.text == "one" }
    try bench.obstruct()
    bench.publish("two")
    await bench.wait { await bench.status?.reason != nil }
    try bench.unblock()
    #expect(bench.text == "one")
    await bench.follow()
    await bench.wait { bench.text == "two" }
    await bench.files.end()
  }
}
