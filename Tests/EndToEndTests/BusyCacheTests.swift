// Another program writes the cache's file while the proxy serves: msal-extensions empties the file under its lock, and
// writes it then.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct BusyCacheTests {
  private struct Called: Decodable {
    var statuses: [String: [String: Int]]
    var output: String
    var status: Int32
  }

  private static let lockSuffix = ".lockfile"

  private let scene: DeskScene
  private let proxy: ProxyUnderTest

  /// Alice is signed in. Bob is not: each request on his route looks into the file.
  init() async throws {
    scene = try await DeskScene()
    proxy = try await scene.proxy(
      routes: """
          - {name: bob, path: /bob/, upstream: "http://127.0.0.1:\(scene.nginx.port)/echo/", application: desk,
             token: {account: bob@contoso.example, scopes: ["api://orders/Orders.Read"]}}
        """)
    try await scene.signIn(proxy)
  }

  /// Takes msal-extensions' lock and empties the file.
  private func beginWriting() throws {
    try Data("\(getpid()) az".utf8).write(to: URL(filePath: scene.cache + Self.lockSuffix))
    close(open(scene.cache, O_WRONLY | O_TRUNC))
  }

  @Test(arguments: ["--plain", nil])
  func `msal-extensions writes 10,000 times beside 64 callers, and no account is signed out`(flavour: String?)
    async throws
  {
    let arguments = ["\(proxy.port)", "64", "/orders/all,/bob/all", try pinnedPython()]
    let writer = [testsDirectory + "/peers/cache_peer.py"] + (flavour.map { [$0] } ?? [])
    let count = flavour == nil ? 1_000 : 10_000
    let called = try JSONDecoder().decode(
      Called.self,
      from: Data(
        try await succeed(
          peer("busy_callers.py") + arguments + writer + ["rewrite", scene.cache, "writer", "\(count)"],
          within: .seconds(240)
        ).utf8))
    #expect(called.status == 0 && called.output.contains("written \(count)"), "\(called.output)")
    #expect(called.statuses["/orders/all"]?.keys.map(\.self) == ["200"], "\(called.statuses)")
    // He is not signed in. On a machine that is too busy to see the file whole, that is not known.
    #expect(Set(called.statuses["/bob/all", default: [:]].keys).isSubset(of: ["401", "503"]), "\(called.statuses)")
    #expect(textOfFile(scene.cache).contains("writer@contoso.example"))
    #expect(textOfFile(scene.cache).contains("alice@contoso.example"))
  }

  @Test func `while a program holds the lock of an emptied file, held tokens serve and the rest waits for it`()
    async throws
  {
    let whole = textOfFile(scene.cache)
    try beginWriting()
    // The request that looks into the file is there before it is whole again, and others are served meanwhile.
    async let waiting = proxy.get("/bob/waiting")
    let began = ContinuousClock.now
    repeat { #expect(try await proxy.get("/orders/held").status == 200) } while .now - began < .seconds(3)
    try Data(whole.utf8).write(to: URL(filePath: scene.cache + ".new"))
    #expect(rename(scene.cache + ".new", scene.cache) == 0)
    unlink(scene.cache + Self.lockSuffix)
    #expect(try await waiting.status == 401)
    #expect(try await proxy.get("/orders/held").status == 200)
    #expect(try await metricSum(proxy, "bearer_proxy_cache_lock_wait_seconds_count", "read") >= 1)
    #expect(proxy.process.errors.contains("another program took long to write the token cache"))
    #expect(!proxy.process.errors.contains("has emptied the token cache"))
  }

  @Test func `for a person who signs in with another program, a request waits until that has written`() async throws {
    let whole = textOfFile(scene.cache)
    try Data("{}".utf8).write(to: URL(filePath: scene.cache + ".new"))
    #expect(rename(scene.cache + ".new", scene.cache) == 0)
    #expect(try await eventually { try await proxy.get("/orders/none").status == 401 })
    #expect(try await eventually { proxy.process.errors.contains("another program has emptied the token cache") })
    try beginWriting()
    async let waiting = proxy.get("/orders/waiting")
    try Data(whole.utf8).write(to: URL(filePath: scene.cache))
    unlink(scene.cache + Self.lockSuffix)
    #expect(try await waiting.status == 200)
  }

  @Test func `a writer that keeps the lock causes no 401, and its end is noticed`() async throws {
    try beginWriting()
    let answer = try await proxy.get("/bob/waiting")
    #expect(answer.status == 503 && answer.body.contains("token-cache-unavailable"), "\(answer.body)")
    #expect(answer.retryAfter > 0)
    #expect(try await proxy.get("/orders/held").status == 200)
    #expect(try await metricSum(proxy, "bearer_proxy_cache_failures_total", "locked") >= 1)
    #expect(proxy.process.errors.contains("held by process \(getpid()) (az)"))
    // Commands report it as well, instead of an empty list.
    let accounts = try await proxy.command(["accounts"])
    #expect(accounts.status == 1 && accounts.errors.contains("the token cache cannot be read"), "\(accounts)")
    // Its end leaves an empty file, which is what MSAL calls an empty cache.
    unlink(scene.cache + Self.lockSuffix)
    #expect(try await eventually { try await proxy.get("/orders/emptied").status == 401 })
    #expect(proxy.process.errors.contains("another program has emptied the token cache"))
  }

  @Test func `a killed writer's incomplete file is written again, and no account is signed out`() async throws {
    let victim = try ChildProcess("victim", ["sleep", "600"], in: scene.directory)
    try Data("\(victim.identifier) az".utf8).write(to: URL(filePath: scene.cache + Self.lockSuffix))
    try Data(textOfFile(scene.cache).utf8.prefix(40)).write(to: URL(filePath: scene.cache))
    victim.send(SIGKILL)
    _ = try await victim.wait()
    // A lock is not believed to be left by a process that has ended before it is ten seconds old.
    let then = timespec(tv_sec: time(nil) - 60, tv_nsec: 0)
    utimensat(AT_FDCWD, scene.cache + Self.lockSuffix, [then, then], 0)
    var statuses: Set<Int> = []
    #expect(
      try await eventually {
        statuses.insert(try await proxy.get("/orders/held").status)
        return textOfFile(scene.cache).contains("alice@contoso.example")
      })
    #expect(statuses == [200])
    #expect(try await eventually { proxy.process.errors.contains("token cache can be used again") })
    #expect(proxy.process.errors.contains("a program ended while it wrote the file"))
  }
}
