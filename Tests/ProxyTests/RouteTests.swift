// Prefixes by whole segments, and their replacement upstream.

import Bytes
import Testing

@testable import Proxy

@Suite struct RouteTests {
  @Test(arguments: [
    ("/orders/", "http://up.example/", "/orders", "/"),
    ("/orders/", "http://up.example/", "/orders/", "/"),
    ("/orders/", "http://up.example/", "/orders/7/items", "/7/items"),
    ("/orders/", "http://up.example/api/v1/", "/orders", "/api/v1"),
    ("/orders/", "http://up.example/api/v1/", "/orders/", "/api/v1/"),
    ("/orders/", "http://up.example/api/v1/", "/orders/7", "/api/v1/7"),
    ("/orders/", "http://up.example/orders/", "/orders//7", "/orders//7"),
    ("/", "http://up.example/", "/", "/"),
    ("/", "http://up.example/base/", "/x", "/base/x"),
  ])
  func `the upstream's path replaces the prefix`(
    prefix: String, upstream: String, path: String, expected: String
  ) throws {
    let route = try Route(prefix, upstream: upstream)
    let bytes = Array(path.utf8)
    let isTaken = route.takes(path: bytes.span)
    #expect(isTaken)
    var buffer = ByteBuffer(capacity: 64)
    route.appendUpstreamPath(for: bytes.span, to: &buffer)
    #expect(buffer.text == expected)
  }

  @Test(arguments: ["/ordersx", "/order", "/ORDERS/", "/", "/x/orders/", ""])
  func `a path beside the prefix is not taken`(path: String) throws {
    let bytes = Array(path.utf8)
    let isTaken = try Route("/orders/").takes(path: bytes.span)
    #expect(!isTaken)
  }

  @Test func `methods are compared as spelt, and listed in order for Allow`() throws {
    let route = try Route("/", methods: ["POST", "GET"])
    for (name, isTaken) in [("GET", true), ("POST", true), ("get", false), ("PATCH", false), ("", false)] {
      let bytes = Array(name.utf8)
      let taken = route.takes(method: bytes.span)
      #expect(taken == isTaken, "\(name)")
    }
    #expect(route.allow == Array("GET, POST".utf8))
    let anything = Array("ANYTHING".utf8)
    let taken = try Route("/").takes(method: anything.span)
    #expect(taken)
  }
}
