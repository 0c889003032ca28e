// Everything decided before a token or an upstream is involved, and in which order.

import Bytes
import HTTP
import Routing
import Telemetry
import Testing

@testable import Proxy

@Suite struct AdmissionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var request: String
    var isTLS = false
    /// `unreadable`: the parser refuses the head.
    var expected: String
    var testDescription: String { request }
  }

  private static let rows = [
    Row(request: "GET /a/x HTTP/1.1", expected: "route0"),
    Row(request: "GET /a/./y/../x HTTP/1.1", expected: "route0 /a/x"),
    Row(request: "GET http://localhost/a/x HTTP/1.1", expected: "route0"),
    // An https resource is for secured connections (RFC 9110 §7.4).
    Row(request: "GET https://localhost/a/x HTTP/1.1", expected: "421 misdirected-request"),
    Row(request: "GET HTTPS://localhost/nowhere HTTP/1.1", expected: "421 misdirected-request"),
    Row(request: "GET https://localhost/a/x HTTP/1.1", isTLS: true, expected: "route0"),
    Row(request: "GET http://localhost/a/x HTTP/1.1", isTLS: true, expected: "route0"),
    Row(request: "GET /a/x HTTP/1.1\nHost: [:::]", expected: "unreadable"),
    Row(request: "GET /a/x HTTP/1.1\nHost: [12345::1]", expected: "unreadable"),
    Row(request: "GET /a/x HTTP/1.1\nHost: [1::2::3]", expected: "unreadable"),
    Row(request: "GET /a/x HTTP/1.1\nHost: [1]", expected: "unreadable"),
    Row(request: "GET http://[1::2::3]/a/x HTTP/1.1\nHost: [1::2::3]", expected: "unreadable"),
    Row(request: "GET /a/x HTTP/1.1\nHost: [::1]", expected: "421 unknown-host"),
    Row(request: "GET /nowhere HTTP/1.1", expected: "404 no-route"),
    Row(request: "POST /get/ HTTP/1.1", expected: "405 method-not-allowed route1"),
    // A framework behind may obey a field instead of the method.
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP-Method-Override: DELETE", expected: "405 method-not-allowed route1"),
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP-Method: MERGE", expected: "405 method-not-allowed route1"),
    Row(request: "GET /get/ HTTP/1.1\nx-method-override: delete", expected: "405 method-not-allowed route1"),
    // Spelt like that, it is not forwarded.
    Row(request: "GET /get/ HTTP/1.1\nX_HTTP_Method_Override: DELETE", expected: "route1"),
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP_Method: PUT", expected: "route1"),
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP-Method-Override: GET, PUT", expected: "405 method-not-allowed route1"),
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP-Method-Override:", expected: "405 method-not-allowed route1"),
    Row(
      request: "GET /get/ HTTP/1.1\nX-HTTP-Method-Override: GET\nX-HTTP-Method-Override: PUT",
      expected: "405 method-not-allowed route1"),
    Row(request: "GET /get/ HTTP/1.1\nX-HTTP-Method-Override: get\nX-Other: PUT", expected: "route1"),
    Row(request: "POST /a/ HTTP/1.1\nX-HTTP-Method-Override: DELETE", expected: "route0"),
    // The normal path decides the API of a request.
    Row(request: "GET /get/../a/x HTTP/1.1", expected: "route0 /a/x"),
    Row(request: "GET /a/../../x HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /a/..%2f..%2fsecret HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /a/%2e%2e/get/ HTTP/1.1", expected: "route1 /get/"),
    Row(request: "GET /a/%252e%252e/ HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /get/x%2Fy/../a HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /a/..;/b HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /a/\\..\\b HTTP/1.1", expected: "400 bad-path"),
    Row(request: "GET /a/%00 HTTP/1.1", expected: "400 bad-path"),
    Row(request: "TRACE /a/ HTTP/1.1", expected: "501 method-not-supported"),
    Row(request: "CONNECT localhost:80 HTTP/1.1\nHost: localhost:80", expected: "501 method-not-supported"),
    Row(request: "OPTIONS * HTTP/1.1", expected: "400 bad-request"),
    // Max-Forwards of OPTIONS is counted down, and at 0 the proxy answers (RFC 9110 §7.6.2).
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards: 0", expected: "route0 for the proxy"),
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards: 000", expected: "route0 for the proxy"),
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards: 1", expected: "route0"),
    Row(request: "OPTIONS /get/ HTTP/1.1\nMax-Forwards: 0", expected: "405 method-not-allowed route1"),
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards: -1", expected: "400 bad-request"),
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards:", expected: "400 bad-request"),
    Row(request: "OPTIONS /a/ HTTP/1.1\nMax-Forwards: 1\nMax-Forwards: 1", expected: "400 bad-request"),
    Row(request: "GET /a/ HTTP/1.1\nMax-Forwards: 0", expected: "route0"),
    Row(request: "GET /a/ HTTP/1.1\nMax-Forwards: x", expected: "route0"),
    // A `Via` or `CDN-Loop` of this process shows a loop.
    Row(request: "GET /a/ HTTP/1.1\nVia: 1.1 bearer-proxy-1", expected: "508 loop-detected"),
    Row(request: "GET /nowhere HTTP/1.1\nVia: 1.0 x, 1.1 bearer-proxy-1 (c), 1.1 y", expected: "508 loop-detected"),
    Row(request: "GET /a/ HTTP/1.1\nVia: 1.0 x\nVia: HTTP/1.1 bearer-proxy-1,1.1 y", expected: "508 loop-detected"),
    Row(request: "GET /a/ HTTP/1.1\nCDN-Loop: edge.example, bearer-proxy-1; hops=1", expected: "508 loop-detected"),
    Row(request: "GET /a/ HTTP/1.1\nConnection: cdn-loop\nCDN-Loop: bearer-proxy-1", expected: "508 loop-detected"),
    Row(request: "GET /a/ HTTP/1.1\nVia: 1.1 bearer-proxy-12, 1.1 bearer-proxy", expected: "route0"),
    Row(request: "GET /a/ HTTP/1.1\nVia: 1.1 my-bearer-proxy-1, 1.1 bearer-proxy-1.example", expected: "route0"),
    Row(request: "GET /a/ HTTP/1.1\nCDN-Loop: edge.example", expected: "route0"),
    Row(request: "GET /a/ HTTP/1.1\nVia: 1.1 bearer-proxy-1\nHost: evil.example", expected: "421 unknown-host"),
    Row(request: "POST /a/ HTTP/1.1\nExpect: 100-continue\nContent-Length: 5", expected: "route0"),
    Row(request: "POST /a/ HTTP/1.1\nExpect: a-miracle", expected: "417 expectation-failed"),
    Row(request: "POST /a/ HTTP/1.1\nContent-Length: 10", expected: "route0"),
    Row(request: "POST /a/ HTTP/1.1\nContent-Length: 11", expected: "413 content-too-large route0"),
    Row(request: "POST /a/ HTTP/1.1\nContent-Length: 1\nTransfer-Encoding: chunked", expected: "400 bad-request"),
    Row(request: "POST /a/ HTTP/1.1\nContent-Length: 1\nContent-Length: 1", expected: "400 bad-request"),
    Row(request: "POST /a/ HTTP/1.1\nTransfer-Encoding: gzip, chunked", expected: "501 bad-request"),
    // A stranger learns nothing of the routes.
    Row(request: "GET /nowhere HTTP/1.1\nHost: evil.example", expected: "421 unknown-host"),
    Row(request: "GET /nowhere HTTP/1.1\nSec-Fetch-Site: cross-site", expected: "403 cross-site-request"),
    Row(
      request: "GET /a/x HTTP/1.1\nConnection: Upgrade\nUpgrade: websocket\nOrigin: https://evil.example",
      expected: "403 cross-site-request"),
    Row(
      request: "GET /nowhere HTTP/1.1\nSec-Fetch-Site: none\nSec-Purpose: prefetch", expected: "403 speculative-request"
    ),
    Row(request: "GET /a/sw.js HTTP/1.1\nService-Worker: script", expected: "403 service-worker-refused"),
    // A page of a site that may call is let in, and its browser may ask first; no other site's is.
    Row(request: "GET /a/x HTTP/1.1\nSec-Fetch-Site: cross-site\nOrigin: https://app.example", expected: "route0"),
    Row(request: "GET /a/x HTTP/1.1\nOrigin: HTTPS://APP.EXAMPLE", expected: "route0"),
    Row(
      request: "OPTIONS /a/x HTTP/1.1\nOrigin: https://app.example\nAccess-Control-Request-Method: PUT",
      expected: "204 preflight"),
    Row(request: "OPTIONS /a/x HTTP/1.1\nOrigin: https://app.example", expected: "route0"),
    Row(
      request: "OPTIONS /a/x HTTP/1.1\nOrigin: https://evil.example\nAccess-Control-Request-Method: PUT",
      expected: "403 cross-site-request"),
    Row(
      request:
        "OPTIONS /a/ HTTP/1.1\nHost: evil.example\nOrigin: https://app.example\nAccess-Control-Request-Method: PUT",
      expected: "421 unknown-host"),
    Row(
      request: "GET /a/x HTTP/1.1\nOrigin: https://app.example\nOrigin: https://evil.example",
      expected: "403 cross-site-request"),
    Row(request: "GET /a/x HTTP/1.1\nOrigin: https://app.example.evil.example", expected: "403 cross-site-request"),
  ]

  @Test(arguments: rows) func `a request is admitted to a route or refused for a reason`(row: Row) throws {
    let table = RouteTable([try Route("/a/"), try Route("/get/", index: 1, methods: ["GET"])])
    let lines = row.request.split(separator: "\n")
    let host = row.request.contains("Host:") ? [] : ["Host: localhost"[...]]
    let text = (lines.prefix(1) + host + lines.dropFirst()).joined(separator: "\r\n") + "\r\n\r\n"
    let verdict = (try? RequestContext(text)).map { request in
      var path = ByteBuffer(capacity: 16)
      let admission = Admission(
        request.head, request.headBytes,
        callers: CallerCheck(names: ["localhost"], rules: CallerRules(origins: ["https://app.example"])),
        isTLS: row.isTLS, pseudonym: Pseudonym(named: "bearer-proxy-1"), table: table, bodyLimit: 10,
        normalPath: &path)
      switch admission.verdict {
      case .forward(let admitted):
        return (admission.route?.name ?? "no route") + (admitted.usesNormalPath ? " " + path.text : "")
      case .options: return (admission.route?.name ?? "") + " for the proxy"
      case .preflight: return "204 preflight"
      case .refused(let failure):
        let document = ProblemDocument(failure)
        return "\(document.status) \(document.type.rawValue)" + (admission.route.map { " " + $0.name } ?? "")
      }
    }
    #expect(verdict ?? "unreadable" == row.expected)
  }

  static let encodings: [(path: String, word: String, forwarded: String)] = [
    ("/x%5Cy", "backslash", "/x%5Cy"), ("/x%5cy", "backslash", "/x%5Cy"), ("/%5C%5Chost", "backslash", "/%5C%5Chost"),
    ("/x%252Fy", "percent", "/x%252Fy"), ("/x%252ey", "percent", "/x%252ey"),
    ("/x%09y", "tab", "/x%09y"), ("/x%0ay", "line_feed", "/x%0Ay"), ("/x%0D", "carriage_return", "/x%0D"),
  ]

  private func admit(_ path: String, _ table: RouteTable) throws -> String {
    let request = try RequestContext("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    var normal = ByteBuffer(capacity: 16)
    let admission = Admission(
      request.head, request.headBytes, callers: CallerCheck(names: ["localhost"]), isTLS: false, pseudonym: Pseudonym(),
      table: table,
      bodyLimit: 10, normalPath: &normal)
    switch admission.verdict {
    case .forward(let admitted):
      return (admission.route?.name ?? "no route") + " " + (admitted.usesNormalPath ? normal.text : path)
    case .refused(.path(let reason)): return "\(reason)"
    case .refused(let failure): return "\(failure)"
    case .options, .preflight: return "answered by the proxy"
    }
  }

  @Test(arguments: encodings)
  func `an encoding that a route allows passes on that route only, unchanged`(
    _ row: (path: String, word: String, forwarded: String)
  ) throws {
    let allowed = try #require(EncodedPath.names.first { $0.name == row.word }?.value)
    let others = EncodedPath(EncodedPath.names.map(\.value)).subtracting(allowed)
    let table = RouteTable([
      try Route("/a/", encodedPath: allowed), try Route("/b/", index: 1),
      try Route("/c/", index: 2, encodedPath: others),
    ])
    #expect(try admit("/a" + row.path, table) == "route0 /a" + row.forwarded)
    for path in ["/b", "/c"] {
      #expect(["backslash", "control", "doubleEncoding"].contains(try admit(path + row.path, table)), "\(path)")
    }
    #expect(try admit("/b/plain", table) == "route1 /b/plain")
  }

  @Test(arguments: [
    "/a/..%5C..%5Csecret", "/a/x%5C..", "/a/..%5cx", "/a/%5C..%5C..%5Cx", "/a/%252e%252e/x", "/a/%252e%252e%252fx",
    "/a/..%252Fx", "/a/..%09/x", "/a/.%0A./x", "/a/%09../x", "/a/%2e%0D%2e/x", "/a/x%09/%5C/../../../b/",
    "/a/..%255Cx", "/a/%09/../../b/x", "/a/%5C../x", "/a/..%2509/x", "/a/x\\y", "/a/%00", "/a/%01", "/a/%7F",
  ])
  func `allowed encodings hide no dot segment and no other byte`(path: String) throws {
    let every = EncodedPath(EncodedPath.names.map(\.value))
    let table = RouteTable([try Route("/a/", encodedPath: every), try Route("/b/", index: 1)])
    let verdict = try admit(path, table)
    #expect(!verdict.hasPrefix("route"), "\(verdict)")
  }

  @Test(arguments: ["/a%5Cadmin/x", "/a/%5Cadmin/x", "/a/ad%09min/x", "/a/%252e/admin", "/a%255cadmin/x"])
  func `allowed encodings lead to no more specific route`(path: String) throws {
    let every = EncodedPath(EncodedPath.names.map(\.value))
    let table = RouteTable([
      try Route("/", encodedPath: every), try Route("/a/", index: 1, encodedPath: every),
      try Route("/a/admin/", index: 2),
    ])
    let verdict = try admit(path, table)
    #expect(!verdict.hasPrefix("route"), "\(verdict)")
  }
}
