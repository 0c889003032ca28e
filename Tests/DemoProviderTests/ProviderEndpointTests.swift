// The endpoint of each path.

import Testing

@testable import DemoProvider

@Suite("Provider endpoints") struct ProviderEndpointTests {
  @Test(
    arguments: [
      ProviderEndpoint.root, .metadata(tenant: "t"), .keys(tenant: "t"), .token(tenant: "t"), .authorize(tenant: "t"),
      .interaction(tenant: "t"), .deviceAuthorization(tenant: "t"), .logout(tenant: "t"), .device,
    ] + TestingTask.allCases.map(ProviderEndpoint.testing))
  func `an endpoint is found at its own path`(endpoint: ProviderEndpoint) {
    #expect(ProviderEndpoint(path: endpoint.path) == endpoint)
  }

  @Test(arguments: [
    "", "//", "//v2.0/.well-known/openid-configuration", "/t/v2.0/.well-known/openid-configuration/", "/t/oauth2/token",
    "/t/t/oauth2/v2.0/token", "t/oauth2/v2.0/token", "/t/OAUTH2/v2.0/token",
  ]) func `every other path is none`(path: String) {
    #expect(ProviderEndpoint(path: path) == nil)
  }
}
