// An encrypted cache as its operator sees it: the commands, a second proxy, wrong keys.

import Bytes
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct SealedCacheTests {
  enum Place: String, CaseIterable {
    case file, redis
  }

  /// A key in a file of the scene.
  private func key(_ number: UInt8, named name: String, in scene: DeskScene) throws -> String {
    let key = Base64.encode([UInt8](repeating: number, count: 32))
    ProxyLedger.current?.add(secret: key)
    let path = try scene.directory.write(key + "\n", to: name)
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
    let (right, wrong) = (try key(1, named: "key", in: scene), try key(2, named: "wrong", in: scene))
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
}
