// The person who signs in with `login`: only the expected one, on a machine with other users, programs and providers.

import DemoProvider
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Who signs in with login", .keepsSecrets, .timeLimit(.minutes(4))) struct LoginPersonTests {
  private let scene: DemoScene
  private typealias Sample = DemoDirectory.Sample

  init() throws { scene = try DemoScene() }

  private func login(_ proxy: ProxyUnderTest, _ options: [String], _ person: SigningInPerson) async throws
    -> CommandResult
  {
    try await Login.run(proxy.configuration, options, person: person)
  }

  /// A command at a terminal whose user gives an answer to a question; and the file with what it shows.
  private func atTerminal(_ question: String, _ answer: String, _ words: [String]) throws -> (ChildProcess, String) {
    let output = scene.directory.file("terminal")
    let program = ["/usr/bin/python3", testsDirectory + "/peers/terminal.py", "--output", output, "--when", question]
    let terminal = try ChildProcess(
      "terminal", program + ["--answer", answer, "--", try binary()] + words, in: scene.directory,
      environment: ["BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""])
    return (terminal, output)
  }

  private var kept: String { scene.directory.read("cache.json") }

  @Test(arguments: [["--device-code"], []])
  func `another person than the route's account, or the only one, is refused, and nothing is kept`(way: [String])
    async throws
  {
    let proxy = try await scene.proxy([
      scene.route("hers", account: Sample.alice), scene.route("open"), scene.route("his", account: Sample.bob),
    ])
    let named = try await login(proxy, ["--route", "hers"] + way, scene.person(Sample.bob))
    #expect(named.status == 1 && named.errors.contains("\(Sample.bob) signed in, but another account was expected"))
    #expect(!kept.contains(Sample.bob))
    #expect(try await login(proxy, ["--route", "hers"] + way, scene.person()).status == 0)
    #expect(try await eventually { try await proxy.get("/open/list").status == 200 })
    let before = kept
    // Alice is the only person who is signed in: a route that names no account is hers.
    let open = try await login(proxy, ["--route", "open"] + way, scene.person(Sample.bob))
    #expect(open.status == 1 && open.errors.contains("nothing was kept"), "\(open.errors)")
    #expect(kept == before)
    #expect(try await proxy.get("/open/list").status == 200)
    let again = try await login(proxy, ["--route", "open"] + way, scene.person())
    #expect(again.status == 0 && !again.output.contains("note:"), "\(again.errors)")
  }

  @Test func `if the account is open, the page names who signed in and asks once`() async throws {
    let proxy = try await scene.proxy([scene.route("open")])
    let discarded = try await login(proxy, ["--route", "open"], scene.person(discards: true))
    #expect(discarded.status == 3 && discarded.errors.contains("\(Sample.alice) signed in, which was not confirmed"))
    #expect(!kept.contains(Sample.alice))
    #expect(try await proxy.get("/open/list").status == 401)
    let login = try Login(proxy.configuration, ["--route", "open"])
    let pages = try await scene.person().authorize(try await login.address())
    #expect(pages.contains("<b>\(Sample.alice)</b> signed in to <b>desk</b>"))
    #expect(pages.contains("<b>\(Sample.alice)</b> is signed in to <b>desk</b>"))
    let result = try await login.result()
    #expect(result.status == 0 && result.output.hasPrefix("\(Sample.alice) is signed in to desk\n"))
    // A second one by choice: what that means for routes without an account is said.
    let second = try await self.login(
      proxy, ["--route", "open", "--prompt", "select_account"], scene.person(Sample.bob))
    #expect(second.status == 0 && second.output.contains("note:    \(Sample.alice) signed in before: routes without"))
  }

  @Test func `people read display names if the configuration has them`() async throws {
    let route = scene.route("hers", account: Sample.alice)
      .replacing("name: hers", with: "name: hers, display_name: Her orders")
    let proxy = try await scene.proxy([route], application: ", display_name: Orders & more")
    let login = try Login(proxy.configuration, ["--route", "hers"])
    let pages = try await scene.person().authorize(try await login.address())
    #expect(pages.contains("is signed in to <b>Orders &amp; more</b>, and <b>Her orders</b> can be used."))
    let result = try await login.result()
    #expect(result.errors.contains("To sign in to 'Orders & more (desk)', go there"), "\(result.errors)")
    #expect(result.output.hasPrefix("\(Sample.alice) is signed in to Orders & more (desk)\n"))
    #expect(result.output.contains("\nroute:   Her orders (hers)\n"))
  }

  @Test(arguments: [("y", true), ("", false)])
  func `at a terminal it is the terminal that asks`(answer: String, isKept: Bool) async throws {
    let proxy = try await scene.proxy([scene.route("open")])
    let (terminal, output) = try atTerminal(
      "Keep this sign-in?", answer, ["login", "-c", proxy.configuration, "--route", "open"])
    var start: String?
    _ = try await eventually {
      start = textOfFile(output).firstMatch(of: /http:\/\/127\S+/).map { String($0.0) }
      return start != nil || terminal.poll() != nil
    }
    let sent = try await curl([try #require(start, "\(textOfFile(output)) \(terminal.errors)")])
    let page = try await scene.person().authorize(try #require(sent["location"]))
    #expect(page.contains("The terminal asks whether to keep it") && !page.contains("<form"))
    let status = try await terminal.wait()
    let shown = textOfFile(output)
    #expect(shown.contains("\(Sample.alice) signed in to 'desk'."), "\(shown)")
    #expect(status == (isKept ? 0 : 3), "\(shown)")
    #expect(kept.contains(Sample.alice) == isKept)
  }

  @Test func `no process's arguments show the sign-in, and what they show works once`() async throws {
    let proxy = try await scene.proxy([scene.route("hers", account: Sample.alice)])
    let arguments = scene.directory.file("arguments")
    let script = try scene.directory.write("#!/bin/sh\necho \"$@\" >> \(arguments)\n", to: "script")
    let browser = scene.directory.file("browser")
    // Written by another process: a child of this one could hold it open for writing, and then it cannot be run.
    try await succeed(["install", "-m", "700", script, browser])
    let login = try Login(
      proxy.configuration, ["--route", "hers"],
      environment: ["BROWSER": "\(browser) %s", "DISPLAY": ":0"])
    #expect(try await eventually { textOfFile(arguments).hasSuffix("\n") })
    let start = textOfFile(arguments).filter { !$0.isNewline }
    #expect(start.hasPrefix("http://127.0.0.1:") && !start.contains("?"))
    #expect(try await login.start() == start)
    // The person's browser opens it; a later reader of it learns nothing, and cannot use it.
    let address = try await login.address()
    #expect(address.contains("state="))
    let late = try await curl([start])
    #expect(late.status == 410 && late["location"] == nil && !late.body.contains("state"))
    try await scene.person().authorize(address)
    #expect(try await login.result().status == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "another user takes root"))
  func `another user of the machine can neither begin nor end a sign-in`()
    async throws
  {
    let proxy = try await scene.proxy([scene.route("open")])
    let browser = try scene.directory.write("#!/bin/sh\n", to: "browser")
    try await succeed(["chmod", "700", browser])
    let login = try Login(
      proxy.configuration, ["--route", "open"],
      environment: ["BROWSER": "\(browser) %s", "DISPLAY": ":0"])
    func asAnother(_ arguments: [String]) async throws -> String {
      try await succeed(
        ["setpriv", "--reuid", "65534", "--clear-groups", "curl", "-q", "-s", "-w", "%{http_code}"] + arguments)
    }
    let begun = try await asAnother([try await login.start()])
    #expect(begun.hasSuffix("403") && begun.contains("The user who started the sign-in"), "\(begun)")
    // It has not used the address up.
    let address = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(address.queryItems?.first { $0.name == "redirect_uri" }?.value)
    let state = try #require(address.queryItems?.first { $0.name == "state" }?.value)
    let brought = try await asAnother(["\(redirect)/?code=mine&state=\(state)"])
    #expect(brought.hasSuffix("403"), "\(brought)")
    try await scene.person().authorize(address.string ?? "")
    #expect(try await login.result().status == 0)
  }

  @Test func `with an unwritable cache the sign-in does not begin`() async throws {
    try await succeed(["mkdir", "-m", "700", scene.directory.file("held")])
    let proxy = try await scene.proxy([scene.route("open")], cache: "held/cache.json")
    // A directory in the place of the lock: even root cannot take it.
    try await succeed(["mkdir", scene.directory.file("held/cache.json.lockfile")])
    for way in [["--device-code"], []] {
      let result = try await proxy.command(["login", "--route", "open"] + way)
      #expect(result.status == 1, "\(result.errors)")
      #expect(result.errors.contains("the cache cannot be written, so the sign-in does not begin"), "\(result.errors)")
      #expect(!result.errors.contains("http://127") && !result.errors.contains("code:"))
    }
  }

  @Test func `logout takes the person of one provider, and asks if several know the name`() async throws {
    let password = "kettle-harbour-7"
    let other = try await OpenIDProvider(
      in: scene.directory, ["--client", "desk:", "--person", "\(Sample.alice):\(password)"])
    let routes = [
      scene.route("hers", account: Sample.alice),
      "  - {name: whoami, path: /w/, upstream: \"\(other.issuer)/api/\", application: realm,\n"
        + "     token: {account: \(Sample.alice), scopes: [orders.read]}}\n",
    ]
    let proxy = try await scene.proxy(
      routes, applications: "  realm: {authority: \"\(other.issuer)\", client_id: desk}\n")
    #expect(try await login(proxy, ["--route", "hers"], scene.person()).status == 0)
    let realm = try await login(
      proxy, ["--route", "whoami"], SigningInPerson(user: Sample.alice, password: password))
    #expect(realm.status == 0, "\(realm.errors)")
    #expect(try await eventually { try await proxy.get("/w/whoami").status == 200 })
    let open = try await proxy.command(["logout", "--account", Sample.alice])
    #expect(open.status == 1 && open.errors.contains("--application"), "\(open.errors)")
    #expect(open.errors.contains("of desk,") && open.errors.contains("of realm,"), "\(open.errors)")
    let unknown = try await proxy.command(["logout", "--account", Sample.alice, "--application", "real"])
    #expect(unknown.status == 2 && unknown.errors.contains("did you mean 'realm'?"))
    // At a terminal it asks which one is meant.
    let (terminal, output) = try atTerminal(
      "Which one", "2", ["logout", "-c", proxy.configuration, "--account", Sample.alice])
    #expect(try await terminal.wait() == 0, "\(textOfFile(output))")
    #expect(textOfFile(output).contains("is signed out of realm"), "\(textOfFile(output))")
    #expect(try await eventually { try await proxy.get("/w/whoami").status == 401 })
    #expect(try await proxy.get("/hers/list").status == 200)
    let rest = try await proxy.command(["logout", "--account", Sample.alice, "--application", "desk"])
    #expect(rest.status == 0 && rest.output == "\(Sample.alice) is signed out of desk\n")
  }

  @Test func `a provider that compares redirect URIs as a whole gets the one that it knows, and names its issuer`()
    async throws
  {
    let port = try freePort()
    let provider = try await OpenIDProvider(
      in: scene.directory,
      OpenIDProvider.desk + [
        "--name-issuer", "--redirect-uri", "http://localhost:\(port)", "--redirect-uri",
        "http://127.0.0.1:\(port)/cb/x",
      ])
    let proxy = try await ProxyUnderTest(in: scene.directory, annsConfiguration(provider.issuer))
    let person = OpenIDProvider.ann()
    let usual = try Login(proxy.configuration, ["--route", "hers", "--timeout", "2s"])
    await #expect(throws: TestSupportError.self) { try await person.authorize(try await usual.address()) }
    let late = try await usual.result()
    #expect(late.status == 1 && late.errors.contains("needs the redirect URI http://localhost at the provider"))
    #expect(late.errors.contains("--port") && late.errors.contains("--redirect-uri"))
    for options in [["--port", "\(port)"], ["--redirect-uri", "http://127.0.0.1:\(port)/cb/x"]] {
      let login = try Login(proxy.configuration, ["--route", "hers"] + options)
      #expect(try await person.authorize(try await login.address()).contains("is signed in to"))
      #expect(try await login.result().status == 0)
    }
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
  }
}
