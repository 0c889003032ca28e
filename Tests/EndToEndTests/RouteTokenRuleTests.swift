// A route's answer if a person has to sign in: with the built program between curl and the sample API.

import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RouteTokenRuleTests {
  @Test func `only a browser on its way to a page is redirected to the sign-in page, where a route says so`()
    async throws
  {
    let stage = try await SignInStage()
    let path = "/bobs/orders/list?a=1"
    let link = "\(stage.origin)/.bearer/sign-in?route=bobs-orders"
    for (arguments, status, type) in [
      (["-H", "Sec-Fetch-Mode: navigate"], 303, nil), (["-H", "Accept: text/html"], 303, nil),
      ([], 401, "application/problem+json"), (["-H", "Sec-Fetch-Mode: cors"], 401, "application/problem+json"),
      (["-H", "Sec-Fetch-Mode: navigate", "-d", "a=b"], 401, "text/html; charset=utf-8"),
    ] as [([String], Int, String?)] {
      let answer = try await stage.browse(path, arguments)
      #expect(answer.status == status, "\(arguments): \(answer.body)")
      if status == 303 {
        #expect(answer["location"] == link + "&return=%2Fbobs%2Forders%2Flist%3Fa%3D1")
      } else {
        #expect(answer["location"] == nil)
        #expect(answer["content-type"] == type)
        #expect(answer.body.contains(link))
        #expect(answer["www-authenticate"]?.hasPrefix("Bearer ") == true)
      }
      #expect(answer["cache-control"] == "no-store")
    }
    // The usual route answers every one of them alike, with a page for people.
    let page = try await stage.browse("/my/orders/list", ["-H", "Sec-Fetch-Mode: navigate"])
    #expect(page.status == 401)
    #expect(page.body.contains("<form method=\"post\" action=\"/.bearer/sign-in\">"))
    #expect(page.body.between("name=\"return\" value=\"", "\"") == "/my/orders/list")
    await stage.services.stop()
  }
}
