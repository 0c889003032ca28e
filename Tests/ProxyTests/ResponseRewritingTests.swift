// The head that goes back to the caller, and how its content is framed.

import Bytes
import HTTP
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct ResponseRewritingTests {
  @Test(arguments: [
    (BodyFraming.none, HTTPVersion.http11, false, false, false),
    (.none, .http10, false, false, false),
    (.none, .http11, true, false, true),
    (.fixed(5), .http11, false, false, false),
    (.fixed(5), .http10, true, false, true),
    (.chunked, .http11, false, true, false),
    (.chunked, .http11, true, true, true),
    // An HTTP/1.0 caller knows no chunks: the end of the connection is the end of the content.
    (.chunked, .http10, false, false, true),
    (.untilClose, .http11, false, true, false),
    (.untilClose, .http10, false, false, true),
  ])
  func `content keeps its end`(
    framing: BodyFraming, version: HTTPVersion, mustClose: Bool, writesChunks: Bool, closes: Bool
  ) {
    let plan = ResponsePlan(framing: framing, version: version, isEnding: mustClose)
    #expect(plan.writesChunks == writesChunks)
    #expect(plan.closes == closes)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription, response, expected: String
    var method = RequestMethod.get
    var version = HTTPVersion.http11
    var closes = false
    var reader = ""
    var sendsCallersToken = false

    /// Between the status line, which is `200` if `response` has none, and what this proxy adds to every response.
    init(_ name: String, _ response: String, _ expected: String, change: (inout Self) -> Void = { _ in }) {
      testDescription = name
      self.response = response.hasPrefix("HTTP/") ? response : "HTTP/1.1 200 OK\n" + response
      let status = self.response.prefix { $0 != "\n" }.dropFirst("HTTP/1.1".count)
      let end = expected.contains("Via: ") ? "" : "\nDate: now\nVia: 1.1 bearer-proxy"
      self.expected = "HTTP/1.1\(status)\n\(expected)\(end)"
      change(&self)
    }
  }

  static let claims = [
    "Service-Worker-Allowed: /", "Clear-Site-Data: \"*\"",
    "Strict-Transport-Security: max-age=31536000; includeSubDomains",
    "Alt-Svc: h2=\"evil.example:443\"", "NEL: {\"report_to\":\"e\",\"max_age\":600}",
    "Report-To: {\"group\":\"e\",\"max_age\":600,\"endpoints\":[{\"url\":\"https://evil.example/\"}]}",
    "Reporting-Endpoints: default=\"https://evil.example/\"", "Accept-CH: Sec-CH-UA-Model", "Set-Login: logged-in",
    "secure-session-registration: (ES256);path=\"/refresh\"", "Sec-Session-Registration: (ES256);path=\"/refresh\"",
    "Secure-Session-Challenge: \"c\";id=\"other\"", "Sec-Session-Challenge: \"c\"", "Critical-CH: Sec-CH-UA-Model",
    "Use-As-Dictionary: match=\"/*\"", "Origin-Agent-Cluster: ?1", "Activate-Storage-Access: load",
  ]

  private static let rows = [
    Row("fixed", "Content-Length: 2\nDate: then\nX: y", "Content-Length: 2\nDate: then\nX: y\nVia: 1.1 bearer-proxy"),
    Row(
      "the hops so far are one line",
      "Via: 1.1 a, 1.1 b\nContent-Length: 0\nvia: ,\nVia: 1.0 bearer-proxy-2 (x) ,\nDate: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 a, 1.1 b, 1.0 bearer-proxy-2 (x), 1.1 bearer-proxy"),
    Row(
      "an empty Via is none", "Via:\nContent-Length: 0\nDate: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 bearer-proxy"),
    Row(
      "the hops of a loop are named once",
      "HTTP/1.1 508 Loop\nVia: 1.1 a\nVia: 1.1 b, 1.1 bearer-proxy (x), 1.1 c\nVia: 1.1 d\nContent-Length: 0\n"
        + "Date: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 a, 1.1 b, 1.1 bearer-proxy"),
    Row(
      "a name in a comment is no hop", "Via: 1.1 a (not bearer-proxy)\nContent-Length: 0\nDate: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 a (not bearer-proxy), 1.1 bearer-proxy"),
    Row(
      "Via is never about one connection", "Via: 1.1 a\nConnection: via\nContent-Length: 0\nDate: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 a, 1.1 bearer-proxy"),
    Row(
      "a version of before", "HTTP/1.0 200 OK\nVia: 1.1 a\nContent-Length: 0\nDate: then",
      "Content-Length: 0\nDate: then\nVia: 1.1 a, 1.0 bearer-proxy"),
    Row("Date is added", "HTTP/1.1 200 Fine\nContent-Length: 2", "Content-Length: 2"),
    Row(
      "hop-by-hop fields end here", "Connection: close, x-mine\nX-Mine: 1\nKeep-Alive: 5\nContent-Length: 0",
      "Content-Length: 0"),
    Row(
      "chunks for HTTP/1.1", "Transfer-Encoding: chunked\nTrailer: x-sum",
      "Trailer: x-sum\nTransfer-Encoding: chunked"),
    Row(
      "no chunks and no trailers for HTTP/1.0", "Transfer-Encoding: chunked\nTrailer: x-sum",
      "Date: now\nVia: 1.1 bearer-proxy\nConnection: close"
    ) { $0.version = .http10 },
    Row(
      "until close becomes chunks", "HTTP/1.0 200 OK", "Transfer-Encoding: chunked\nDate: now\nVia: 1.0 bearer-proxy"),
    Row(
      "HTTP/1.0 keep-alive is said", "Content-Length: 1",
      "Content-Length: 1\nDate: now\nVia: 1.1 bearer-proxy\nConnection: keep-alive"
    ) { $0.version = .http10 },
    Row(
      "closing is said", "Content-Length: 1",
      "Content-Length: 1\nDate: now\nVia: 1.1 bearer-proxy\nConnection: close"
    ) { $0.closes = true },
    Row("204 has no length", "HTTP/1.1 204 No Content\nContent-Length: 0", ""),
    Row("the length that a HEAD asks about stays", "Content-Length: 99", "Content-Length: 99") { $0.method = .head },
    Row(
      "the length of a 304 stays", "HTTP/1.1 304 Not Modified\nContent-Length: 99\nETag: \"x\"",
      "Content-Length: 99\nETag: \"x\""),
    Row(
      "another site's page may read the answer, whatever the upstream thinks of sharing",
      "Access-Control-Allow-Origin: *\nAccess-Control-Allow-Credentials: true\nAccess-Control-: x\n"
        + "Content-Length: 1",
      "Access-Control-: x\nContent-Length: 1\nDate: now\nVary: Origin\n"
        + "Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: *\n"
        + "Via: 1.1 bearer-proxy"
    ) { $0.reader = "https://app.example" },
    Row(
      "without another site the upstream's word passes", "Access-Control-Allow-Origin: *\nContent-Length: 1",
      "Access-Control-Allow-Origin: *\nContent-Length: 1"),
    Row(
      "an upstream does not speak for the origin",
      "X: 1\n" + Self.claims.joined(separator: "\n") + "\nCache-Control: no-store\nContent-Length: 1",
      "X: 1\nCache-Control: no-store\nContent-Length: 1"),
    Row(
      "cookies stay on their route",
      "Set-Cookie: a=1; Path=/\nset-cookie:b=2; path=/v1/b\nSet-Cookie: bearer-sign-in-8080=x\nX: 1\n"
        + "Content-Length: 1",
      "Set-Cookie: a=1; Path=/orders\nSet-Cookie: b=2; Path=/orders/b\nX: 1\nContent-Length: 1"),
    Row(
      "places in the upstream's own space become the route's",
      "HTTP/1.1 201 Created\nLocation: //api.example/v1/7\nContent-Location: /v1/7?a\nContent-Length: 0",
      "Location: /orders/7\nContent-Location: /orders/7?a\nContent-Length: 0"),
    Row(
      "a challenge passes",
      "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error=\"invalid_token\"\nContent-Length: 0",
      "WWW-Authenticate: Bearer error=\"invalid_token\"\nContent-Length: 0"),
    Row(
      "a challenge loses the upstream's metadata, which the caller's client cannot use",
      "HTTP/1.1 401 Unauthorized\nX: 1\nWWW-Authenticate: Bearer scope=\"a\", resource_metadata=\"x\"\nY: 2\n"
        + "www-authenticate: Basic realm=b\nContent-Length: 0",
      "X: 1\nWWW-Authenticate: Bearer scope=\"a\"\nY: 2\nwww-authenticate: Basic realm=b\nContent-Length: 0"),
    Row(
      "a caller whose own token the upstream gets learns the upstream's metadata",
      "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer resource_metadata=\"x\"\nContent-Length: 0",
      "WWW-Authenticate: Bearer resource_metadata=\"x\"\nContent-Length: 0"
    ) { $0.sendsCallersToken = true },
  ]

  @Test(arguments: rows) func `the caller gets the upstream's head without what belongs to its connection`(
    row: Row
  ) throws {
    let text = row.response.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n"
    let origin = row.reader.isEmpty ? "" : "Origin: \(row.reader)\r\n"
    let request = try RequestContext("GET / HTTP/1.1\r\nHost: a\r\n\(origin)\r\n")
    request.admitted = AdmittedRequest(method: row.method, version: row.version)
    if row.sendsCallersToken { request.credential = .callers }
    request.corsOrigin = request.head.fields.first(.origin)?.value ?? ByteRange()
    let attempt = try UpstreamAttempt(text)
    let framing = try attempt.input.withBytes {
      try BodyFraming.response(attempt.head, $0, requestMethod: row.method)
    }
    var date = ByteBuffer(capacity: 16)
    date.append("now")
    var output = ByteBuffer(capacity: 16)
    ResponseRewriting.write(
      attempt, ResponsePlan(framing: framing, version: row.version, isEnding: row.closes), to: request,
      of: try Route("/orders/", upstream: "https://api.example/v1/"),
      callers: CallerCheck(names: nil, rules: CallerRules(origins: row.reader.isEmpty ? [] : [row.reader])),
      isTLS: false, date: date, pseudonym: Pseudonym(named: "bearer-proxy"), into: &output)
    let written = output.text
    #expect(written == row.expected.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n")
  }

  @Test func `a field passes that concerns its own document or path`() throws {
    let fields = [
      "Speculation-Rules: \"/rules.json\"", "No-Vary-Search: params=(\"a\")",
      "Supports-Loading-Mode: credentialed-prerender", "Refresh: 5; url=/v1/7",
      "Link: </v1/d>; rel=compression-dictionary",
    ]
    let written = try brief(["103 Early Hints"] + fields, .kept)
    for field in fields { #expect(written.contains("\r\n\(field)\r\n")) }
  }

  /// The rules of a listener and a route, the caller's fields, and the answer's `Vary`.
  struct Variant: Sendable, CustomTestStringConvertible {
    var name: String
    var rules = CallerRules()
    var choice: String?
    var existing = RouteTokenRules.CallerAuthorization.replace
    var sent = ""
    var answered = ""
    var vary: [String]
    var testDescription: String { name }
  }

  private static func variants() throws -> [Variant] {
    var secret = CallerRules()
    secret.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
    var bearer = CallerRules()
    bearer.bearer = CallerRules.Bearer(authority: try Authority("https://id.example/realms/demo"), audiences: ["a"])
    let site = "Sec-Fetch-Site: same-origin\r\n"
    return [
      Variant(name: "nothing", vary: []), Variant(name: "a choice", choice: "X-Account", vary: ["X-Account"]),
      Variant(name: "kept", existing: .keep, vary: ["Authorization"]),
      Variant(name: "rejected", existing: .reject, vary: []),
      Variant(name: "a secret", rules: secret, vary: ["X-Key"]),
      Variant(name: "both", rules: secret, choice: "X-Account", vary: ["X-Account", "X-Key"]),
      Variant(name: "a token", rules: bearer, vary: ["Authorization"]),
      Variant(name: "other sites", rules: CallerRules(origins: ["https://app.example"]), vary: ["Origin"]),
      Variant(name: "a browser", sent: site, vary: ["Sec-Fetch-Site"]),
      Variant(name: "anyone", rules: CallerRules(isOpen: true), sent: site, vary: []),
      // An answer that has come this way before does not grow each time.
      Variant(
        name: "both, said before", rules: secret, choice: "X-Account",
        answered: "Vary: Accept\r\nVary: x-account\r\nVary: X-Key\r\n", vary: ["Accept", "x-account", "X-Key"]),
      Variant(
        name: "one of two, said before", rules: secret, choice: "X-Account",
        answered: "Vary: X-Account-2 , X-Account\r\n", vary: ["X-Account-2 , X-Account", "X-Key"]),
      Variant(
        name: "a browser, said before", sent: site, answered: "Vary: Sec-Fetch-Site\r\n", vary: ["Sec-Fetch-Site"]),
    ]
  }

  @Test(arguments: try variants())
  func `an answer varies by the fields that decided who may call and which token goes out`(row: Variant) throws {
    let request = try RequestContext("GET / HTTP/1.1\r\nHost: a\r\n\(row.sent)\r\n")
    let attempt = try UpstreamAttempt("HTTP/1.1 200 OK\r\n\(row.answered)Content-Length: 0\r\n\r\n")
    let route = try Route(
      "/", upstream: "https://api.example/", bearerSlot: 0,
      choice: row.choice.map { TokenChoice(field: $0, values: [("bob", 1)]) },
      token: RouteTokenRules(existing: row.existing))
    var output = ByteBuffer(capacity: 16)
    ResponseRewriting.write(
      attempt, ResponsePlan(framing: .fixed(0), version: .http11, isEnding: false), to: request, of: route,
      callers: CallerCheck(names: nil, rules: row.rules), isTLS: false, date: ByteBuffer(capacity: 1),
      pseudonym: Pseudonym(named: "bearer-proxy"), into: &output)
    let lines = output.text.split(separator: "\r\n").filter { $0.hasPrefix("Vary: ") }
    #expect(lines == row.vary.map { "Vary: \($0)" })
  }

  @Test func `an interim response is passed on without lengths and connection fields`() throws {
    let written = try brief(
      ["103 Early Hints", "Link: </a>", "Connection: x", "X: 1", "Content-Length: 3"], .kept)
    #expect(written == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
  }

  @Test func `neither an interim response nor a switch of protocols speaks for the origin`() throws {
    let lines = Self.claims + ["Set-Cookie: a=1; Path=/", "Set-Cookie: bearer-sign-in-8080=x", "X: 1"]
    #expect(
      try brief(["103 Early Hints"] + lines, .kept)
        == "HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=1; Path=/orders\r\nX: 1\r\n\r\n")
    #expect(
      try brief(["101 Switching Protocols"] + lines, .webSocket)
        == "HTTP/1.1 101 Switching Protocols\r\nSet-Cookie: a=1; Path=/orders\r\nX: 1\r\n"
        + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
  }

  private func brief(_ lines: [String], _ notice: ConnectionNotice) throws -> String {
    let attempt = try UpstreamAttempt("HTTP/1.1 " + lines.joined(separator: "\r\n") + "\r\n\r\n")
    var output = ByteBuffer(capacity: 16)
    ResponseRewriting.writeBrief(
      attempt.head, attempt.input.bytes, notice, route: try Route("/orders/", upstream: "https://api.example/v1/"),
      credential: .none, into: &output)
    return output.text
  }
}
