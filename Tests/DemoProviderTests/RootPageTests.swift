// The provider's first page: it names every user, and what it offers can be done.

import HTTPServer
import Testing

@testable import DemoProvider

@Suite("Root page") struct RootPageTests {
  typealias Sample = DemoFixture.Sample

  @Test func `it lists users and their password, and each link and task works`() throws {
    let provider = try DemoFixture.provider()
    let page = provider.answer(DemoRequest(method: "GET", path: "/"), now: DemoFixture.now)
    #expect(page.status == 200)
    #expect(page.field("content-security-policy")?.contains("default-src 'none'") == true)
    for words in [Sample.alice, Sample.bob, Sample.fay, Sample.password, Sample.portal, Sample.desk] {
      #expect(page.text.contains(words), "\(words)")
    }
    let links = page.text.matches(of: /href="(\/[^"]+)"/).map { String($0.1) }
    #expect(links.count == 4)
    for link in links {
      #expect(provider.answer(DemoRequest(method: "GET", path: link), now: DemoFixture.now).status == 200, "\(link)")
    }
    let tasks = page.text.matches(of: /<small>(\/testing\/[^<]+)</).map { String($0.1) }
    #expect(tasks.count == 3)
    let subject = try #require(page.text.firstMatch(of: /POST with <small>([^<]+)</)).1.replacing("&quot;", with: "\"")
    for task in tasks {
      let request = DemoRequest(method: "POST", path: task, body: .whole(Array(subject.utf8)))
      #expect(provider.answer(request, now: DemoFixture.now).status == 200, "\(task)")
    }
  }
}
