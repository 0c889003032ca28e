// Signing in and out with the built program, the sample provider and a person at its pages: every way it can end, and
// what a running proxy makes of it.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LoginTests {
  private let scene: LoginScene
  private typealias Sample = DemoDirectory.Sample
  private var directory: TemporaryDirectory { scene.directory }
  private var services: DemoServices { scene.services }

  init() throws { scene = try LoginScene() }

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
        proxy.configuration, ["--route", name] + way, person: scene.person(user), in: directory)
      #expect(login.status == 0, "\(login.errors)")
      let served = try await proxy.get("/\(name)/list")
      #expect(served.status == 200 && served.body.contains(user))
    }
    let accounts = try await scene.command(proxy, ["accounts", "--json"])
    #expect(accounts.output.contains(Sample.alice) && accounts.output.contains(Sample.bob))
    #expect(accounts.output.contains(#""can_refresh":true"#) && !accounts.output.contains("secret"))

    #expect(try await scene.command(proxy, ["logout", "--account", Sample.bob]).status == 0)
    #expect(try await eventually { try await proxy.get("/his/list").status == 401 })
    #expect(try await proxy.get("/hers/list").status == 200)
    #expect(!directory.read("cache.json").contains(Sample.bob))
    await services.stop()
  }

  @Test func `an unnamed account is the only one; with a second one none is chosen`() async throws {
    let proxy = try await scene.proxy([scene.route("only")])
    _ = try await Login.run(proxy.configuration, ["--route", "only"], person: scene.person(), in: directory)
    #expect(try await proxy.get("/only/list").status == 200)
    _ = try await Login.run(
      proxy.configuration, ["--route", "only", "--prompt", "select_account"], person: scene.person(Sample.bob),
      in: directory)
    #expect(try await eventually { try await proxy.get("/only/list").status == 401 })
    let answer = try await proxy.get("/only/list")
    #expect(answer.body.contains(#""reason":"account_ambiguous""#))
    let token = try await scene.command(proxy, ["token", "--route", "only"])
    #expect(token.status == 3 && token.errors.contains("account_ambiguous"))
    #expect(token.errors.hasSuffix("under the route's token, as 'account'.\n"))
    await services.stop()
  }

  @Test func `two APIs have two tokens of one sign-in, and neither is asked for the other's scopes`() async throws {
    let proxy = try await scene.proxy([
      scene.route("orders", account: Sample.alice),
      scene.route("ledger", account: Sample.alice, api: "ledger", scope: "api://ledger/Ledger.Read"),
    ])
    let login = try await Login.run(
      proxy.configuration, ["--route", "orders", "--extra-scope", "api://ledger/Ledger.Read"], person: scene.person(),
      in: directory)
    #expect(login.status == 0, "\(login.errors)")
    #expect(try await proxy.get("/orders/list").status == 200)
    #expect(try await proxy.get("/ledger/list").status == 200)
    var shown: [String] = []
    for name in ["orders", "ledger"] {
      let token = try await scene.command(proxy, ["token", "--route", name, "--json"])
      #expect(token.status == 0)
      #expect(token.output.contains(#""username":"\#(Sample.alice)""#) && !token.output.contains("access_token"))
      #expect(token.output.contains("api://\(name)/") && token.output.contains(#""expires_in":"#))
      #expect(!token.output.contains("api://\(name == "orders" ? "ledger" : "orders")/"))
      shown.append(try await scene.command(proxy, ["token", "--route", name, "--json", "--reveal"]).output)
    }
    #expect(shown.allSatisfy { $0.contains(#""access_token":"ey"#) })
    await services.stop()
  }

  @Test func `an answer to another sign-in does not end this one, and nothing is used of it`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    let login = try Login(proxy.configuration, ["--route", "orders"], in: directory)
    let address = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(address.queryItems?.first { $0.name == "redirect_uri" }?.value)
    for query in ["code=stolen&state=another", "error=access_denied", "code=a&code=b", "code=stolen"] {
      let page = try await curl(["-H", "Sec-Fetch-Site: cross-site", "\(redirect)/?\(query)"])
      #expect(page.status == 400 && page.body.contains("Not signed in") && !page.body.contains("stolen"))
      let form = try await curl(["-H", "Origin: https://evil.example", "-d", query, redirect])
      #expect(form.status == 400)
    }
    #expect(directory.read("cache.json").isEmpty)
    #expect(try await scene.person().authorize(try await login.address()).contains("is signed in to"))
    #expect(try await login.result().status == 0)
    #expect(try await eventually { try await proxy.get("/orders/list").status == 200 })
    await services.stop()
  }

  @Test func `a declined sign-in is not retried`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    let refusing = scene.person(declines: true)
    let device = try await Login.run(
      proxy.configuration, ["--route", "orders", "--device-code"], person: refusing, in: directory)
    let browser = try Login(proxy.configuration, ["--route", "orders"], in: directory)
    let page = try await refusing.authorize(try await browser.address())
    #expect(page.contains("<h1>Not signed in</h1>"))
    for result in [device, try await browser.result()] {
      #expect(result.status == 3)
      let last = result.errors.split(separator: "\n").last
      #expect(last?.hasPrefix("bearer-proxy: error: no person is signed in to 'desk'") == true)
    }
    #expect(try await proxy.get("/orders/list").status == 401)
    await services.stop()
  }

  @Test func `a sign-in without a browser's answer or a typed code ends in time`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    let browser = try await scene.command(proxy, ["login", "--route", "orders", "--timeout", "1s"])
    #expect(browser.status == 1 && browser.errors.contains("no answer came back from the browser within 1 s"))
    #expect(browser.errors.contains("needs the redirect URI http://localhost at the provider"))
    _ = try await scene.testing("behaviour", #"{"device_interval": 1, "device_code_lifetime": 2}"#)
    let device = try await scene.command(proxy, ["login", "--route", "orders", "--device-code"])
    #expect(device.status == 1 && device.errors.contains("no longer good"))
    #expect(device.errors.hasSuffix("\nRun the command again for a new code.\n"))
    await services.stop()
  }

  @Test func `Ctrl-C gives the sign-in up`() async throws {
    let proxy = try await scene.proxy([scene.route("orders")])
    let login = try Login(proxy.configuration, ["--route", "orders", "--device-code"], in: directory)
    _ = try await login.deviceCode()
    try await succeed(["kill", "-INT", "\(login.process.identifier)"])
    let result = try await login.result()
    #expect(result.status == 1 && result.errors.contains("the sign-in was given up"))
    await services.stop()
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
      let result = try await scene.command(proxy, ["login"] + words)
      #expect(Int(result.status) == status && result.errors.contains(reason), "\(words): \(result.errors)")
    }
    let stranger = try await scene.command(proxy, ["logout", "--account", "carol"])
    #expect(stranger.status == 1 && stranger.errors.contains("carol"))
    await services.stop()
    let unreachable = try await scene.command(proxy, ["login", "--route", "orders"])
    #expect(unreachable.status == 1 && unreachable.errors.contains("desk"))
    #expect(unreachable.errors.contains("Does this machine reach \(services.issuer)?"))
  }
}
