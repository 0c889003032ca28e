// Places in the upstream's own space, and fields that repeat the token.

import HTTP
import Identity
import Testing
import Tokens

@testable import Proxy

@Suite struct ResponseFieldRuleTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var reference: String
    /// What callers get; nil: what the upstream wrote.
    var expected: String?
    var testDescription: String { reference }
  }

  /// The route has the path /orders/ and the upstream https://api.example/v1/.
  private static let rows = [
    Row(reference: "https://api.example/v1/7", expected: "/orders/7"),
    Row(reference: "HTTPS://API.EXAMPLE/v1/7?a=/../b#../c", expected: "/orders/7?a=/../b#../c"),
    Row(reference: "https://api.example:443/v1/", expected: "/orders/"),
    Row(reference: "/v1/7", expected: "/orders/7"), Row(reference: "/v1/", expected: "/orders/"),
    Row(reference: "/v1/a/../7", expected: "/orders/a/../7"),
    Row(reference: "/v1/../admin"), Row(reference: "/v1/%2e%2e/admin"), Row(reference: "/v1/..%2fadmin"),
    Row(reference: "/v2/7"), Row(reference: "/V1/7"), Row(reference: "/v1"), Row(reference: "/v11/7"),
    Row(reference: "//api.example/v1/7"), Row(reference: "http://api.example/v1/7"),
    Row(reference: "https://api.example:8443/v1/7"), Row(reference: "https://api.example.evil/v1/7"),
    Row(reference: "https://api.example@evil/v1/7"), Row(reference: "https://elsewhere.example/v1/7"),
    Row(reference: "7"), Row(reference: "?page=2"), Row(reference: ""), Row(reference: "/"), Row(reference: "//"),
    Row(reference: "https://api.example"), Row(reference: "https://api.example/"),
  ]

  private func route(_ path: String = "/orders/", _ upstream: String = "https://api.example/v1/") throws -> Route {
    try Route(path, upstream: upstream)
  }

  @Test(arguments: rows) func `a place in the upstream's own space becomes one of the proxy's`(row: Row) throws {
    let route = try route()
    let reference = Array(row.reference.utf8)
    let suffix = ResponseFieldRule.suffix(of: reference.span, route)
    let written = suffix.map { String(decoding: route.path + reference[$0...], as: UTF8.self) }
    #expect(written == row.expected)
  }

  @Test func `on the root everything of the origin is its own space`() throws {
    let route = try route("/", "http://127.0.0.1:9000/")
    for (reference, expected) in [
      ("http://127.0.0.1:9000/a", "/a" as String?), ("/a", "/a"), ("/", "/"), ("//evil/a", nil),
      ("http://127.0.0.1/a", nil),
    ] {
      let bytes = Array(reference.utf8)
      let suffix = ResponseFieldRule.suffix(of: bytes.span, route)
      #expect(suffix.map { "/" + String(decoding: bytes[$0...], as: UTF8.self) } == expected, "\(reference)")
    }
  }

  @Test(arguments: [
    ("t0k3n-of-some-length", true), ("Bearer t0k3n-of-some-length", true), ("x=t0k3n-of-some-length; y", true),
    ("t0k3n-of-some-lengt", false), ("T0K3N-OF-SOME-LENGTH", false), ("", false), ("t0k3n-of-some-lengthless", true),
    ("t0t0k3n-of-some-length", true),
  ])
  func `a field that repeats the token is noticed`(value: String, repeats: Bool) {
    let lifetime = TokenLifetime(expiresIn: 60, refreshIn: nil, now: UnixTime(0), jitter: 0)
    let bearer = BearerValue(Secret("t0k3n-of-some-length"), lifetime: lifetime, scopes: .none)
    #expect(ResponseFieldRule.repeats(bearer, Array(value.utf8).span) == repeats)
  }
}
