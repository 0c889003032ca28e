// Places in the upstream's own space, as callers get them.

import Bytes
import HTTP
import Testing

@testable import Proxy

@Suite struct RelocationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var reference: String
    /// The callers' value; nil: the upstream's.
    var expected: String?
    var testDescription: String { reference }
  }

  private func relocated(
    _ reference: String, _ route: Route, callerHost: String = "", scheme: HTTPScheme = .http
  ) -> String? {
    let bytes = Array(reference.utf8)
    let host = Array(callerHost.utf8)
    let caller = CallerAddress(host: host.span, scheme: scheme)
    guard let place = Relocation(of: bytes.span, route: route, caller: caller) else { return nil }
    var output = ByteBuffer(capacity: 64)
    place.write(bytes.span, route: route, into: &output)
    return output.text
  }

  /// The route has the path /orders/ and the upstream https://api.example/v1/.
  private static let rows = [
    Row(reference: "https://api.example/v1/7", expected: "/orders/7"),
    Row(reference: "HTTPS://API.EXAMPLE/v1/7?a=/../b#../c", expected: "/orders/7?a=/../b#../c"),
    Row(reference: "https://api.example:443/v1/", expected: "/orders/"),
    Row(reference: "https://api.example:/v1/", expected: "/orders/"),
    Row(reference: "/v1/7", expected: "/orders/7"), Row(reference: "/v1/", expected: "/orders/"),
    Row(reference: "/v1/a/../7", expected: "/orders/a/../7"),
    Row(reference: "/v1/../admin"), Row(reference: "/v1/%2e%2e/admin"), Row(reference: "/v1/..%2fadmin"),
    Row(reference: "/v2/7"), Row(reference: "/V1/7"), Row(reference: "/v11/7"),
    // The route takes /orders for the upstream's /v1.
    Row(reference: "/v1", expected: "/orders"), Row(reference: "/v1?a", expected: "/orders?a"),
    Row(reference: "https://api.example/v1#a", expected: "/orders#a"),
    // An authority without a scheme has the scheme of the request (RFC 3986 §4.2).
    Row(reference: "//api.example/v1/7", expected: "/orders/7"),
    Row(reference: "//API.example:443/v1/7", expected: "/orders/7"),
    Row(reference: "//api.example:80/v1/7"), Row(reference: "//elsewhere.example/v1/7"), Row(reference: "///v1/7"),
    Row(reference: "//api.example@evil/v1/7"), Row(reference: "//api.example\\@evil/v1/7"),
    Row(reference: "http://api.example/v1/7"), Row(reference: "http://api.example:443/v1/7"),
    Row(reference: "https://api.example:8443/v1/7"), Row(reference: "https://api.example.evil/v1/7"),
    Row(reference: "https://api.example@evil/v1/7"), Row(reference: "https://elsewhere.example/v1/7"),
    Row(reference: "https:evil"), Row(reference: "https:/v1/7"), Row(reference: "https:///v1/7"),
    Row(reference: "7"), Row(reference: "?page=2"), Row(reference: ""), Row(reference: "/"), Row(reference: "//"),
    Row(reference: "https://api.example"), Row(reference: "https://api.example/"), Row(reference: "https://"),
    // Below a path of its own no slash makes an authority.
    Row(reference: "/v1//evil.test/x", expected: "/orders//evil.test/x"),
    Row(reference: "/v1/\\evil.test/x"), Row(reference: "/v1/\t/evil.test/x"),
  ]

  @Test(arguments: rows) func `a place in the upstream's own space becomes one of the proxy's`(row: Row) throws {
    #expect(relocated(row.reference, try Route("/orders/", upstream: "https://api.example/v1/")) == row.expected)
  }

  @Test(arguments: [
    Row(reference: "http://127.0.0.1:9000/a", expected: "/a"), Row(reference: "/a", expected: "/a"),
    Row(reference: "/", expected: "/"), Row(reference: "//evil/a"), Row(reference: "http://127.0.0.1/a"),
    Row(reference: "http://127.0.0.1:9000", expected: "/"), Row(reference: "http://127.0.0.1:9000?a", expected: "/?a"),
    Row(reference: "//127.0.0.1:9000/a", expected: "/a"),
  ])
  func `on the root everything of the origin is its own space`(row: Row) throws {
    #expect(relocated(row.reference, try Route("/", upstream: "http://127.0.0.1:9000/")) == row.expected)
  }

  private static let redirects = [
    "//evil.test/x", "///evil.test/x", "/\\evil.test/x", "/\\/evil.test/x", "\\\\evil.test", "/\t/evil.test/x",
    "\t//evil.test/x", "/.//evil.test/x", "/a/..//evil.test/x", "/%2fevil.test/x", "/%5cevil.test/x", "//evil.test",
    "//evil.test@127.0.0.1:9000/x", "/ /evil.test/x", "/\u{1}/evil.test/x", "//", "/;//evil.test", "/?//evil.test",
  ]

  /// Readers take tabs and line ends out of a reference, and backslashes for slashes (WHATWG URL §4.4), before they
  /// look for an authority behind two slashes.
  private func namesAnAuthority(_ reference: String) -> Bool {
    let read = reference.filter { $0 != "\t" && $0 != "\r" && $0 != "\n" }.map { $0 == "\\" ? "/" : $0 }
    return String(read.drop { $0 <= " " }).hasPrefix("//")
  }

  @Test(arguments: redirects, [("/", "/"), ("/", "/v1/"), ("/a/", "/"), ("/a/", "/v1/")])
  func `no redirect of our own making names an authority of the upstream's choice`(
    tail: String, _ paths: (route: String, upstream: String)
  ) throws {
    let route = try Route(paths.route, upstream: "http://127.0.0.1:9000\(paths.upstream)")
    for start in ["http://127.0.0.1:9000", "//127.0.0.1:9000", ""] {
      for base in [paths.upstream, String(paths.upstream.dropLast())] {
        let reference = start + base + tail
        guard let written = relocated(reference, route) else { continue }
        #expect(!namesAnAuthority(written), "\(reference) became \(written)")
        #expect(written.hasPrefix("/"))
      }
    }
  }

  @Test func `an empty segment at the front of the root's space stays one`() throws {
    let root = try Route("/", upstream: "http://127.0.0.1:9000/")
    #expect(relocated("http://127.0.0.1:9000//bucket/x", root) == "/.//bucket/x")
    #expect(relocated("http://127.0.0.1:9000///x?a", root) == "/.///x?a")
    let below = try Route("/", upstream: "http://127.0.0.1:9000/v1/")
    #expect(relocated("/v1//bucket/x", below) == "/.//bucket/x")
  }

  @Test(arguments: [
    Row(reference: "http://App.example/v1/7", expected: "/orders/7"),
    Row(reference: "https://app.example/v1/7", expected: "/orders/7"),
    Row(reference: "http://app.example:80/v1/7", expected: "/orders/7"),
    Row(reference: "//app.example/v1/7", expected: "/orders/7"),
    Row(reference: "https://api.example/v1/7", expected: "/orders/7"),
    Row(reference: "http://app.example/v2/7"), Row(reference: "http://app.example:8080/v1/7"),
    Row(reference: "http://app.example.evil/v1/7"), Row(reference: "http://app.example@evil/v1/7"),
    Row(reference: "http://evil/v1/7"), Row(reference: "http://app.example/v1/../x"),
  ])
  func `the caller's own host is the upstream's if the upstream is told it`(row: Row) throws {
    let route = try Route("/orders/", upstream: "https://api.example/v1/", preservesHost: true)
    #expect(relocated(row.reference, route, callerHost: "app.example") == row.expected)
    #expect(relocated("http://[::1]:8080/v1/7", route, callerHost: "[::1]:8080") == "/orders/7")
    #expect(relocated("http://[::1]:8081/v1/7", route, callerHost: "[::1]:8080") == nil)
  }

  @Test(
    arguments: [
      // The upstream wants callers to change to https. Led back here, they would be told so for ever.
      ("http", HTTPScheme.http, "https://app.example/v1/7", nil), ("http", .http, "https://app.example:8080/v1/7", nil),
      ("http", .http, "http://app.example:8080/v1/7", "/orders/7"),
      ("http", .http, "//app.example:8080/v1/7", "/orders/7"),
      // It was told that its caller came by https, or does not look at that.
      ("http", .https, "https://app.example:8080/v1/7", "/orders/7"),
      ("http", .https, "http://app.example:8080/v1/7", "/orders/7"),
      // It is one of https itself.
      ("https", .http, "https://app.example:8080/v1/7", "/orders/7"),
      ("https", .https, "http://app.example:8080/v1/7", nil),
    ] as [(String, HTTPScheme, String, String?)])
  func `the caller's own host counts in a scheme that one of the two hops has`(
    upstream: String, caller: HTTPScheme, reference: String, expected: String?
  ) throws {
    let route = try Route("/orders/", upstream: "\(upstream)://api.example/v1/", preservesHost: true)
    #expect(relocated(reference, route, callerHost: "app.example:8080", scheme: caller) == expected)
  }
}
