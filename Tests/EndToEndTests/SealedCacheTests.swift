// An encrypted cache as its operator sees it: the commands, a second proxy, wrong keys, a full disk.

import Bytes
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct SealedCacheTests {
  enum Place: String, CaseIterable {
    case file, redis
  }

  /// Keys, one on each line, in a file of the scene.
  private func keys(_ numbers: UInt8..., named name: String = "keys", in scene: DeskScene) throws -> String {
    let keys = numbers.map { Base64.encode([UInt8](repeating: $0, count: 32)) }
    for key in keys { ProxyLedger.current?.add(secret: key) }
    let path = try scene.directory.write(keys.joined(separator: "\n") + "\n", to: name)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    return path
  }

  private func command(
    _ name: String, _ proxy: ProxyUnderTest, _ arguments: [String] = []
  ) async throws -> CommandResult {
    try await run([binary(), name, "-c", proxy.configuration] + arguments)
  }

  @Test(arguments: Place.allCases)
  func `commands and proxies with the key share an encrypted cache, others have nothing`(place: Place) async throws {
    let scene = try await DeskScene()
    let redis = place == .redis ? try await RedisPeer(in: scene.directory) : nil
    let location = redis.map { "redis: \"redis://127.0.0.1:\($0.port)\"" } ?? "file: \"\(scene.cache)\""
    let (right, wrong) = (try keys(1, in: scene), try keys(2, named: "wrong", in: scene))
    let (one, ownOne) = try await scene.proxy(place: "{\(location), key_file: \(right)}")
    let (two, ownTwo) = try await scene.proxy(place: "{\(location), key_file: \(right)}")
    try await scene.signIn(one)
    for proxy in [one, two] {
      #expect(try await eventually { try await proxy.get("/orders/first").status == 200 })
    }
    let accounts = try await command("accounts", two)
    #expect(accounts.status == 0 && accounts.output.contains("alice@contoso.example"), "\(accounts.errors)")
    let check = try await command("check", two, ["--live"])
    #expect(check.output.contains("1 person"), "\(check.output) \(check.errors)")
    if redis == nil {
      let form = try Data(contentsOf: URL(filePath: scene.cache))
      #expect(!String(decoding: form, as: UTF8.self).contains("alice"))
    }

    // Without the key, and with another.
    for (keys, reason) in [("", "'key_file' is not set"), (", key_file: \(wrong)", "'key_file' does not have")] {
      let (stranger, own) = try await scene.proxy(place: "{\(location)\(keys)}")
      #expect(try await stranger.get("/orders/none").status == 503)
      #expect(stranger.process.errors.contains(reason), "\(stranger.process.errors)")
      for name in ["accounts", "check"] {
        let result = try await command(name, stranger, name == "check" ? ["--live"] : [])
        #expect(result.status != 0 && (result.output + result.errors).contains(reason), "\(name) \(result)")
      }
      withExtendedLifetime(own) {}
      try await stranger.process.stop()
    }
    #expect(try await two.get("/orders/still").status == 200)

    let logout = try await command("logout", one, ["--account", "alice@contoso.example"])
    #expect(logout.status == 0, "\(logout.errors)")
    for proxy in [one, two] {
      #expect(try await eventually { try await proxy.get("/orders/out").status == 401 })
    }
    withExtendedLifetime((ownOne, ownTwo)) {}
    await scene.stop()
  }

  @Test func `a plain cache is taken over by a proxy with a key, and the key is replaced without a sign-in`()
    async throws
  {
    let scene = try await DeskScene()
    try await scene.lifetime(2)
    var (proxy, own) = try await scene.proxy()
    try await scene.signIn(proxy)
    #expect(try await eventually { try await proxy.get("/orders/plain").status == 200 })
    try await proxy.process.stop()
    func isPlain() -> Bool { textOfFile(scene.cache).contains("alice") }
    #expect(isPlain())
    for numbers in [[1], [1, 2], [2, 1], [2]] as [[UInt8]] {
      let path =
        numbers.count == 1 ? try keys(numbers[0], in: scene) : try keys(numbers[0], numbers[1], in: scene)
      (proxy, own) = try await scene.proxy(place: "{file: \"\(scene.cache)\", key_file: \(path)}")
      // Each renewal rotates the refresh token, and the provider forgives no other.
      let before = try await scene.tokenRequests()
      #expect(
        try await eventually {
          let status = try await proxy.get("/orders/\(numbers.count)").status
          let requests = try await scene.tokenRequests()
          return status == 200 && requests > before
        })
      #expect(try await eventually { !isPlain() })
      try await proxy.process.stop()
    }
    withExtendedLifetime(own) {}
    await scene.stop()
  }

  @Test(.enabled(if: CacheTroubleTests.Mount.isPossible, "only root may mount the file system that is then full"))
  func `a full disk takes nothing from an encrypted cache, and leaves nothing in clear`() async throws {
    let mount = try await CacheTroubleTests.Mount()
    let scene = try await DeskScene(cache: mount.file("cache"))
    try await scene.lifetime(2)
    let place = "{file: \"\(scene.cache)\", key_file: \(try keys(1, in: scene))}"
    var (proxy, own) = try await scene.proxy(place: place)
    try await scene.signIn(proxy)
    #expect(try await eventually { try await proxy.get("/orders/before").status == 200 })
    try await CacheTroubleTests.Trouble.full.begin(mount)
    #expect(
      try await eventually {
        _ = try await proxy.get("/orders/meanwhile")
        return try await metricSum(proxy, "bearer_proxy_cache_unwritten_changes") >= 1
      })
    for name in try FileManager.default.contentsOfDirectory(atPath: mount.path) where name != "filler" {
      #expect(!textOfFile(mount.file(name)).contains("alice"), "\(name)")
    }
    try await CacheTroubleTests.Trouble.full.end(mount)
    #expect(
      try await eventually { try await metricSum(proxy, "bearer_proxy_cache_unwritten_changes") == 0 })
    try await proxy.process.stop()
    (proxy, own) = try await scene.proxy(place: place)
    #expect(try await proxy.get("/orders/after").status == 200)
    try await proxy.process.stop()
    withExtendedLifetime(own) {}
    await scene.stop()
    try await mount.remove()
  }
}
