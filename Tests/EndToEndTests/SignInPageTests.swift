// The sign-in pages of a running proxy, as curl and a person at the sample provider see them: from the link back to the
// route, and everything that is refused on the way.

import DemoProvider
import TestSupport
import Testing

@Suite("Sign-in pages", .timeLimit(.minutes(5))) struct SignInPageTests {
  private typealias Sample = DemoDirectory.Sample

  @Test func `the link leads through the provider back to where the browser was, and the route works from then on`()
    async throws
  {
    let stage = try await SignInStage()
    #expect(try await stage.browse("/my/orders/list").status == 401)
    let page = try await stage.browse(SignInStage.link)
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
  }

  @Test func `an answer counts once, from the browser that began, at the listener it began at`() async throws {
    let stage = try await SignInStage()
    let path = try await stage.atTheProvider(stage.press(stage.browse(SignInStage.link)))
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
  }

  @Test func `whatever is refused writes nothing, beside what was there`() async throws {
    let stage = try await SignInStage()
    #expect(try await stage.signIn().status == 303)
    #expect(try await stage.proxy.get("/my/orders/payouts").status == 401)
    #expect(try await eventually { stage.everythingKept.contains("acrs") })
    let kept = stage.everythingKept
    let page = try await stage.browse(SignInStage.link)
    let path = try await stage.atTheProvider(stage.press(page))
    for text in ["%2F%2Fevil.example", "https%3A%2F%2Fevil.example", "%2F%0D%0ASet-Cookie:a=b"] {
      let answer = try await stage.browse("/.bearer/sign-in?route=my-orders&return=\(text)")
      #expect(answer.heading == "Unsafe link", "\(text): \(answer.body)")
      #expect(answer.fields.allSatisfy { !$0.value.contains("evil") && $0.name != "set-cookie" })
    }
    let cookie = "bearer-sign-in-\(stage.proxy.port)=\(String(repeating: "A", count: 43))"
    for (heading, answer) in [
      ("Unknown link", try await stage.browse("/.bearer/sign-in?route=nobody")),
      ("Unknown link", try await stage.browse("/.bearer/sign-in?route=open")),
      ("Unknown link", try await stage.browse("/.bearer/sign-in")),
      ("Nothing here", try await stage.browse("/.bearer/elsewhere")),
      ("Unsafe link", try await stage.press(page, ["return": "//evil.example"])),
      ("Changed form", try await stage.press(page, ["return": "/elsewhere"])),
      ("No cookie", try await stage.press(page, jar: "none")),
      ("Refused", try await stage.press(page, [:], ["-H", "Sec-Fetch-Site: same-site"])),
      ("Too large", try await stage.press(page, ["more": String(repeating: "x", count: 20_000)])),
      ("Unreadable request", try await stage.browse("/.bearer/sign-in?route=my-orders&route=open")),
      ("Unreadable request", try await stage.press(page, [:], ["-d", "route=bobs-orders"])),
      ("Changed form", try await stage.press(page, ["seal": ""])),
      ("Changed form", try await stage.press(page, ["route": "bobs-orders"])),
      ("Changed form", try await stage.press(page, ["ask": "1"])),
      ("Changed form", try await stage.press(page, [:], ["-H", "Cookie: \(cookie)"], jar: "planted")),
      ("Refused", try await stage.press(page, [:], ["-H", "Origin: \(stage.otherOrigin)"])),
      ("Refused", try await stage.press(page, [:], ["-H", "Sec-Fetch-Site: none"])),
      ("Another browser&#39;s sign-in", try await stage.browse(path, ["-H", "Cookie: \(cookie)"], jar: "planted")),
      ("Unknown sign-in", try await stage.browse(path, origin: stage.otherOrigin)),
      ("Unknown sign-in", try await stage.browse(path.replacing("state=", with: "state=A"))),
      ("Not signed in", try await stage.browse(path.replacing("code=", with: "code=A"))),
      ("This sign-in is over", try await stage.browse(path)),
      (
        "Another account is needed",
        try await stage.browse(stage.atTheProvider(stage.press(page), user: Sample.bob))
      ),
    ] {
      #expect(answer.heading == heading, "\(answer.status) \(answer.body)")
      #expect((400..<600).contains(answer.status))
      #expect(answer["location"] == nil)
      #expect(answer["cache-control"] == "no-store")
      #expect(answer["referrer-policy"] == "no-referrer")
      #expect(answer["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
    }
    #expect(stage.everythingKept == kept)
    #expect(try await stage.proxy.get("/my/orders/list").status == 200)
  }

  @Test func `a provider's message is one line of text on the page`() async throws {
    let stage = try await SignInStage()
    let begun = try await stage.press(stage.browse(SignInStage.link))
    let state = try #require(begun["location"]?.between("state=", "&"))
    let evil = encoded(
      "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202E}\r\nSet-Cookie: a=b"
        + String(repeating: "x", count: 1500))
    let page = try await stage.browse("/.bearer/callback?state=\(state)&error=\(evil)&error_description=\(evil)")
    #expect(page.heading == "Not signed in")
    #expect(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img"))
    // The one script is the page's own, which takes the query out of the address bar.
    let others = page.body.replacing("<script>history.replaceState(null,'',location.pathname)</script>", with: "")
    #expect(!others.contains("<script") && !others.contains("<img") && !others.contains("\u{202E}"))
    #expect(page.body.utf8.count < 8000)
    #expect(page["set-cookie"] == nil)
  }

  @Test func `a link on another site's page leads nowhere by itself`() async throws {
    let stage = try await SignInStage()
    let page = try await stage.browse(SignInStage.link, ["-H", "Sec-Fetch-Site: cross-site"])
    #expect(page.status == 200)
    let back = try await stage.browse(stage.atTheProvider(stage.press(page)))
    #expect(back.heading == "You are signed in")
    #expect(back["location"] == nil && !back.body.contains("http-equiv=\"refresh\""))
    #expect(back.body.contains("<b>/my/orders/list?a=1&amp;b=2</b>"))
    // A browser that comes from the provider's site goes back by a page of ours, so that its next request is ours too.
    let path = try await stage.atTheProvider(stage.press(stage.browse(SignInStage.link)))
    let own = try await stage.browse(path, ["-H", "Sec-Fetch-Site: cross-site"])
    #expect(own.heading == "You are signed in")
    #expect(
      own.body.contains("<meta http-equiv=\"refresh\" content=\"0;url=/my/orders/list?a=1&amp;b=2\">"), "\(own.body)")
  }

  @Test func `a refused caller cannot sign in, and hosts are the listener's own`() async throws {
    let stage = try await SignInStage()
    let raw = try RawConnection(port: stage.proxy.port)
    try await raw.send("GET \(SignInStage.link) HTTP/1.0\r\n\r\n")
    let nameless = try await raw.receive()
    #expect(nameless.hasPrefix("HTTP/1.1 4") || nameless.hasPrefix("HTTP/1.1 303"), "\(nameless)")
    #expect(!nameless.contains("evil"))
    for host in ["evil.example", "localhost.evil.example", "localhost@evil.example", "localhost, evil.example"] {
      let answer = try await stage.browse(SignInStage.link, ["-H", "Host: \(host)"])
      #expect((400..<500).contains(answer.status), "\(host): \(answer.status)")
      #expect(!answer.body.contains(">Continue<"))
    }
    // Another port in the name is not believed: links and the redirect URI stay the listener's.
    let other = try await stage.browse(SignInStage.link, ["-H", "Host: localhost:1"])
    #expect(other["location"] == stage.origin + SignInStage.link || other.status == 421, "\(other.status)")
    let forwarded = try await stage.press(
      stage.browse(SignInStage.link, ["-H", "X-Forwarded-Host: evil.example", "-H", "Forwarded: host=evil.example"]))
    #expect(forwarded["location"]?.contains("evil") == false)
  }

  @Test func `a declined sign-in, or another person's, is reported, and nothing is kept`() async throws {
    let stage = try await SignInStage()
    let no = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(SignInStage.link)), declines: true))
    #expect(no.heading == "Sign-in cancelled")
    #expect(no.body.contains("access_denied") && no.body.contains("User declined to consent"))
    let unknown = try await stage.browse(
      "/.bearer/callback?code=x&state=invented", ["-H", "X-Request-ID: seen-1"])
    #expect(unknown.status == 400 && unknown.body.contains("<dt>Request</dt><dd><code>seen-1</code></dd>"))
    let next = "\"next\":\"begin again: \(stage.origin)/.bearer/sign-in?route=my-orders\""
    #expect(try await eventually { stage.proxy.process.errors.contains(next) }, "\(stage.proxy.process.errors)")
    #expect(no.body.contains("Begin again"))
    let bob = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(SignInStage.link)), user: Sample.bob))
    #expect(bob.heading == "Another account is needed")
    #expect(bob.body.contains(Sample.bob))
    #expect(!stage.hasWritten)
    #expect(try await stage.browse("/my/orders/list").status == 401)
  }

  @Test func `a route without an account offers a choice if several are signed in`() async throws {
    let stage = try await SignInStage(account: nil)
    let first = try await stage.browse(
      stage.atTheProvider(stage.press(stage.browse("/.bearer/sign-in?route=my-orders"))))
    #expect(first.heading == "You are signed in")
    let settled = try await stage.browse(SignInStage.link)
    #expect(settled.body.contains("on behalf of <b>\(Sample.alice)</b>"))
    #expect(!settled.body.contains("<fieldset>"))
    let other = "/.bearer/sign-in?route=bobs-orders"
    _ = try await stage.browse(stage.atTheProvider(stage.press(stage.browse(other)), user: Sample.bob))
    let page = try await stage.browse(SignInStage.link)
    #expect(page.body.contains("<fieldset>"))
    #expect(page.body.contains(Sample.alice) && page.body.contains(Sample.bob) && page.body.contains("Another account"))
    let begun = try await stage.press(page, ["account": "c0a7050d-0000-4000-8000-0000000000d2.\(Sample.tenant)"])
    #expect(begun["location"]?.contains("login_hint=bob%40") == true)
    let another = try await stage.press(page, ["account": ""])
    #expect(another["location"]?.contains("prompt=select_account") == true)
    let end = try await stage.browse(stage.atTheProvider(begun, user: Sample.bob))
    #expect(end.heading == "Signed in, but not done")
    #expect(end.body.contains("Several accounts are signed in"))
    // A refusal that no sign-in changes offers none.
    let refused = try await stage.browse("/my/orders/list", ["-H", "Sec-Fetch-Mode: navigate"])
    #expect(refused.status == 401 && refused.body.contains("Name one under the route"))
    #expect(!refused.body.contains("/.bearer/sign-in"))
    #expect(try await stage.proxy.get("/my/orders/list").body.contains("account_ambiguous"))
    #expect(try await !stage.proxy.get("/my/orders/list").body.contains("sign_in"))
  }

  @Test func `pages have one name, and there are none if they are off`() async throws {
    let stage = try await SignInStage()
    let elsewhere = try await curl(["http://127.0.0.1:\(stage.proxy.port)\(SignInStage.link)"])
    #expect(elsewhere.status == 303)
    #expect(elsewhere["location"] == stage.origin + SignInStage.link)
    let head = try await stage.browse(SignInStage.link, ["-I"])
    #expect(head.status == 200)
    // Pages for signing out are a setting of their own.
    for (path, arguments) in [
      ("/.bearer/logout?route=my-orders", []), ("/.bearer/signed-out", []),
      ("/.bearer/logout", ["-d", "route=my-orders"]),
    ] as [(String, [String])] {
      let answer = try await stage.browse(path, arguments)
      #expect(answer.status == 404 && answer.heading == "Nothing here", "\(path)")
    }
    let without = try await SignInStage(signIn: "false")
    #expect(try await without.browse(SignInStage.link).status == 404)
  }
}
