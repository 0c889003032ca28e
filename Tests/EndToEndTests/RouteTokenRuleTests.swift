// What a route does about a token that a caller brings, that cannot be had, or that a person has to sign in for: with
// the built program between curl and the sample API.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RouteTokenRuleTests {
  @Test func `a caller's own token is replaced, kept or refused, and a missing one fails or is done without`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let settings = DemoSettings(directory: directory.path)
    let services = try DemoServices(settings)
    func route(_ name: String, _ application: String, _ rest: String) -> String {
      """
        - {name: \(name), path: /\(name)/, upstream: "\(services.apiOrigin)/api/", application: \(application),
           token: {as: application, scopes: ["api://orders/.default"]\(rest)}}

      """
    }
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      applications:
        portal:
          authority: \(services.issuer)
          client_id: \(DemoDirectory.Sample.portal)
          client_secret_file: \(settings.secretPath)
          tls: {ca_file: \(settings.authorityPath)}
        away: {authority: "http://127.0.0.1:9/", client_id: nobody, client_secret: nobodys-secret}
      defaults: {tls: {ca_file: \(settings.authorityPath)}}
      routes:

      """ + route("replaced", "portal", "") + route("kept", "portal", ", existing: keep")
        + route("refused", "portal", ", existing: reject") + route("failing", "away", "")
        + route("without", "away", ", when_unavailable: forward_without"))
    let own = ["-H", "Authorization: Bearer of-the-caller"]
    for (path, arguments, status, words) in [
      ("/replaced/me", own, 200, DemoDirectory.Sample.portal), ("/replaced/me", [], 200, DemoDirectory.Sample.portal),
      ("/kept/me", own, 401, "error"), ("/kept/me", [], 200, DemoDirectory.Sample.portal),
      ("/refused/me", own, 400, "existing: reject"), ("/refused/me", [], 200, DemoDirectory.Sample.portal),
      ("/failing/me", [], 503, "identity-provider-unavailable"), ("/without/me", [], 401, "a bearer token is needed"),
    ] {
      let answer = try await proxy.get(path, arguments)
      #expect(answer.status == status, "\(path) \(arguments): \(answer.status) \(answer.body)")
      #expect(answer.body.contains(words), "\(path) \(arguments): \(answer.body)")
    }
    await services.stop()
  }

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
