// Signing in and out with the built program, the sample provider and a person at its pages: every way it can end, and
// what a running proxy makes of it.

import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LoginTests {
  private let scene: DemoScene
  private typealias Sample = DemoDirectory.Sample
  private var directory: TemporaryDirectory { scene.directory }
  private var services: DemoServices { scene.services }

  init() throws { scene = try DemoScene() }

  @Test(arguments: [["--device-code"], []])
  func `two people sign in side by side, each for a route of theirs, while the proxy runs`(way: [String]) async throws {
    let proxy = try await scene.proxy([
      scene.route("hers", account: Sample.alice), scene.route("his", account: Sample.bob),
    ])
    for (name, user) in [("hers", Sample.alice), ("his", Sample.bob)] {
      let nobody = try await proxy.get("/\(name)/list")
      #expect(nobody.status == 401 && nobody.body.contains(#""reason":"no_account""#))
      #expect(nobody.body.contains("bearer-proxy login --route \(name)"))
      let login = try await Login.run(
        proxy.configuration, ["--route", name] + way, person: scene.person(user))
      #expect(login.status == 0, "\(login.errors)")
      let served = try await proxy.get("/\(name)/list")
      #expect(served.status == 200 && served.body.contains(user))
    }
    let accounts = try await proxy.command(["accounts", "--json"])
    #expect(accounts.output.contains(Sample.alice) && accounts.output.contains(Sample.bob))
    #expect(accounts.output.contains(#""can_refresh":true"#) && !accounts.output.contains("secret"))

    #expect(try await proxy.command(["logout", "--account", Sample.bob]).status == 0)
    #expect(try await eventually { try await proxy.get("/his/list").status == 401 })
    #expect(try await proxy.get("/hers/list").status == 200)
    #expect(!directory.read("cache.json").contains(Sample.bob))
  }

  @Test func `Ctrl-C gives the sign-in up`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    let login = try Login(proxy.configuration, ["--route", "orders", "--device-code"])
    _ = try await login.deviceCode()
    try await succeed(["kill", "-INT", "\(login.process.identifier)"])
    let result = try await login.result()
    #expect(result.status == 1 && result.errors.contains("the sign-in was given up"))
  }

  @Test func `login reports routes that need no sign-in before it opens a browser`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    for (words, status, reason) in [
      (["--route", "nope"], 2, "there is no route 'nope'"), (["--application", "nope"], 2, "'nope'"),
      ([], 2, "neither application nor route given"), (["--route", "orders", "--claims", "x"], 2, "--claims"),
      (["--route", "orders", "--port", "0"], 2, "--port"), (["--route", "orders", "--port", "70000"], 2, "--port"),
      (["--route", "orders", "--redirect-uri", "https://localhost/"], 2, "--redirect-uri"),
      (["--route", "orders", "--redirect-uri", "http://evil.example/"], 2, "--redirect-uri"),
      (["--route", "orders", "--redirect-uri", "http://localhost/a/../b"], 2, "--redirect-uri"),
      (["--route", "orders", "--port", "1", "--redirect-uri", "http://localhost"], 2, "do not go together"),
      (["--route", "orders", "--port", "1", "--device-code"], 2, "do not go together"),
      (["--route", "orders", "--prompt", "x"], 2, "--prompt"),
    ] {
      let result = try await proxy.command(["login"] + words)
      #expect(Int(result.status) == status && result.errors.contains(reason), "\(words): \(result.errors)")
    }
    let stranger = try await proxy.command(["logout", "--account", "carol"])
    #expect(stranger.status == 1 && stranger.errors.contains("carol"))
    await services.stop()
    let unreachable = try await proxy.command(["login", "--route", "orders"])
    #expect(unreachable.status == 1 && unreachable.errors.contains("desk"))
    #expect(unreachable.errors.contains("Does this machine reach \(services.issuer)?"))
  }
}
