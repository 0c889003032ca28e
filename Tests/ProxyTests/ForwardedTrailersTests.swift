// Trailer fields that end here.

import Bytes
import HTTP
import Identity
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct ForwardedTrailersTests {
  private static func trailers() throws -> ForwardedTrailers {
    var rules = CallerRules()
    rules.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
    let lifetime = TokenLifetime(expiresIn: 60, refreshIn: nil, now: UnixTime(0), jitter: 0)
    let route = try Route(
      "/", bearerSlot: 0, choice: TokenChoice(field: "X-Account", values: [("bob", 1)]),
      fixedCredential: FixedCredential(try #require(RouteFieldName("X-API-Key")), Secret("0123456789")),
      requestFields: try RequestFields(
        set: [(try #require(RouteFieldName("X-Tenant")), "contoso")],
        removed: [try #require(RouteFieldName("X-Debug"))]))
    return ForwardedTrailers(
      credential: .bearer(BearerValue(Secret("t0k3n"), lifetime: lifetime, scopes: .none)),
      callers: CallerCheck(names: nil, rules: rules), route: route)
  }

  @Test(arguments: [
    ("X-Checksum: 1", true), ("X-Key: 0123456789abcdef", false), ("x-key: other", false), ("X-Account: bob", false),
    ("X-Echo: a t0k3n", false), ("X-t0k3n: 1", false), ("X-HTTP-Method-Override: DELETE", false),
    ("X-Original-URL: /admin", false), ("X_Original_URL: /admin", false), ("Authorization: Bearer x", false),
    ("X-API-Key: own", false), ("x_tenant: own", false), ("X-Debug: 1", false),
  ])
  func `fields that end here in a head end here in trailers`(line: String, isForwarded: Bool) throws {
    let bytes = Array("\(line)\r\n\r\n".utf8)
    var parser = TrailerParser()
    _ = parser.parse(bytes.span, limits: HeadLimits())
    #expect(try Self.trailers().forwards(parser.fields[0], in: bytes.span) == isForwarded)
  }
}
