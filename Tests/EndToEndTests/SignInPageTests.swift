// The sign-in pages of a running proxy, as curl and a person at the sample provider see them: from the link back to the route, and
// everything that is refused on the way.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite("Sign-in pages", .timeLimit(.minutes(3))) struct SignInPageTests {
  private typealias Sample = DemoDirectory.Sample

  /// The sample provider and APIs, and a proxy whose listener has sign-in pages.
  struct Stage {
    let directory: TemporaryDirectory
    let settings: DemoSettings
    let services: DemoServices
    let proxy: ProxyUnderTest

    var origin: String { "http://localhost:\(proxy.port)" }

    init(account: String? = DemoDirectory.Sample.alice, signIn: String = "true") async throws {
      directory = try TemporaryDirectory()
      settings = DemoSettings(directory: directory.path)
      services = try DemoServices(settings)
      let port = try freePort()
      let other = try freePort()
      let named = account.map { "account: \($0), " } ?? ""
      proxy = try await ProxyUnderTest(
        in: directory, port: port,
        """
        listeners:
          - {address: "127.0.0.1:\(port)", sign_in: \(signIn)}
          - {address: "127.0.0.1:\(other)", sign_in: true}
        cache: {file: cache.json}
        applications:
          desk:
            authority: \(services.issuer)
            client_id: \(DemoDirectory.Sample.desk)
            client_capabilities: [cp1]
            tls: {ca_file: \(settings.authorityPath)}
        defaults: {tls: {ca_file: \(settings.authorityPath)}}
        routes:
          - name: my-orders
            path: /my/orders/
            upstream: \(services.apiOrigin)/api/
            application: desk
            token: {\(named)scopes: ["api://orders/Orders.Read"]}
          - name: bobs-orders
            path: /bobs/orders/
            upstream: \(services.apiOrigin)/api/
            application: desk
            token: {account: \(DemoDirectory.Sample.bob), scopes: ["api://orders/Orders.Read"]}
          - {name: open, path: /open/, upstream: "\(services.apiOrigin)/api/", token: none}
        """)
      otherOrigin = "http://localhost:\(other)"
    }

    /// Another listener of the same proxy.
    let otherOrigin: String

    /// A browser's request to the proxy: its cookies are kept.
    func browse(_ path: String, _ arguments: [String] = [], origin: String? = nil, jar: String = "jar") async throws
      -> Answer
    {
      let jar = directory.file(jar)
      return try await curl(["-b", jar, "-c", jar] + arguments + [(origin ?? self.origin) + path])
    }

    /// Posts the form of a page, changed as told.
    func press(_ page: Answer, _ change: [String: String] = [:], _ arguments: [String] = [], jar: String = "jar")
      async throws
      -> Answer
    {
      var fields: [String: String] = [:]
      for field in ["route", "return", "seal"] {
        fields[field] = page.body.between("name=\"\(field)\" value=\"", "\"")?.replacing("&amp;", with: "&")
      }
      fields.merge(change) { $1 }
      let form = fields.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
      return try await browse("/.bearer/sign-in", form + arguments, jar: jar)
    }

    /// Signs in at the provider; the path and query that the browser is sent back to.
    func atTheProvider(_ begun: Answer, user: String = DemoDirectory.Sample.alice, declines: Bool = false) async throws
      -> String
    {
      struct End: Decodable {
        var target: String
        var parameters: [String: String]
      }
      let address = try #require(begun["location"], "\(begun.status) \(begun.body)")
      let text = try await succeed(
        [
          "/usr/bin/python3", testsDirectory + "/peers/person.py", "--ca", settings.authorityPath, "--user", user,
          "--jar", directory.file("provider-\(user)"),
        ] + (declines ? ["--decline"] : []) + ["authorize", address])
      let end = try JSONDecoder().decode(End.self, from: Data(text.utf8))
      #expect(end.target == "\(origin)/.bearer/callback")
      let query = end.parameters.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&")
      return "/.bearer/callback?\(query)"
    }

    /// Whether anything was filed.
    var hasWritten: Bool {
      !directory.read("cache.json").isEmpty && directory.read("cache.json").contains("RefreshToken")
        && directory.read("cache.json").contains("secret")
    }
  }

  private static let link = "/.bearer/sign-in?route=my-orders&return=%2Fmy%2Forders%2Flist%3Fa%3D1%26b%3D2"

  @Test func `the link leads through the provider back to where the browser was, and the route works from then on`()
    async throws
  {
    let stage = try await Stage()
    #expect(try await stage.browse("/my/orders/list").status == 401)
    let page = try await stage.browse(Self.link)
    #expect(page.status == 200)
    for words in ["desk", "my-orders", Sample.alice, "Orders.Read", "api://orders", "localhost"] {
      #expect(page.body.contains(words), "\(words)")
    }
    #expect(page["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
    #expect(page["cache-control"] == "no-store")
    let begun = try await stage.press(page)
    #expect(begun.status == 303)
    let location = try #require(begun["location"])
    #expect(location.hasPrefix("\(stage.services.providerOrigin)/\(Sample.tenant)/oauth2/v2.0/authorize?"))
    for part in ["code_challenge=", "nonce=", "state=", "login_hint=alice%40", "xms_cc", "Orders.Read"] {
      #expect(location.contains(part), "\(part)")
    }
    let back = try await stage.browse(stage.atTheProvider(begun))
    #expect(back.status == 303, "\(back.body)")
    #expect(back["location"] == "\(stage.origin)/my/orders/list?a=1&b=2")
    let list = try await stage.browse("/my/orders/list?a=1&b=2")
    #expect(list.status == 200)
    #expect(list.body.contains(Sample.alice))
    #expect(!stage.proxy.everythingWritten.contains("code="), "no code in any log")
    await stage.services.stop()
  }

  @Test
  func
    `a browser that comes from the provider's site goes back by a page of ours, so that its next request is ours too`()
    async throws
  {
    let stage = try await Stage()
    let path = try await stage.atTheProvider(stage.press(stage.browse(Self.link)))
    let back = try await stage.browse(path, ["-H", "Sec-Fetch-Site: cross-site"])
    #expect(back.status == 200)
    #expect(back.heading == "You are signed in")
    #expect(
      back.body.contains("<meta http-equiv=\"refresh\" content=\"0;url=/my/orders/list?a=1&amp;b=2\">"), "\(back.body)")
    await stage.services.stop()
  }

  @Test func `an answer counts once, from the browser that began, at the listener it began at`() async throws {
    let stage = try await Stage()
    let path = try await stage.atTheProvider(stage.press(stage.browse(Self.link)))
    for (heading, answer) in [
      ("Another browser&#39;s sign-in", try await stage.browse(path, jar: "another")),
      ("Unknown sign-in", try await stage.browse(path, origin: stage.otherOrigin)),
      ("Unknown sign-in", try await stage.browse("/.bearer/callback?state=x&code=y")),
      ("Unknown sign-in", try await stage.browse("/.bearer/callback")),
      ("Unreadable request", try await stage.browse("/.bearer/callback?state=a&state=b")),
      ("Not like this", try await stage.browse("/.bearer/callback", ["-d", "state=x"])),
    ] {
      #expect(answer.heading == heading)
      #expect((400..<500).contains(answer.status))
      #expect(!stage.hasWritten)
    }
    #expect(try await stage.browse(path).status == 303)
    let again = try await stage.browse(path)
    #expect(again.heading == "This sign-in is over")
    #expect(again.body.contains("href=\"/.bearer/sign-in?route=my-orders&amp;return="))
    await stage.services.stop()
  }

  @Test func `links and forms that were tampered with are refused with a page that says so`() async throws {
    let stage = try await Stage()
    let page = try await stage.browse(Self.link)
    #expect(page.status == 200)
    for (heading, answer) in [
      ("Unknown link", try await stage.browse("/.bearer/sign-in?route=nobody")),
      ("Unknown link", try await stage.browse("/.bearer/sign-in?route=open")),
      ("Unknown link", try await stage.browse("/.bearer/sign-in")),
      ("Unsafe link", try await stage.browse("/.bearer/sign-in?route=my-orders&return=https%3A%2F%2Fevil.example")),
      ("Unsafe link", try await stage.browse("/.bearer/sign-in?route=my-orders&return=%2F%2Fevil.example")),
      ("Unsafe link", try await stage.press(page, ["return": "//evil.example"])),
      ("Changed form", try await stage.press(page, ["return": "/elsewhere"])),
      ("Changed form", try await stage.press(page, ["seal": "1.x"])),
      ("No cookie", try await stage.press(page, jar: "none")),
      ("Refused", try await stage.press(page, [:], ["-H", "Origin: https://evil.example"])),
      ("Refused", try await stage.press(page, [:], ["-H", "Sec-Fetch-Site: cross-site"])),
      ("Refused", try await stage.press(page, [:], ["-H", "Sec-Fetch-Site: same-site"])),
      ("Too large", try await stage.press(page, ["more": String(repeating: "x", count: 20_000)])),
      ("Nothing here", try await stage.browse("/.bearer/elsewhere")),
    ] {
      #expect(answer.heading == heading, "\(answer.status) \(answer.body)")
      #expect((400..<500).contains(answer.status))
      #expect(answer["location"] == nil)
    }
    #expect(!stage.hasWritten)
    // What a cookie of the listener's own makes of the same page in another listener.
    let foreign = try await stage.browse("/.bearer/sign-in", ["-H", "Host: evil.example", "--data", "route=my-orders"])
    #expect(foreign.status == 421)
    #expect(try await stage.press(page).status == 303, "the page itself is still good")
    await stage.services.stop()
  }

  @Test func `who declines, or is somebody else, is told so, and nothing is kept`() async throws {
    let stage = try await Stage()
    let no = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(Self.link)), declines: true))
    #expect(no.heading == "You said no")
    #expect(no.body.contains("access_denied") && no.body.contains("User declined to consent"))
    #expect(no.body.contains("Begin again"))
    let bob = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(Self.link)), user: Sample.bob))
    #expect(bob.heading == "Another account is needed")
    #expect(bob.body.contains(Sample.bob))
    #expect(!stage.hasWritten)
    #expect(try await stage.browse("/my/orders/list").status == 401)
    await stage.services.stop()
  }

  @Test func `a route for whoever is signed in offers a choice where several are`() async throws {
    let stage = try await Stage(account: nil)
    let first = try await stage.browse(
      stage.atTheProvider(stage.press(stage.browse("/.bearer/sign-in?route=my-orders"))))
    #expect(first.heading == "You are signed in")
    let settled = try await stage.browse(Self.link)
    #expect(settled.body.contains("in the name of <b>\(Sample.alice)</b>"))
    #expect(!settled.body.contains("<fieldset>"))
    let other = "/.bearer/sign-in?route=bobs-orders"
    _ = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(other)), user: Sample.bob))
    let page = try await stage.browse(Self.link)
    #expect(page.body.contains("<fieldset>"))
    #expect(page.body.contains(Sample.alice) && page.body.contains(Sample.bob) && page.body.contains("Another account"))
    let begun = try await stage.press(page, ["account": "c0a7050d-0000-4000-8000-0000000000d2.\(Sample.tenant)"])
    #expect(begun["location"]?.contains("login_hint=bob%40") == true)
    let another = try await stage.press(page, ["account": ""])
    #expect(another["location"]?.contains("prompt=select_account") == true)
    let end = try await stage.browse(stage.atTheProvider(begun, user: Sample.bob))
    #expect(end.heading == "Signed in, but not done")
    #expect(end.body.contains("Several accounts are signed in"))
    await stage.services.stop()
  }

  @Test func `pages have one name, and where they are off there are none`() async throws {
    let stage = try await Stage()
    let elsewhere = try await curl(["http://127.0.0.1:\(stage.proxy.port)\(Self.link)"])
    #expect(elsewhere.status == 303)
    #expect(elsewhere["location"] == stage.origin + Self.link)
    let head = try await stage.browse(Self.link, ["-I"])
    #expect(head.status == 200)
    await stage.services.stop()
    let without = try await Stage(signIn: "false")
    #expect(try await without.browse(Self.link).status == 404)
    await without.services.stop()
  }
}

extension Answer {
  /// A page's heading.
  var heading: String? { body.between("<h1>", "</h1>") }
}

extension String {
  /// What stands between two texts, the first time.
  func between(_ start: String, _ end: String) -> String? {
    guard let from = firstRange(of: start)?.upperBound, let to = self[from...].firstRange(of: end)?.lowerBound else {
      return nil
    }
    return String(self[from..<to])
  }
}

/// A value for a query.
func encoded(_ value: String) -> String {
  var text = ""
  for byte in value.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39:
      text.unicodeScalars.append(UnicodeScalar(byte))
    default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
  return text
}
