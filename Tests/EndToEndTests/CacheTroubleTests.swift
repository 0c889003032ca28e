// The cache's file cannot be written, or is no cache any more: what callers, the operator and the file itself see of
// that.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CacheTroubleTests {
  /// A trouble of the file system, and its end.
  enum Trouble: String, CaseIterable {
    case full, readOnly

    func begin(_ mount: Mount) async throws {
      switch self {
      case .full:
        // Ends when there is no byte left.
        _ = try await run(["dd", "if=/dev/zero", "of=" + mount.file("filler"), "bs=1k"])
      case .readOnly:
        // Not while the proxy holds a file there open to write.
        let isDone = try await eventually { try await run(["mount", "-o", "remount,ro", mount.path]).status == 0 }
        try #require(isDone)
      }
    }

    func end(_ mount: Mount) async throws {
      switch self {
      case .full: unlink(mount.file("filler"))
      case .readOnly: try await succeed(["mount", "-o", "remount,rw", mount.path])
      }
    }
  }

  /// A file system of its own: a few hundred kilobytes of memory.
  struct Mount {
    let directory: TemporaryDirectory
    var path: String { directory.path }
    func file(_ name: String) -> String { directory.file(name) }

    init() async throws {
      directory = try TemporaryDirectory()
      try await succeed(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", directory.path])
    }

    /// Detached at once, also if a process still uses it.
    func remove() async throws { try await succeed(["umount", "-l", path]) }

    /// True if this process may mount at all.
    static let isPossible: Bool = {
      guard getuid() == 0 else { return false }
      do {
        let directory = try TemporaryDirectory()
        guard Glibc.mount("tmpfs", directory.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(directory.path, Int32(MNT_DETACH)) == 0
      } catch {
        return false
      }
    }()
  }

  @Test(
    .enabled(if: Mount.isPossible, "only root may mount the file system that is then full or read-only"),
    arguments: Trouble.allCases)
  func `a file system that is full or read-only loses nothing, and is served from memory meanwhile`(trouble: Trouble)
    async throws
  {
    let mount = try await Mount()
    let scene = try await DeskScene(cache: mount.file("cache.json"))
    try await scene.lifetime(2)
    var proxy = try await scene.proxy()
    try await scene.signIn(proxy)
    try await trouble.begin(mount)
    let written = textOfFile(mount.file("cache.json"))

    // Each renewal needs the refresh token of the one before, which is only in memory.
    try await expectRenewals(3, scene, proxy, trouble: "system")
    #expect(textOfFile(mount.file("cache.json")) == written)
    #expect(try await metricSum(proxy, "bearer_proxy_cache_unwritten_changes") >= 1)

    try await trouble.end(mount)
    #expect(
      try await eventually {
        try await metricSum(proxy, "bearer_proxy_cache_unwritten_changes") == 0
      })
    #expect(try await eventually { proxy.process.errors.contains("token cache can be used again") })
    #expect(textOfFile(mount.file("cache.json")) != written)
    try await proxy.process.stop()
    // All that the next process knows is in the file, and the provider forgives no refresh token but the last.
    proxy = try await scene.proxy()
    #expect(try await eventually { scene.allAreExpired })
    #expect(try await proxy.get("/orders/after").status == 200)
    try await proxy.process.stop()
    try await mount.remove()
  }

  /// Sees so many renewals by requests that are served from memory, and the trouble told.
  private func expectRenewals(
    _ count: Int, _ scene: DeskScene, _ proxy: ProxyUnderTest, trouble: String
  ) async throws {
    let before = try await scene.tokenRequests()
    var statuses: Set<Int> = []
    let isRenewed = try await eventually {
      statuses.insert(try await proxy.get("/orders/meanwhile").status)
      try await Task.sleep(for: .milliseconds(300))
      return try await scene.tokenRequests() >= before + count
    }
    #expect(isRenewed && statuses == [200])
    #expect(try await metricSum(proxy, "bearer_proxy_cache_failures_total", trouble) >= 1)
    let lines = proxy.process.errors.split(separator: "\n").filter { $0.contains("serving from memory") }
    #expect(lines.count == 1, "\(lines)")
  }

  /// A proxy on a full file system, with a refresh token that is only in its memory.
  private func unwritten(_ mount: Mount) async throws -> (scene: DeskScene, proxy: ProxyUnderTest) {
    let scene = try await DeskScene(cache: mount.file("cache.json"))
    try await scene.lifetime(2)
    let proxy = try await scene.proxy(top: "shutdown: {limit: 6s}")
    try await scene.signIn(proxy)
    try await Trouble.full.begin(mount)
    #expect(
      try await eventually {
        _ = try await proxy.get("/orders/meanwhile")
        return try await metricSum(proxy, "bearer_proxy_cache_unwritten_changes") >= 1
      })
    return (scene, proxy)
  }

  @Test(.enabled(if: Mount.isPossible, "only root may mount the file system that is then full"))
  func `tokens that a full disk kept out are written at the end, as soon as there is room`() async throws {
    let mount = try await Mount()
    var (scene, proxy) = try await unwritten(mount)
    proxy.process.send(SIGTERM)
    #expect(try await eventually { proxy.process.errors.contains("draining") })
    try await Trouble.full.end(mount)
    #expect(try await proxy.process.wait() == 0, "\(proxy.process.errors)")
    #expect(proxy.process.errors.contains("token cache can be used again"))
    proxy = try await scene.proxy()
    #expect(try await eventually { scene.allAreExpired })
    // The provider forgives no refresh token but the last.
    #expect(try await proxy.get("/orders/after").status == 200)
    try await mount.remove()
  }

  @Test(.enabled(if: Mount.isPossible, "only root may mount the file system that is then full"))
  func `unwritten tokens at the end give exit status 1 and a cure`() async throws {
    let mount = try await Mount()
    let (scene, proxy) = try await unwritten(mount)
    let began = ContinuousClock.now
    proxy.process.send(SIGTERM)
    #expect(try await proxy.process.wait() == 1)
    #expect(ContinuousClock.now - began >= .seconds(5))
    let lines = proxy.process.errors.split(separator: "\n")
    let last = try #require(lines.last { $0.contains("ended with changes that the token cache lacks") })
    #expect(last.contains("No space left on device") && last.contains("Free space on the file system"), "\(last)")
    let first = try #require(lines.first { $0.contains("serving from memory") })
    #expect(first.contains("Free space on the file system") && !first.contains("owner and mode"), "\(first)")
    withExtendedLifetime(scene) {}
    try await mount.remove()
  }

  @Test(.enabled(if: Mount.isPossible, "only root may mount the file system that is then full"))
  func `access records that a full file system does not take are counted, and told until it takes them again`()
    async throws
  {
    let mount = try await Mount()
    let scene = try await ScriptedScene(top: "log: {access_file: \"\(mount.file("access.log"))\"}")
    let proxy = scene.proxy
    try await Trouble.full.begin(mount)
    for number in 0..<50 { #expect(try await proxy.get("/seen/full/\(number)").status == 200) }
    func records() -> [Substring] {
      textOfFile(mount.file("access.log")).split(separator: "\n").filter { $0.hasSuffix("}") }
    }
    #expect(
      try await eventually {
        try await metricSum(proxy, "bearer_proxy_log_lines_dropped_total", "access") + records().count == 50
      })
    #expect(records().count < 50)
    #expect(proxy.process.errors.contains("access records cannot be written, and are lost"))
    #expect(proxy.process.errors.contains("free space on the file system of log.access_file"))
    #expect(try await proxy.admin("/status").body.contains("records lost, cannot be written: No space left on device"))
    try await Trouble.full.end(mount)
    #expect(
      try await eventually {
        _ = try await proxy.get("/seen/again")
        return records().contains { $0.contains("/again") }
      })
    // A line that was begun on the full file system did not swallow the next.
    #expect(records().allSatisfy { $0.hasPrefix("{") })
    #expect(try await eventually { proxy.process.errors.contains("access records are written again") })
    try await proxy.process.stop()
    try await mount.remove()
  }

  @Test func `a proxy that starts with a damaged cache asks for no sign-in, and serves after the repair`()
    async throws
  {
    let scene = try await DeskScene()
    var proxy = try await scene.proxy()
    #expect(try await proxy.get("/orders/none").status == 401)
    try await scene.signIn(proxy)
    try await proxy.process.stop()
    let whole = textOfFile(scene.cache)
    try Data(whole.utf8.dropLast(4)).write(to: URL(filePath: scene.cache))
    proxy = try await scene.proxy()
    let answer = try await proxy.get("/orders/damaged")
    #expect(answer.status == 503 && answer.body.contains("token-cache-unavailable"), "\(answer.body)")
    #expect(proxy.process.errors.contains("the text ends too early"))
    try Data(whole.utf8).write(to: URL(filePath: scene.cache))
    #expect(try await eventually { try await proxy.get("/orders/mended").status == 200 })
  }

  @Test func `a file that is no cache is kept and reported with its place until it is repaired`()
    async throws
  {
    let scene = try await DeskScene()
    try await scene.lifetime(3)
    let proxy = try await scene.proxy()
    try await scene.signIn(proxy)
    let whole = textOfFile(scene.cache)
    let damaged = "{\n  \"AccessToken\": nonsense\n}\n"
    try Data(damaged.utf8).write(to: URL(filePath: scene.cache))
    let place = "\(scene.cache):2:19"
    #expect(try await eventually { proxy.process.errors.contains(place) })

    try await expectRenewals(2, scene, proxy, trouble: "damaged")
    #expect(textOfFile(scene.cache) == damaged)

    // Put back, even as it was: what was renewed meanwhile goes over it.
    try Data(whole.utf8).write(to: URL(filePath: scene.cache))
    #expect(try await eventually { textOfFile(scene.cache) != whole })
    #expect(try await eventually { proxy.process.errors.contains("token cache can be used again") })
    #expect(try await proxy.get("/orders/after").status == 200)
  }
}
