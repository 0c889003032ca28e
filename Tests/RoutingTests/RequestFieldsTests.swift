// The fields that a route sets, removes, or has in place of a token.

import Bytes
import HTTP
import Testing

@testable import Routing

@Suite struct RequestFieldsTests {
  @Test(arguments: [
    "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
    "Upgrade", "HTTP2-Settings", "Expect", "Authorization", "Proxy-Authorization", "Proxy-Anything", "Forwarded", "Via",
    "X-Forwarded-For", "x-forwarded-prefix", "X_Forwarded_Prefix", "X_Forwarded_For", "X-Real-IP", "X-Bearer-Refused",
    "CDN-Loop", "Cookie", "Set-Cookie", "Max-Forwards", "Sec-Fetch-Site", "Sec-GPC", "Range", "If-Match", "If-Schedule",
    "Content-Type", "Content-Digest", "X-HTTP-Method-Override", "X-Original-URL", "X-Original-Thing", "X-Rewrite-URL",
    "Script-Name", "PATH_INFO", "X-Request-ID", "traceparent", "tracestate", "X-Accel-Redirect", "Date",
    "Destination", "Early-Data", "X-Host", "x_host", "X-HTTP-Host-Override", "X-Server-Name", "Base-Url",
    "X-Envoy-Original-Path", "x-envoy-internal", "X-Middleware-Rewrite", "x-middleware-subrequest", "X-Matched-Path",
    "x-invoke-path", "X-Waws-Unencoded-URL", "X-Script-Name", "X_SCRIPT_NAME", "X-HTTP-Destinationurl",
    "X-HTTP-Method", "X-Method-Override", "Client-IP", "True-Client-IP", "CF-Connecting-IP", "CF-Connecting-IPv6",
    "Fastly-Client-IP", "Fly-Client-IP", "X-Client-IP", "X-Cluster-Client-IP", "X-Azure-ClientIP", "X-Azure-SocketIP",
    "X-AppEngine-User-IP", "X-Originating-IP", "X-Remote-IP", "X-Remote-Addr", "Remote_Addr", "WL-Proxy-Client-IP",
    "X-Real-Port", "X-MS-Client-Principal", "X-MS-Client-Principal-Name", "X-Scheme", "X-URL-Scheme",
    "Front-End-Https", "X-ARR-SSL", "X-NginX-Proxy", "X-MS-Original-URL", "X-Request-URI", "X-Astro-Path",
    "X-Sendfile-Type", "X-Now-Route-Matches", "X-Original-Host",
  ])
  func `fields on which framing, identity or the path depends are no route's`(name: String) throws {
    let name = try #require(RouteFieldName(name))
    #expect(name.isReserved)
    #expect(name.carriesCredential == name.isAuthorization)
  }

  @Test(arguments: [
    ("X-API-Key", true), ("Ocp-Apim-Subscription-Key", true), ("apikey", true), ("X-Tenant", true), ("From", true),
    ("X-Hostage", true), ("X-Envoyage", true), ("X-Schemes", true), ("Destinations", true), ("CF-Access-Token", true),
    ("User-Agent", false), ("Accept", false), ("Accept-Language", false), ("Origin", false), ("Referer", false),
    ("Cache-Control", false),
  ])
  func `others are, and what has no meaning of its own carries credentials`(name: String, carries: Bool) throws {
    let name = try #require(RouteFieldName(name))
    #expect(!name.isReserved)
    #expect(name.carriesCredential == carries)
  }

  @Test(arguments: ["", "X Key", "X-Key:", "Schlüssel", "X-Key\r\nHost"])
  func `a text that is no name is none`(text: String) { #expect(RouteFieldName(text) == nil) }

  private static func name(_ text: String) throws -> RouteFieldName { try #require(RouteFieldName(text)) }

  @Test(arguments: [
    ("X-Tenant: a", true), ("x_tenant: a", true), ("X-TENANT: a", true), ("X-Tenants: a", false), ("Tenant: a", false),
    ("User-Agent: a", true), ("User_Agent: a", false), ("X-Debug: 1", true), ("Accept: a", false),
  ])
  func `a caller's line of such a name is not forwarded, in any spelling`(line: String, isConsumed: Bool) throws {
    let fields = try RequestFields(
      set: [(Self.name("X-Tenant"), "contoso")], removed: [Self.name("user-agent"), Self.name("x-debug")])
    #expect(String(decoding: fields.lines, as: UTF8.self) == "X-Tenant: contoso\r\n")
    try withRequest("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n") { head, buffer in
      let found = buffer.withBytes { fields.consumes(head.fields[1], $0) }
      #expect(found == isConsumed)
    }
  }

  private static let badValue = "the value of 'A' has a character that is not ASCII, or a blank at an end"

  @Test(
    arguments: [
      ([("A", "1"), ("a", "2")], [], "'A' and 'a' are one field to most programs; keep one"),
      ([("X-A", "1")], ["x_a"], "'X-A' and 'x_a' are one field to most programs; keep one"),
      ([("A", "")], [], Self.badValue), ([("A", " b")], [], Self.badValue), ([("A", "b\t")], [], Self.badValue),
      ([("A", "b\r\nHost: c")], [], Self.badValue), ([("A", "b\u{0}")], [], Self.badValue),
      ([("A", "é")], [], Self.badValue),
      ([("A", String(repeating: "b", count: 8190))], [], "sets more than 8192 bytes"),
      ([], (0...32).map { "A\($0)" }, "has more than 32 names"), ([("A", "b c\td~")], ["B"], nil),
    ] as [([(String, String)], [String], String?)])
  func `mistakes are found`(set: [(String, String)], removed: [String], expected: String?) throws {
    let (set, removed) = (try set.map { (try Self.name($0.0), $0.1) }, try removed.map(Self.name))
    var found: String?
    do throws(UnusableText) { _ = try RequestFields(set: set, removed: removed) } catch { found = error.reason }
    #expect(found == expected)
  }

  @Test func `a credential knows which part of it is secret`() throws {
    let value = Secret("ApiKey 0123456789")
    #expect(FixedCredential(try Self.name("Authorization"), value).schemeCount == 7)
    #expect(FixedCredential(try Self.name("X-API-Key"), value).schemeCount == 0)
    #expect(FixedCredential(try Self.name("Authorization"), Secret("0123456789")).schemeCount == 0)
  }

  @Test(arguments: [
    // RFC 7617 §2 and §2.1.
    ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123£", "Basic dGVzdDoxMjPCow=="),
    ("a", "b:c", "Basic YTpiOmM="), ("a:b", "c", nil), ("a", "b\u{1}", nil), ("a\u{7F}", "b", nil),
  ])
  func `Basic credentials are those of RFC 7617`(user: String, password: String, value: String?) {
    let credential = FixedCredential(user: user, password: Secret(password))
    #expect(credential?.value.revealed() == value)
    #expect(credential == nil || credential?.name.isAuthorization == true && credential?.schemeCount == 6)
  }
}
