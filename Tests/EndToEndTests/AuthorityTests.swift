// The authority's side: how the application proves itself, and metadata that is not to be believed.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct AuthorityTests {
  @Test(arguments: ["client_secret_basic", "client_secret_post"])
  func `the application proves itself in the way its provider takes`(_ method: String) async throws {
    let scene = try await ProviderScene(["--auth-method", method])
    #expect(try await scene.proxy.get("/orders/seen").body.contains("Authorization: Bearer eyJ"))
    #expect(try await scene.provider.requests(to: "token") == 1)
  }

  @Test(arguments: [
    #""status": 404"#, #""status": 200, "body": "<html>""#,
    #""status": 200, "body": "{\"issuer\": \"https://other.example\", \"token_endpoint\": "#
      + #"\"https://other.example/t\"}""#,
  ])
  func `metadata that is not the authority's is a 502 that says so, and no secret goes anywhere`(_ answer: String)
    async throws
  {
    let scene = try await ProviderScene { try await $0.behave(#"{"endpoint": "discovery", \#(answer)}"#) }
    let refused = try await scene.proxy.get("/orders/seen")
    #expect(refused.status == 502)
    #expect(refused.body.contains("problem:authority-unusable") && refused.body.contains(#""route":"orders""#))
    #expect(!refused.body.contains("other.example") && !refused.body.contains("\(scene.provider.port)"))
    #expect(scene.upstream.requests.isEmpty)
    #expect(try await scene.provider.requests(to: "token") == 0)
    #expect(try await scene.proxy.admin("/readyz").body.contains("authority-unusable"))
  }
}
