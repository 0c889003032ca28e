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

  // A route is `[host]path [METHOD]`, and so is a request, of GET if it names none; an expectation is the position of
  // the route, `none`, or `405` or `400` and a position.
  private static let tables: [(routes: [String], requests: KeyValuePairs<String, String>)] = [
    (["/a/", "/a/b/"], ["/a/b/c": "1"]),
    (["/a/b/", "/a/"], ["/a/c": "1"]),
    (["/a/"], ["/ab": "none", "/a": "0", "/": "none"]),
    (["/"], ["/anything": "0"]),
    // A route of the request's own host comes before a longer path of any host.
    (["/a/b/", "one.example/a/"], ["one.example/a/b/": "1", "two.example/a/b/": "0"]),
    (["one.example/a/"], ["ONE.Example/a/": "0", "/a/": "none"]),
    // Among routes of one host and path the method decides.
    (["/a/ POST", "/a/ GET"], ["/a/": "1"]),
    (["/a/ POST", "/a/"], ["/a/ DELETE": "1"]),
    (["/a/ POST"], ["/a/": "405 0", "/a/ post": "405 0"]),
    // A shorter path is another API, and so is the same path of any host.
    (["/a/b/ POST", "/a/ GET"], ["/a/b/": "405 0"]),
    (["one.example/a/ POST", "/a/ GET"], ["one.example/a/": "405 0"]),
    // Routes of other hosts and paths may be between two of one host and path.
    (["one.example/a/ POST", "two.example/a/ GET", "one.example/a/ GET"], ["one.example/a/": "2"]),
    (["one.example/a/ POST", "one.example/b/ GET", "one.example/a/ GET"], ["one.example/a/": "2"]),
    (["/a/ POST", "/b/ GET", "/a/ GET"], ["/a/": "2"]),
    // A path that some readers assign to a more particular route does not pass by it. An unusual path does.
    (
      ["/", "/a/b/"],
      [
        "/a%2Fb/c": "400 0", "/a//b/c": "400 0", "//a/b": "400 0", "/a;x=1/b/c": "400 0", "/a%3Bx/b": "400 0",
        "/a%253Bx/b": "400 0", "/a;x=%2Fy/b/c": "400 0", "/a/b%3F/c": "400 0", "/a%2Fb;x%3F": "400 0",
        "/a%3F/b": "0", "/a%2Fc/b": "0", "/c//a/b": "0", "/c%2Fa%2Fb;x=1/%C3%A9%20": "0", "/a/b//c%2Fd;e=f": "1",
      ]
    ),
    (["/", "/a@b/"], ["/a%40b/c": "400 0"]),
    (["/a/", "/a/b/"], ["/a/%2Fb/c": "400 0"]),
    (["/a/", "one.example/a/b/"], ["one.example/a//b": "400 0", "two.example/a//b": "0"]),
    (["one.example/a/", "/a/b/"], ["one.example/a//b": "0"]),
    (["/a/", "/b/"], ["/a/%2Fb/c": "0"]),
    (["/a/", "/a;x/"], ["/a/b%2Fc": "0", "/a;x/b%2Fc": "1"]),
    // A reader that decodes first ends the path at a query, a fragment or, in C, NUL.
    (
      ["/", "/a/"],
      [
        "/a%3Fx": "400 0", "/a%23x": "400 0", "/a%253Fx/y": "400 0", "/a%2523": "400 0", "/a%2500x": "400 0",
        "///;x=y%3fx/%2561%23": "400 0", "/b%3Fx%23y": "0", "/ab%3Fx": "0", "/a/b%3Fx%23y": "1",
      ]
    ),
  ]

  private static let rows = tables.flatMap { routes, requests in
    requests.map { Row(routes: routes, request: $0, expected: $1) }
  }

  @Test(arguments: rows) func `a request takes the most particular route that its method is allowed on`(row: Row) throws
  {
    let table = RouteTable(
      try row.routes.enumerated().map { index, text in
        let (host, path, method) = Self.parts(text)
        return try Route(path, index: index, host: host.isEmpty ? nil : host, methods: method.map { [$0] })
      })
    let (host, path, method) = Self.parts(row.request)
    let bytes = (Array(host.utf8), Array(path.utf8), Array((method ?? "GET").utf8))
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
