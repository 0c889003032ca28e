// The cookies of an upstream on the listener's origin.

import Bytes
import Testing

@testable import Proxy

@Suite struct UpstreamCookieTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var route = "/orders/"
    var upstream = "https://api.example/v1/"
    var cookie: String
    /// The callers' field; nil: none.
    var expected: String?
    var testDescription: String { "\(route) \(cookie)" }
  }

  private static let ofTheRoute = [
    // The whole origin, nothing said, and another service's space.
    "a=1; Path=/", "a=1", "a=1; Path=/billing", "a=1; Path=/.bearer/", "a=1; Path=", "a=1; Path", "a=1; Path=x",
    "a=1; Path=\"/\"",
    // The upstream's own space, and beside it.
    "a=1; Path=/v1/", "a=1; Path=/v1", "a=1; Path=/v11/x", "a=1; Path=/V1/x",
    // The listener's host alone.
    "a=1; Domain=example; Path=/", "a=1; dOmAiN = .localhost",
  ].map { Row(cookie: $0, expected: "a=1; Path=/orders") }

  /// The sign-in pages' own, in every spelling that reaches them: one without a name is sent as its value.
  private static let ofThePages = [
    "bearer-sign-in-8080=x; Path=/", "bearer-sign-in-1=x", " \tbearer-sign-in-1=x",
    "__Host-bearer-sign-in-8443=x; Path=/; Secure", "=bearer-sign-in-8080=x", "= bearer-sign-in-8080=x",
    "bearer-sign-in-8080",
  ].map { Row(cookie: $0) }

  private static let others = [
    // The upstream's own space becomes the route's.
    Row(cookie: "a=1; Path=/v1/7", expected: "a=1; Path=/orders/7"),
    Row(cookie: "a=1; Path=/v1/../../x", expected: "a=1; Path=/orders/../../x"),
    Row(upstream: "https://api.example/", cookie: "a=1; Path=/7", expected: "a=1; Path=/orders/7"),
    Row(route: "/", upstream: "https://api.example/", cookie: "a=1; Path=/7", expected: "a=1; Path=/7"),
    Row(route: "/", upstream: "https://api.example/", cookie: "a=1; Path=/", expected: "a=1; Path=/"),
    Row(route: "/", cookie: "a=1; Path=/v1/7", expected: "a=1; Path=/7"),
    Row(route: "/", cookie: "a=1", expected: "a=1"),
    // Browsers take the last of several, whatever its case and the blanks around it.
    Row(cookie: "a=1; path=/v1/7; PATH = / ; Secure", expected: "a=1; Secure; Path=/orders"),
    Row(cookie: "a=1;\tPath\t=\t/v1/7", expected: "a=1; Path=/orders/7"),
    Row(cookie: "a=1;Path=/v1/7;", expected: "a=1;; Path=/orders/7"),
    // Everything else as it is.
    Row(
      cookie:
        "a=\"x, y\"; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=60; HttpOnly; SameSite=None; Partitioned; Secure",
      expected:
        "a=\"x, y\"; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=60; HttpOnly; SameSite=None; Partitioned; Secure; "
        + "Path=/orders"),
    Row(cookie: "__Host-a=1; Path=/; Secure", expected: "__Host-a=1; Secure; Path=/orders"),
    Row(cookie: "path=/; Path=/", expected: "path=/; Path=/orders"), Row(cookie: "", expected: "; Path=/orders"),
    Row(cookie: "my-bearer-sign-in-8080=x", expected: "my-bearer-sign-in-8080=x; Path=/orders"),
    Row(cookie: "bearer-sign-in=x", expected: "bearer-sign-in=x; Path=/orders"),
  ]

  @Test(arguments: ofTheRoute + ofThePages + others)
  func `a cookie of an upstream is its route's, and never one of the sign-in pages`(
    row: Row
  ) throws {
    var output = ByteBuffer(capacity: 16)
    let value = Array(row.cookie.utf8)
    UpstreamCookie.write(value.span, route: try Route(row.route, upstream: row.upstream), into: &output)
    #expect(output.text == (row.expected.map { "Set-Cookie: \($0)\r\n" } ?? ""))
  }
}
