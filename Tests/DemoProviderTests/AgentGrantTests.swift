// Agent identities at the sample provider: what proves one, what it gets, and what is refused.

import Bytes
import Testing
import Tokens

@testable import DemoProvider

@Suite struct AgentGrantTests {
  typealias Sample = DemoFixture.Sample

  private static let provider = Result { try DemoFixture.provider() }

  private func ask(_ form: String) throws -> [String: JSONValue] {
    let answer = try Self.provider.get().answer(DemoFixture.tokenRequest(form), now: DemoFixture.now)
    return try DemoFixture.json(answer)
  }

  private func token(_ form: String) throws -> String { try #require(ask(form)["access_token"]?.text) }

  private static let exchange = "api%3A%2F%2FAzureADTokenExchange%2F.default"

  private func first(client: String = Sample.blueprint, agent: String = Sample.agent, scope: String = exchange)
    -> String
  {
    DemoFixture.form(client: client, scope: scope) + "&fmi_path=\(agent)"
  }

  private func proven(_ proof: String, _ form: String) -> String {
    "\(form)&client_id=\(Sample.agent)&client_assertion=\(proof)"
      + "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
  }

  private func second(_ proof: String) -> String {
    proven(proof, "grant_type=client_credentials&scope=\(Self.exchange)")
  }

  private func third(_ proof: String, _ own: String, user: String = "username=\(Sample.agentUser)") -> String {
    proven(
      proof, "grant_type=user_fic&user_federated_identity_credential=\(own)&\(user)&scope=api%3A%2F%2Forders%2F.default"
    )
  }

  @Test func `a blueprint's token proves its agent, for itself and for its account`() throws {
    let proof = try token(first())
    let claims = try SignedJWT(proof).claims
    #expect(claims.audiences == ["api://AzureADTokenExchange"])
    #expect(claims.subject == "/eid1/c/pub/t/\(Sample.tenant)/a/\(Sample.blueprint)/\(Sample.agent)")
    let itself = try SignedJWT(
      token(proven(proof, "grant_type=client_credentials&scope=api%3A%2F%2Forders%2F.default"))
    ).claims
    #expect(itself.application == Sample.agent && itself.roles == ["Orders.Read"] && itself.identityType == "app")
    let own = try token(second(proof))
    for user in ["username=\(Sample.agentUser)", "user_id=\(Sample.agentUserObject)"] {
      let account = try SignedJWT(token(third(proof, own, user: user))).claims
      #expect(account.application == Sample.agent && account.object == Sample.agentUserObject)
      #expect(account.scopes == ["Orders.Read"] && account.roles.isEmpty)
    }
  }

  @Test func `a token of no agent, or of another agent, is refused`() throws {
    let proof = try token(first())
    let own = try token(second(proof))
    let refusals: [(form: String, code: Int)] = [
      (first(agent: Sample.portal), 700016), (first(client: Sample.portal), 700016),
      (first(scope: "api%3A%2F%2Forders%2F.default"), 90023),
      (DemoFixture.form(client: Sample.portal, scope: Self.exchange), 500011), (second(own), 70021),
      (third(proof, proof), 50013), (third(proof, own, user: "username=\(Sample.alice)"), 50013),
      (third(proof, own, user: "user_id=\(Sample.agentUserObject)&username=\(Sample.agentUser)"), 9_002_313),
      (third(own, own), 70021),
    ]
    for (form, code) in refusals {
      #expect(try ask(form)["error_description"]?.text?.hasPrefix("AADSTS\(code):") == true, "\(form)")
    }
  }
}
