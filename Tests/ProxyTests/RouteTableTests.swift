// The route of a request.

import Testing

@testable import Proxy

@Suite struct RouteTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var routes: [String]
    var request: String
    var expected: String
    var testDescription: String { "\(routes) \(request)" }
  }

  // A route is `[host]path [METHOD]`; an expectation is the position of the route, `none`, or `405` and a position.
  private static let rows = [
    Row(routes: ["/a/", "/a/b/"], request: "/a/b/c GET", expected: "1"),
    Row(routes: ["/a/b/", "/a/"], request: "/a/c GET", expected: "1"),
    Row(routes: ["/a/"], request: "/ab GET", expected: "none"),
    Row(routes: ["/a/"], request: "/a GET", expected: "0"),
    Row(routes: ["/"], request: "/anything GET", expected: "0"),
    Row(routes: ["/a/"], request: "/ GET", expected: "none"),
    // A route of the request's own host comes before a longer path of any host.
    Row(routes: ["/a/b/", "one.example/a/"], request: "one.example/a/b/ GET", expected: "1"),
    Row(routes: ["/a/b/", "one.example/a/"], request: "two.example/a/b/ GET", expected: "0"),
    Row(routes: ["one.example/a/"], request: "ONE.Example/a/ GET", expected: "0"),
    Row(routes: ["one.example/a/"], request: "/a/ GET", expected: "none"),
    // Among routes of one host and path the method decides.
    Row(routes: ["/a/ POST", "/a/ GET"], request: "/a/ GET", expected: "1"),
    Row(routes: ["/a/ POST", "/a/"], request: "/a/ DELETE", expected: "1"),
    Row(routes: ["/a/ POST"], request: "/a/ GET", expected: "405 0"),
    Row(routes: ["/a/ POST"], request: "/a/ post", expected: "405 0"),
    // A shorter path is another API, and so is the same path of any host.
    Row(routes: ["/a/b/ POST", "/a/ GET"], request: "/a/b/ GET", expected: "405 0"),
    Row(routes: ["one.example/a/ POST", "/a/ GET"], request: "one.example/a/ GET", expected: "405 0"),
    // Routes of other hosts and paths may be between two of one host and path.
    Row(
      routes: ["one.example/a/ POST", "two.example/a/ GET", "one.example/a/ GET"], request: "one.example/a/ GET",
      expected: "2"),
    Row(
      routes: ["one.example/a/ POST", "one.example/b/ GET", "one.example/a/ GET"], request: "one.example/a/ GET",
      expected: "2"),
    Row(routes: ["/a/ POST", "/b/ GET", "/a/ GET"], request: "/a/ GET", expected: "2"),
    // A path that some readers assign to a more particular route does not pass by it.
    Row(routes: ["/", "/a/b/"], request: "/a%2Fb/c GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a//b/c GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "//a/b GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a;x=1/b/c GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a%3Bx/b GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a%253Bx/b GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a;x=%2Fy/b/c GET", expected: "400 0"),
    Row(routes: ["/", "/a@b/"], request: "/a%40b/c GET", expected: "400 0"),
    Row(routes: ["/a/", "/a/b/"], request: "/a/%2Fb/c GET", expected: "400 0"),
    Row(routes: ["/a/", "one.example/a/b/"], request: "one.example/a//b GET", expected: "400 0"),
    Row(routes: ["/a/", "one.example/a/b/"], request: "two.example/a//b GET", expected: "0"),
    Row(routes: ["one.example/a/", "/a/b/"], request: "one.example/a//b GET", expected: "0"),
    // A reader that decodes first ends the path at a query, a fragment or, in C, NUL.
    Row(routes: ["/", "/a/"], request: "/a%3Fx GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "/a%23x GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "/a%253Fx/y GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "/a%2523 GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "/a%2500x GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a/b%3F/c GET", expected: "400 0"),
    Row(routes: ["/", "/a/b/"], request: "/a%2Fb;x%3F GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "///;x=y%3fx/%2561%23 GET", expected: "400 0"),
    Row(routes: ["/", "/a/"], request: "/b%3Fx%23y GET", expected: "0"),
    Row(routes: ["/", "/a/"], request: "/ab%3Fx GET", expected: "0"),
    Row(routes: ["/", "/a/"], request: "/a/b%3Fx%23y GET", expected: "1"),
    Row(routes: ["/", "/a/b/"], request: "/a%3F/b GET", expected: "0"),
    // An unusual path does.
    Row(routes: ["/", "/a/b/"], request: "/a%2Fc/b GET", expected: "0"),
    Row(routes: ["/", "/a/b/"], request: "/c//a/b GET", expected: "0"),
    Row(routes: ["/", "/a/b/"], request: "/c%2Fa%2Fb;x=1/%C3%A9%20 GET", expected: "0"),
    Row(routes: ["/", "/a/b/"], request: "/a/b//c%2Fd;e=f GET", expected: "1"),
    Row(routes: ["/a/", "/b/"], request: "/a/%2Fb/c GET", expected: "0"),
    Row(routes: ["/a/", "/a;x/"], request: "/a/b%2Fc GET", expected: "0"),
    Row(routes: ["/a/", "/a;x/"], request: "/a;x/b%2Fc GET", expected: "1"),
  ]

  @Test(arguments: rows) func `a request takes the most particular route that its method is allowed on`(row: Row) throws
  {
    let table = RouteTable(
      try row.routes.enumerated().map { index, text in
        let (host, path, method) = Self.parts(text)
        return try Route(path, index: index, host: host.isEmpty ? nil : host, methods: method.map { [$0] })
      })
    let (host, path, method) = Self.parts(row.request)
    let bytes = (Array(host.utf8), Array(path.utf8), Array((method ?? "").utf8))
    let found =
      switch table.match(host: bytes.0.span, path: bytes.1.span, method: bytes.2.span) {
      case .route(let route): "\(route.index)"
      case .noRoute: "none"
      case .methodNotAllowed(let route): "405 \(route.index)"
      case .ambiguous(let route): "400 \(route.index)"
      }
    #expect(found == row.expected)
  }

  private static func parts(_ text: String) -> (host: String, path: String, method: String?) {
    let words = text.split(separator: " ").map(String.init)
    let slash = words[0].firstIndex(of: "/") ?? words[0].endIndex
    return (String(words[0][..<slash]), String(words[0][slash...]), words.count > 1 ? words[1] : nil)
  }
}
