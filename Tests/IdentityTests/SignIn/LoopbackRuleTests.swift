// The loopback listener of a sign-in: its requests, redirect URIs, and permitted connections.

import HTTP
import HTTPServer
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite("Loopback rules") struct LoopbackRuleTests {
  private typealias Request = LoopbackRequest

  @Test func `requests have their order, and each counts once`() {
    var rule = LoopbackRule(start: "/s", callback: "/cb", decision: "/d")
    let answer = Request(method: .get, path: "/cb", form: Array("code=C".utf8))
    let yes = Request(method: .post, path: "/d", form: Array("keep=yes".utf8))
    #expect(rule.action(for: Request(method: .get, path: "/", form: Array("code=C".utf8))) == .show(.nothingHere))
    #expect(rule.action(for: Request(method: .get, path: "/s", form: [], isAhead: true)) == .show(.nothingHere))
    #expect(rule.action(for: Request(method: .post, path: "/s", form: [])) == .show(.nothingHere))
    #expect(rule.action(for: Request(method: .get, path: "/s", form: [])) == .begin)
    #expect(rule.action(for: Request(method: .get, path: "/s", form: [])) == .show(.begunBefore))
    #expect(rule.action(for: Request(method: .get, path: "/cb", form: [])) == .show(.nothingHere))
    // The state judges the sender of an answer, not this rule: both are looked at until one is taken.
    #expect(rule.action(for: answer) == .answer(Array("code=C".utf8)))
    #expect(rule.action(for: answer) == .answer(Array("code=C".utf8)))
    #expect(rule.action(for: yes) == .show(.nothingHere))
    #expect(rule.takesAnswer() && !rule.takesAnswer())
    #expect(rule.action(for: answer) == .show(.answeredBefore))
    rule.ask()
    var foreign = yes
    foreign.isFromOtherPage = true
    #expect(rule.action(for: foreign) == .show(.nothingHere))
    #expect(rule.action(for: Request(method: .get, path: "/d", form: Array("keep=yes".utf8))) == .show(.nothingHere))
    #expect(rule.action(for: yes) == .decision(true))
    #expect(rule.action(for: yes) == .show(.nothingHere), "asked once")
  }

  @Test(arguments: ["keep=no", "keep=yes&keep=no", "", "keep=YES"]) func `only yes keeps`(form: String) {
    var rule = LoopbackRule(start: "/s", callback: "/cb", decision: "/d")
    rule.ask()
    #expect(rule.action(for: Request(method: .post, path: "/d", form: Array(form.utf8))) == .decision(false))
  }

  @Test(arguments: [
    ("http://localhost", "http://localhost:7", "/"), ("http://localhost/", "http://localhost:7/", "/"),
    ("http://127.0.0.1/cb", "http://127.0.0.1:7/cb", "/cb"),
    ("http://localhost:8400/a/b", "http://localhost:7/a/b", "/a/b"),
  ]) func `a redirect URI of this machine is taken as it is written`(text: String, uri: String, path: String) throws {
    let redirect = try #require(LoopbackRedirect(text))
    #expect(redirect.uri(port: 7) == uri)
    #expect(redirect.requestPath == path)
    #expect(redirect.description == text)
    #expect(redirect.port == (text.contains("8400") ? 8400 : nil))
  }

  @Test(arguments: [
    "", "localhost", "https://localhost", "http://evil.example", "http://localhost.evil.example",
    "http://localhost@evil",
    "http://user@localhost", "http://localhost:0", "http://localhost:99999", "http://localhost:08400",
    "http://localhost:",
    "http://localhost/a?b", "http://localhost/a#b", "http://localhost/../a", "http://localhost/%61",
    "http://localhost/a b",
    "http://[::1]/", "http://127.0.0.2", "HTTP://localhost",
  ]) func `another address is no redirect URI of this machine`(text: String) {
    #expect(LoopbackRedirect(text) == nil)
  }

  @Test func `an application's own place is another one than the shared`() {
    #expect(LoopbackRedirect(CallbackPath.shared).uri(port: 7) == "http://localhost:7")
    #expect(
      LoopbackRedirect(CallbackPath.own(application: "a"), port: 9).description
        == "http://localhost:9/.bearer/callback/a")
  }

  @Test func `pages escape names and run nothing of others`() {
    let evil = "<script>\"'&"
    for page: LoopbackPage in [
      .kept(name: evil, application: evil), .asked(name: evil, application: evil, decision: "/d"),
      .askedElsewhere(name: evil, application: evil),
    ] {
      let response = page.response
      guard case .whole(let bytes) = response.content else {
        _ = Issue.record("a page is sent whole")
        return
      }
      let text = String(decoding: bytes, as: UTF8.self) + response.fields.map { "\($0.name): \($0.value)\n" }.joined()
      // The one script is the page's own, which takes the query out of the address bar.
      let others = text.replacing("<script>history.replaceState(null,'',location.pathname)</script>", with: "")
      #expect(!others.contains("<script") && text.contains("&lt;script&gt;&quot;&#39;&amp;"))
      #expect(text.contains("default-src 'none'") && text.contains("frame-ancestors 'none'"))
    }
  }
}
