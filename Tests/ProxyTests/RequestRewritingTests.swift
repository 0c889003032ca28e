// The head that goes upstream, whole.

import Bytes
import HTTP
import Identity
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct RequestRewritingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var request = "GET /orders/7?a=%20b HTTP/1.1\nHost: localhost:8080"
    /// Of a GET for `/orders/` at the host `a`, in place of `request`.
    var fields: String?
    var preservesHost = false
    var peer = "127.0.0.1"
    var isTLS = false
    var hasBearer = true
    var expected: [String]
    var unexpected: [String] = []
    var testDescription: String { name }
  }

  private static let rows = [
    Row(
      name: "path replaced, query untouched, host the upstream's",
      expected: [
        "GET /api/7?a=%20b HTTP/1.1", "Host: up.example:81", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http",
        "X-Forwarded-Host: localhost:8080", "Forwarded: for=127.0.0.1;host=\"localhost:8080\";proto=http",
        "Via: 1.1 bearer-proxy", "Authorization: Bearer t0ken",
      ], unexpected: ["Host: localhost"]),
    Row(name: "host preserved", preservesHost: true, expected: ["Host: localhost:8080"], unexpected: ["Host: up"]),
    Row(
      name: "HTTP/1.0 without a host has none to preserve", request: "GET /orders/ HTTP/1.0", preservesHost: true,
      expected: ["Host: up.example:81", "Via: 1.0 bearer-proxy", "GET /api/ HTTP/1.1"], unexpected: ["X-Forwarded-Host"]
    ),
    Row(
      name: "a caller's Authorization is replaced", fields: "Authorization: Basic eA==\nauthorization: Bearer other",
      expected: ["Authorization: Bearer t0ken"], unexpected: ["Basic", "other"]),
    Row(
      name: "a caller's Authorization passes where no token is added", fields: "Authorization: Basic eA==",
      hasBearer: false, expected: ["Authorization: Basic eA=="], unexpected: ["t0ken"]),
    Row(
      name: "nominating Authorization does not take the token away",
      fields: "Connection: authorization, x-forwarded-for, content-length\nContent-Length: 3",
      expected: ["Authorization: Bearer t0ken", "X-Forwarded-For: 127.0.0.1", "Content-Length: 3"]),
    Row(
      name: "cookies of sign-in pages end here, whichever listener's",
      fields: """
        Cookie: a=1; __Host-bearer-sign-in-8443=s3cret;b=2; bearer-sign-in-80=s3cret
        X-Other: 2
        Cookie: bearer-sign-in-80=s3cret
        Cookie: my-bearer-sign-in-80=kept; c=bearer-sign-in-80
        """,
      expected: ["Cookie: a=1; b=2", "X-Other: 2", "Cookie: my-bearer-sign-in-80=kept; c=bearer-sign-in-80"],
      unexpected: ["s3cret"]),
    Row(
      name: "hop-by-hop fields end here",
      fields: """
        Connection: close, x-mine
        X-Mine: 1
        Keep-Alive: timeout=5
        Proxy-Authorization: Basic eA==
        Upgrade: websocket
        X-Other: 2
        """,
      expected: ["X-Other: 2"],
      unexpected: ["X-Mine", "Keep-Alive", "Proxy-Authorization", "Upgrade", "Connection"]),
    Row(
      name: "chunked content stays chunked, trailers stay welcome",
      request: "POST /orders/ HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nTE: trailers, gzip\nTrailer: x-sum",
      expected: ["Transfer-Encoding: chunked", "TE: trailers", "Connection: TE", "Trailer: x-sum"], unexpected: ["gzip"]
    ),
    Row(
      name: "what earlier hops said comes before what this one says",
      fields: """
        X-Forwarded-For: 192.0.2.1
        X-Forwarded-Proto: https
        X-Forwarded-Host: lie.example
        Forwarded: for=192.0.2.1
        Via: 1.1 first
        Via: 1.1 second
        """,
      expected: [
        "X-Forwarded-For: 192.0.2.1, 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: a",
        "Forwarded: for=192.0.2.1, for=127.0.0.1;host=a;proto=http", "Via: 1.1 first, 1.1 second, 1.1 bearer-proxy",
      ], unexpected: ["lie.example", "X-Forwarded-Proto: https"]),
    Row(
      name: "empty elements of earlier hops' lists are left out",
      fields: "Via:\nVia: , ,\nVia: ,1.1 first (a, b) ,\nX-Forwarded-For: ,\nForwarded: ,",
      expected: [
        "Via: 1.1 first (a, b), 1.1 bearer-proxy", "X-Forwarded-For: 127.0.0.1",
        "Forwarded: for=127.0.0.1;host=a;proto=http",
      ]),
    Row(
      name: "CDN-Loop grows by this hop where there is one, nominated or not (RFC 8586)",
      fields: "Connection: cdn-loop\nCDN-Loop: edge.example; a=b\nCDN-Loop: second",
      expected: ["CDN-Loop: edge.example; a=b, second, bearer-proxy"]),
    Row(name: "and begins here, for hops that take Via away", fields: "", expected: ["CDN-Loop: bearer-proxy"]),
    Row(
      name: "fields that an upstream takes for the path end here, nominated or not",
      fields: """
        Connection: x-original-url, x-other
        X-Original-URL: /admin
        x-rewrite-url: /admin
        X_Original_URL: /admin
        X-Rewrite_Url: /admin
        X-Original-URI: /admin
        X-Rewrite-Uri: /admin
        X-Original-Path: /admin
        X-Override-URL: /admin
        X-Forwarded-Uri: /admin
        SCRIPT_NAME: /orders
        Script-Name: /orders
        PATH_INFO: /admin
        Path-Info: /admin
        X-Original-URLs: 1
        X-Forwarded-Prefix: /2
        """,
      expected: ["X-Original-URLs: 1", "X-Forwarded-Prefix: /2"],
      unexpected: ["/admin", "/orders", "X-Original-URL:", "SCRIPT_NAME", "Script-Name"]),
    Row(
      name: "so do fields of hosts in front, and those by which parts of a framework tell each other the path",
      fields: "X-Hosts: 1\n"
        + [
          "X-Waws-Unencoded-URL", "X-MS-Original-URL", "X-Forwarded-URL", "X-Forwarded-Path", "X-Request-URI",
          "X-Envoy-Original-Path", "X-Matched-Path", "X_Matched_Path", "X-Now-Route-Matches", "X-Invoke-Path",
          "X-Invoke-Query", "X-Middleware-Rewrite", "X-Middleware-Subrequest", "X-Astro-Path", "X-Script-Name",
          "X-HTTP-DestinationURL", "X-Accel-Mapping", "X-Sendfile-Type",
        ].map { "\($0): /admin" }.joined(separator: "\n"), expected: ["X-Hosts: 1"], unexpected: ["/admin"]),
    Row(
      name: "fields that an upstream takes for the host end here",
      fields: [
        "X-Host", "X_Host", "X-Original-Host", "X-HTTP-Host-Override", "X-Server-Name", "X-Forwarded-Server",
        "X-Envoy-Original-Dst-Host",
      ].map { "\($0): lie.example" }.joined(separator: "\n"), expected: ["X-Forwarded-Host: a"],
      unexpected: ["lie.example"]),
    Row(
      name: "a method override is forwarded in the spelling that was judged",
      fields: "X-HTTP-Method-Override: PUT\nX_HTTP_Method_Override: DELETE", expected: ["X-HTTP-Method-Override: PUT"],
      unexpected: ["DELETE"]),
    Row(
      name: "Max-Forwards of OPTIONS is counted down", request: "OPTIONS /orders/ HTTP/1.1\nHost: a\nMax-Forwards: 10",
      expected: ["Max-Forwards: 9"], unexpected: ["Max-Forwards: 10"]),
    Row(
      name: "to the most that is supported",
      request: "OPTIONS /orders/ HTTP/1.1\nHost: a\nMax-Forwards: 99999999999999999999",
      expected: ["Max-Forwards: 4294967294"]),
    Row(name: "and of other methods is passed on", fields: "Max-Forwards: 10", expected: ["Max-Forwards: 10"]),
    Row(name: "an empty Via is none", fields: "Via:", expected: ["Via: 1.1 bearer-proxy"]),
    Row(
      name: "the expectation of an HTTP/1.0 request is ignored",
      request: "POST /orders/ HTTP/1.0\nHost: a\nExpect: 100-continue\nContent-Length: 3",
      expected: ["Content-Length: 3"], unexpected: ["Expect"]),
    Row(
      name: "IPv6 over TLS", peer: "2001:db8::1", isTLS: true,
      expected: [
        "X-Forwarded-For: 2001:db8::1", "X-Forwarded-Proto: https",
        "Forwarded: for=\"[2001:db8::1]\";host=\"localhost:8080\";proto=https",
      ]),
    Row(
      name: "a unix socket's peer has no address", peer: "",
      expected: ["Forwarded: for=unknown;host=\"localhost:8080\";proto=http"], unexpected: ["X-Forwarded-For"]),
    Row(
      name: "Expect and unknown fields pass",
      request: "POST /orders/ HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 3\nx-weird:  spaced  ",
      expected: ["Expect: 100-continue", "Content-Length: 3"]),
  ]

  @Test(arguments: rows) func `the upstream is told the request and nothing about the caller's connection`(
    row: Row
  ) throws {
    let route = try Route("/orders/", upstream: "http://up.example:81/api/", preservesHost: row.preservesHost)
    let bearer = BearerValue(
      Secret("t0ken"),
      lifetime: TokenLifetime(obtainedAt: UnixTime(0), refreshAt: UnixTime(1800), expiresAt: UnixTime(3600)),
      scopes: .none)
    let head = row.fields.map { "GET /orders/ HTTP/1.1\nHost: a\n\($0)" } ?? row.request
    let text = head.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n"
    let request = try RequestContext(text)
    let framing = try request.headBytes.withBytes { try BodyFraming.request(request.head, $0) }
    let written = rewritten(
      request, AdmittedRequest(framing: framing), to: route,
      from: Ingress(peer: Array(row.peer.utf8), isTLS: row.isTLS), row.hasBearer ? .bearer(bearer) : .callers)
    #expect(written.hasSuffix("\r\n\r\n"))
    // CR LF is one character.
    let lines = written.dropLast(2).split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    for line in row.expected {
      #expect(lines.filter { $0 == line }.count == 1, "\(line) in \(lines)")
    }
    for word in row.unexpected {
      #expect(!lines.contains { $0.hasPrefix(word) || $0.contains(": \(word)") || $0.contains(", \(word)") }, "\(word)")
    }
    // Ids of this proxy's own.
    #expect(lines.contains { $0.hasPrefix("X-Request-ID: ") })
    #expect(lines.contains { $0.hasPrefix("traceparent: 00-") })
  }

  @Test func `the normal path goes upstream if it differs from the one sent`() throws {
    let request = try RequestContext("GET /x/../orders/7 HTTP/1.1\r\nHost: a\r\n\r\n")
    request.path.append("/orders/7")
    let written = rewritten(request, AdmittedRequest(usesNormalPath: true), to: try Route("/orders/"))
    #expect(written.hasPrefix("GET /7 HTTP/1.1\r\n"))
  }

  @Test(arguments: [
    ("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n", true),
    ("traceparent: 00-0-0-0\r\n", false),
    // Two are none.
    (String(repeating: "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n", count: 2), false),
    ("", false),
  ])
  func `tracestate is passed on with its own trace only`(_ row: (parent: String, isKept: Bool)) throws {
    let request = try RequestContext("GET / HTTP/1.1\r\nHost: a\r\n\(row.parent)tracestate: vendor=1\r\n\r\n")
    let written = rewritten(request, to: try Route("/"))
    #expect(written.contains("tracestate: vendor=1\r\n") == row.isKept)
  }

  @Test(arguments: [
    (
      "X-API-Key", "0123456789", "x-api-key: own\r\nX_Api_Key: own\r\nAuthorization: Basic b3du",
      ["Authorization: Basic b3du"]
    ),
    ("Authorization", "ApiKey 0123456789", "Authorization: Basic own", []),
    ("X-API-Key", "0123456789", "X-Api-Keys: kept\r\nConnection: x-api-key", ["X-Api-Keys: kept"]),
  ])
  func `a fixed credential replaces the caller's field of that name and no other one`(
    _ row: (name: String, value: String, sent: String, kept: [String])
  ) throws {
    let credential = FixedCredential(try #require(RouteFieldName(row.name)), Secret(row.value))
    let route = try Route("/", fixedCredential: credential)
    let request = try RequestContext("GET / HTTP/1.1\r\nHost: a\r\n\(row.sent)\r\n\r\n")
    let written = rewritten(request, to: route, .fixed(BearerValue(credential)))
    let lines = written.split(separator: "\r\n").map(String.init)
    #expect(lines.filter { $0 == "\(row.name): \(row.value)" }.count == 1)
    for line in row.kept { #expect(lines.contains(line), "\(lines)") }
    #expect(!written.contains("own\r\n"))
    #expect(BearerValue(credential).token.revealed() == "0123456789")
  }

  @Test func `the secret that lets callers in, and the choice of a token, go no further`() throws {
    var rules = CallerRules()
    rules.header = CallerRules.Header(name: "X-Proxy-Key", value: Secret("0123456789abcdef"))
    let request = try RequestContext(
      "GET / HTTP/1.1\r\nHost: a\r\nx-proxy-key: 0123456789abcdef\r\nX-TENANT: two\r\nX-Tenants: kept\r\n\r\n")
    let written = rewritten(
      request, to: try Route("/", choice: TokenChoice(field: "X-Tenant", values: [("two", 1)])),
      from: Ingress(peer: [], isTLS: false, rules: rules))
    #expect(written.contains("\r\nX-Tenants: kept\r\n"))
    #expect(!written.lowercased().contains("x-proxy-key") && !written.lowercased().contains("x-tenant:"))
  }

  @Test func `fields of the route are set and removed, and a nomination does not take one away`() throws {
    let names = try ["X-Tenant", "User-Agent", "X-Debug", "Accept"].map { try #require(RouteFieldName($0)) }
    let fields = try RequestFields(set: [(names[0], "contoso"), (names[1], "proxy/1")], removed: [names[2], names[3]])
    let request = try RequestContext(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: x-tenant\r\nX_Tenant: evil\r\nX-Tenant: evil\r\nuser-agent: evil\r\n"
        + "X-Debug: evil\r\nAccept: evil\r\nX-Kept: 1\r\n\r\n")
    let written = rewritten(request, to: try Route("/", requestFields: fields))
    #expect(written.contains("\r\nX-Tenant: contoso\r\nUser-Agent: proxy/1\r\n"))
    #expect(written.contains("\r\nX-Kept: 1\r\n"))
    #expect(!written.contains("evil"))
  }

  private func rewritten(
    _ request: RequestContext, _ admitted: AdmittedRequest = AdmittedRequest(), to route: Route,
    from ingress: Ingress = Ingress(peer: [], isTLS: false), _ credential: RequestCredential = .callers
  ) -> String {
    request.admitted = admitted
    request.credential = credential
    var output = ByteBuffer(capacity: 16)
    RequestRewriting.write(
      request, to: route, from: ingress, as: HopIdentity(pseudonym: Pseudonym(named: "bearer-proxy")), into: &output)
    return output.text
  }
}
