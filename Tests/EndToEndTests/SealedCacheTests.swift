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
    return try scene.directory.write(key + "\n", to: name)
  }

  @Test(arguments: Place.allCases)
  func `commands and proxies with the key share an encrypted cache, others have nothing`(place: Place) async throws {
    let scene = try await DeskScene()
    let redis = place == .redis ? try await RedisPeer(in: scene.directory) : nil
    let location = redis.map { "redis: \"redis://127.0.0.1:\($0.port)\"" } ?? "file: \"\(scene.cache)\""
    let (right, wrong) = (try key(1, named: "key", in: scene), try key(2, named: "wrong", in: scene))
    let proxies = try await scene.proxies(2, place: "{\(location), key_file: \(right)}")
    let (one, two) = (proxies[0], proxies[1])
    let accounts = try await two.command(["accounts"])
    #expect(accounts.status == 0 && accounts.output.contains("alice@contoso.example"), "\(accounts.errors)")
    let check = try await two.command(["check", "--live"])
    #expect(check.output.contains("1 person"), "\(check.output) \(check.errors)")
    if redis == nil {
      let form = try Data(contentsOf: URL(filePath: scene.cache))
      #expect(!String(decoding: form, as: UTF8.self).contains("alice"))
    }

    // Without the key, and with another.
    for (keys, reason) in [("", "'key_file' is not set"), (", key_file: \(wrong)", "'key_file' does not have")] {
      let stranger = try await scene.proxy(place: "{\(location)\(keys)}")
      #expect(try await stranger.get("/orders/none").status == 503)
      #expect(stranger.process.errors.contains(reason), "\(stranger.process.errors)")
      for name in ["accounts", "check"] {
        let result = try await stranger.command([name] + (name == "check" ? ["--live"] : []))
        #expect(result.status != 0 && (result.output + result.errors).contains(reason), "\(name) \(result)")
      }
      try await stranger.process.stop()
    }
    #expect(try await two.get("/orders/still").status == 200)

    try await scene.signOut(one, of: [one, two])
  }
}
