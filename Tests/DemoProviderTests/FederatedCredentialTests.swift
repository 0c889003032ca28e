// Other issuers' tokens in the place of a secret: those that are accepted, and the reasons for refusing others.

import Bytes
import TestSupport
import Testing
import Tokens

@testable import DemoProvider

@Suite struct FederatedCredentialTests {
  typealias Sample = DemoFixture.Sample

  private func answer(
    _ assertion: String, type: String = "jwt-bearer", client: String = Sample.portal, more: String = ""
  )
    throws -> DemoAnswer
  {
    let form =
      "grant_type=client_credentials&client_id=\(client)&scope=api%3A%2F%2Forders%2F.default&client_assertion=\(assertion)"
      + "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3A\(type)\(more)"
    return try DemoFixture.provider().answer(DemoFixture.tokenRequest(form), now: DemoFixture.now)
  }

  @Test func `the service account's token brings the application's own`() throws {
    let answer = try answer(DemoFixture.cluster.get().token(now: DemoFixture.now))
    let token = try SignedJWT(try #require(DemoFixture.json(answer)["access_token"]?.text))
    #expect(answer.status == 200 && token.claims.roles == ["Orders.Read", "Orders.Write"])
  }

  @Test(arguments: ["subject", "audience", "time", "issuer", "key", "form", "type", "secret", "client"])
  func `a token that is another's, for another or over is refused`(flaw: String) throws {
    let now = DemoFixture.now
    let cluster = try DemoFixture.cluster.get()
    let (answer, code): (DemoAnswer, Int) =
      switch flaw {
      case "subject":
        (try answer(cluster.token(subject: "system:serviceaccount:orders:other", now: now)), 70021)
      case "audience": (try answer(cluster.token(audience: "https://kubernetes.default.svc", now: now)), 70021)
      case "time": (try answer(cluster.token(lifetime: 60, now: now - 61)), 700024)
      case "issuer": (try answer(FederatedIssuer("https://other.example").token(now: now)), 70021)
      case "key": (try answer(FederatedIssuer(cluster.name).token(now: now)), 70021)
      case "form": (try answer("e30.e30"), 9_002_313)
      case "type": (try answer(cluster.token(now: now), type: "saml2-bearer"), 9_002_313)
      case "secret": (try answer(cluster.token(now: now), more: "&client_secret=s3cret%2B%26%3D"), 9_002_313)
      default: (try answer(cluster.token(now: now), client: Sample.visitor), 70021)
      }
    #expect(answer.status == (code == 9_002_313 ? 400 : 401))
    #expect(try DemoFixture.json(answer)["error_description"]?.text?.hasPrefix("AADSTS\(code):") == true, "\(answer)")
  }
}
