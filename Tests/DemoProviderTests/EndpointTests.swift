// The endpoint of each path.

import Testing

@testable import DemoProvider

@Suite("Endpoints") struct EndpointTests {
  @Test(arguments: Endpoint.allCases) func `an endpoint is found at its own path`(endpoint: Endpoint) throws {
    let found = try Endpoint.find(endpoint.path("t"))
    #expect(found.0 == endpoint && (!endpoint.hasTenant || found.segment == "t"))
  }

  @Test(arguments: [
    "", "//", "//v2.0/.well-known/openid-configuration", "/t/v2.0/.well-known/openid-configuration/", "/t/oauth2/token",
    "/t/t/oauth2/v2.0/token", "t/oauth2/v2.0/token", "/t/OAUTH2/v2.0/token",
  ]) func `every other path is none`(path: String) {
    #expect(throws: Refusal.unknownPath) { try Endpoint.find(path) }
  }
}
