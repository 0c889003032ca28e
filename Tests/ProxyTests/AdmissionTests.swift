// Everything decided before a token or an upstream is involved, and in which order.

import HTTP
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
    // Which API a request reaches is decided on the normal path.
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
    let verdict = try? withRequest(text) { head, input in
      var path = ByteBuffer(capacity: 16)
      var found: Route?
      var reader = ByteBuffer(capacity: 16)
      do throws(ExchangeFailure) {
        let admission = try Admission(
          head, input, callers: CallerCheck(names: ["localhost"], rules: CallerRules(origins: ["https://app.example"])),
          isTLS: row.isTLS, table: table, bodyLimit: 10, normalPath: &path, found: &found, reader: &reader)
        #expect(found === admission.route)
        return admission.route.name + (admission.usesNormalPath ? " " + path.text : "")
      } catch {
        let document = ProblemDocument(error)
        return "\(document.status) \(document.kind)" + (found.map { " " + $0.name } ?? "")
      }
    }
    #expect(verdict ?? "unreadable" == row.expected)
  }
}
